package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The parts of a number add up to it, exactly, wherever none is below the normal numbers.
func TestPartsOf(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	value := func(x uint16) float64 { return float64(math.Float32frombits(uint32(x) << 16)) }
	for range 100_000 {
		x := math.Float32frombits(r.Uint32())
		size := math.Abs(float64(x))
		if !(size >= 0x1p-102 && size < 0x1p128*(1-0x1p-9)) && x != 0 {
			continue
		}
		p := partsOf(x)
		if value(p[0])+value(p[1])+value(p[2]) != float64(x) {
			t.Fatalf("%x has parts %x, %x, %x", x, value(p[0]), value(p[1]), value(p[2]))
		}
		if !(math.Abs(value(p[1])) <= 0x1p-8*size && math.Abs(value(p[2])) <= 0x1p-17*size) {
			t.Fatalf("%x has parts %x, %x, %x", x, value(p[0]), value(p[1]), value(p[2]))
		}
	}
	for _, x := range []float32{float32(math.NaN()), math.Float32frombits(0x7f800001), math.Float32frombits(0xffffffff), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32} {
		p := partsOf(x)
		if sum := value(p[0]) + value(p[1]) + value(p[2]); sum == sum {
			t.Errorf("the parts of %v add up to %v", x, sum)
		}
	}
}

// splitCase returns operands of a product, B with rows of zeros to whole steps, and both cut.
func splitCase(t *testing.T, r *rand.Rand, m, n, k int, draw func() float32) (a, b, cutA, cutB []float32) {
	fill := func(n int) []float32 {
		x := fenced(t, n)
		for i := range x {
			x[i] = draw()
		}
		return x
	}
	steps := ceilDiv(k, splitBlock)
	a, b = fill(m*k), fill(steps*splitBlock*n)
	clear(b[k*n:])
	cutA, cutB = make([]float32, ceilDiv(m, splitBlock)*steps*splitStep), make([]float32, ceilDiv(n, splitBlock)*steps*splitStep)
	for i := 0; i < m; i += splitBlock {
		splitRows(min(splitBlock, m-i), k, a[i*k:], k, cutA[i/splitBlock*steps*splitStep:])
	}
	for j := 0; j < n; j += splitBlock {
		splitColumns(steps, min(splitBlock, n-j), b[j:], n, cutB[j/splitBlock*steps*splitStep:])
	}
	return a, b, cutA, cutB
}

var splitDraws = map[string]func(r *rand.Rand) func() float32{
	"normal": func(r *rand.Rand) func() float32 { return func() float32 { return float32(r.NormFloat64()) } },
	"wide": func(r *rand.Rand) func() float32 {
		return func() float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(120)-60)) }
	},
	"any": func(r *rand.Rand) func() float32 { return func() float32 { return math.Float32frombits(r.Uint32()) } },
}

// Assembly and plain Go cut alike and multiply alike.
func TestSplitAssembly(t *testing.T) {
	if !hasTilesBF16 {
		t.Skip("no tiles of bfloat16 here")
	}
	for name, draw := range splitDraws {
		r := rand.New(rand.NewPCG(24, 2))
		for trial, s := range [][3]int{{32, 32, 32}, {1, 1, 1}, {33, 65, 40}, {70, 20, 96}, {64, 64, 129}, {31, 100, 16}} {
			m, n, k := s[0], s[1], s[2]
			a, b, cutA, cutB := splitCase(t, r, m, n, k, draw(r))
			steps := ceilDiv(k, splitBlock)
			check := func(what string, got, want []float32) {
				t.Helper()
				for i := range got {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
						t.Fatalf("%s %v: %s differs at %d: %x and %x", name, s, what, i, math.Float32bits(got[i]), math.Float32bits(want[i]))
					}
				}
			}
			plain := make([]float32, len(cutA))
			for i := 0; i < m; i += splitBlock {
				splitRowsGeneric(min(splitBlock, m-i), k, a[i*k:], k, plain[i/splitBlock*steps*splitStep:])
			}
			check("A", cutA, plain)
			plain = make([]float32, len(cutB))
			for j := 0; j < n; j += splitBlock {
				splitColumnsGeneric(steps, min(splitBlock, n-j), b[j:], n, plain[j/splitBlock*steps*splitStep:])
			}
			check("B", cutB, plain)
			args := splitArgs{steps: steps, rows: m, cols: n, ldc: n + trial%3, alpha: 1}
			if trial%2 == 1 {
				args.alpha, args.beta, args.relu = -0.75, float32(trial)-2, trial > 2
			}
			bias := make([]float32, n)
			for i := range bias {
				bias[i] = draw(r)()
			}
			if trial > 1 {
				args.bias = &bias[0]
			}
			c := fenced(t, (m-1)*args.ldc+n)
			for i := range c {
				c[i] = draw(r)()
			}
			want, block := slices.Clone(c), make([]float32, 1024)
			multiplySplit(&args, cutA, cutB, nil, c, block)
			args.c = &want[0]
			tilesSplitGeneric(&args)
			check("C", c, want)
		}
	}
}

// The error of a product of numbers that are not tiny is within that of k float32 roundings.
func TestSplitError(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 3))
	for _, k := range []int{32, 33, 100, 384} {
		const m, n = 32, 32
		a, b, cutA, cutB := splitCase(t, r, m, n, k, func() float32 { return float32(r.NormFloat64()) })
		c := make([]float32, m*n)
		args := splitArgs{steps: ceilDiv(k, splitBlock), rows: m, cols: n, ldc: n, alpha: 1}
		multiplySplit(&args, cutA, cutB, nil, c, make([]float32, 1024))
		worst := 0.0
		for i := range m {
			for j := range n {
				var sum, size float64
				for p := range k {
					v := float64(a[i*k+p]) * float64(b[p*n+j])
					sum, size = sum+v, size+math.Abs(v)
				}
				worst = max(worst, math.Abs(float64(c[i*n+j])-sum)/size*0x1p24)
			}
		}
		t.Logf("k %d: %.2f units", k, worst)
		if !(worst <= 4+math.Sqrt(float64(k))/4) {
			t.Errorf("k %d: error %v of 2^-24 of the sum of magnitudes", k, worst)
		}
	}
}

// A sum in shares has the bits of the whole one, with sums in C and elsewhere.
func TestSplitShares(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 4))
	const m, n, steps = 64, 96, 5
	_, _, cutA, cutB := splitCase(t, r, m, n, steps*splitBlock, splitDraws["wide"](r))
	block := make([]float32, 1024)
	want := random(5, m*n)
	args := splitArgs{steps: steps, rows: m, cols: n, ldc: n, alpha: 0.5, beta: 2}
	c := slices.Clone(want)
	multiplySplit(&args, cutA, cutB, nil, want, block)
	sums := random(6, m*(n+16))
	for from := 0; from < steps; from += 2 {
		share := args
		share.steps, share.lds = min(2, steps-from), n+16
		share.load, share.store = from > 0, from+2 < steps
		part := func(cut []float32) (out []float32) {
			for i := 0; i < len(cut); i += steps * splitStep {
				out = append(out, cut[i+from*splitStep:i+(from+share.steps)*splitStep]...)
			}
			return out
		}
		multiplySplit(&share, part(cutA), part(cutB), sums, c, block)
	}
	if !slices.Equal(c, want) {
		t.Error("sums in shares differ")
	}
}

// A whole product in tiles is the twin's, however it is blocked; a packed B changes nothing.
func TestGemmInTiles(t *testing.T) {
	if !hasTilesBF16 {
		t.Skip("no tiles of bfloat16 here")
	}
	defer func(was splitBlocking) { splitBlocks = was }(splitBlocks)
	restore, err := Force(AMX)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	r := rand.New(rand.NewPCG(24, 5))
	for _, s := range [][3]int{{64, 96, 200}, {33, 70, 130}, {5, 40, 64}, {96, 31, 420}} {
		m, n, k := s[0], s[1], s[2]
		a, b, cutA, cutB := splitCase(t, r, m, n, k, splitDraws["normal"](r))
		for _, beta := range []float32{0, -0.5} {
			args := splitArgs{steps: ceilDiv(k, splitBlock), rows: m, cols: n, ldc: n, alpha: 1.5, beta: beta}
			old := random(7, m*n)
			want := slices.Clone(old)
			args.a, args.b, args.c = &cutA[0], &cutB[0], &want[0]
			tilesSplitGeneric(&args)
			for _, blocking := range []splitBlocking{splitBlocks, {64, 64 * 32}, {128, 1}, {1 << 20, 1 << 20}} {
				splitBlocks = blocking
				c := slices.Clone(old)
				Gemm(false, false, m, n, k, 1.5, a, k, b, n, beta, c, n)
				if !slices.Equal(c, want) {
					t.Fatalf("%v, beta %v, %+v: differs from plain Go", s, beta, blocking)
				}
				c = slices.Clone(old)
				Pack(false, k, n, b, n).Gemm(m, 1.5, a, k, beta, c, n)
				if !slices.Equal(c, want) {
					t.Fatalf("%v, beta %v, %+v: packed, differs from plain Go", s, beta, blocking)
				}
			}
		}
	}
}

// The bits of products at level AMX may differ from AVX512's only from leastSplitK on.
func TestShortSumsAreNotInTiles(t *testing.T) {
	if !hasTilesBF16 {
		t.Skip("no tiles of bfloat16 here")
	}
	for _, k := range []int{leastSplitK - 1, leastSplitK} {
		a, b := random(1, 40*k), random(2, k*50)
		c := map[Level][]float32{}
		for _, l := range []Level{AVX512, AMX} {
			restore, err := Force(l)
			if err != nil {
				t.Fatal(err)
			}
			c[l] = make([]float32, 40*50)
			Gemm(false, false, 40, 50, k, 1, a, k, b, 50, 0, c[l], 50)
			restore()
		}
		if equal := slices.Equal(c[AVX512], c[AMX]); equal != (k < leastSplitK) {
			t.Errorf("k %d: the same bits: %t", k, equal)
		}
	}
}
