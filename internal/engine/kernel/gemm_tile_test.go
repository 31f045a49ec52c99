package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// tileCase is one tile with its operands, C's rows being pad numbers longer
// than the tile.
type tileCase struct {
	tileArgs
	pad     int
	a, b, c []float32
	bias    []float32
}

// newTileCase draws operands that end where no further byte may be touched.
func newTileCase(t *testing.T, r *rand.Rand, args tileArgs, bias bool, pad int) tileCase {
	x := tileCase{tileArgs: args, pad: pad}
	x.ldc = args.cols + pad
	draw := func(n int) []float32 {
		s := fenced(t, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
		return s
	}
	o, p, i := args.outer-1, args.k-1, args.rows-1
	x.a = draw(o*args.nexta + i*args.rsa + p*args.csa + 1)
	x.b = draw(o*args.nextb + p*args.rsb + args.cols)
	x.c = draw(i*x.ldc + args.cols)
	if bias {
		x.bias = draw(args.cols)
		x.tileArgs.bias = &x.bias[0]
	}
	return x
}

// want returns element (i, j) and the magnitude of what it sums, in float64.
func (x *tileCase) want(i, j int) (v, size float64) {
	for o := range x.outer {
		for p := range x.k {
			m := float64(x.a[o*x.nexta+i*x.rsa+p*x.csa]) * float64(x.b[o*x.nextb+p*x.rsb+j])
			v += m
			size += math.Abs(m)
		}
	}
	v *= float64(x.alpha)
	size *= math.Abs(float64(x.alpha))
	if x.beta != 0 {
		m := float64(x.beta) * float64(x.c[i*x.ldc+j])
		v += m
		size += math.Abs(m)
	}
	if x.bias != nil {
		v += float64(x.bias[j])
		size += math.Abs(float64(x.bias[j]))
	}
	if x.relu {
		v = max(v, 0)
	}
	return v, size
}

// single computes element (i, j) as a tile of its own.
func (x *tileCase) single(l Level, i, j int) float32 {
	one := x.tileArgs
	one.rows, one.cols = 1, 1
	if x.bias != nil {
		one.bias = &x.bias[j]
	}
	c := []float32{x.c[i*x.ldc+j]}
	l.tile(&one, x.a[i*x.rsa:], x.b[j:], c)
	return c[0]
}

func (x *tileCase) verify(t *testing.T, l Level) {
	t.Helper()
	want, size, alone := make([]float64, x.rows*x.cols), make([]float64, x.rows*x.cols), make([]float32, x.rows*x.cols)
	for at := range want {
		i, j := at/x.cols, at%x.cols
		want[at], size[at] = x.want(i, j)
		alone[at] = x.single(l, i, j)
	}
	before := append([]float32(nil), x.c...)
	args := x.tileArgs
	l.tile(&args, x.a, x.b, x.c)
	for at, v := range x.c {
		i, j := at/x.ldc, at%x.ldc
		if j >= x.cols {
			if math.Float32bits(v) != math.Float32bits(before[at]) {
				t.Fatalf("%v %+v: wrote between the rows of C, at (%d, %d)", l, x.tileArgs, i, j)
			}
			continue
		}
		e := i*x.cols + j
		if !(math.Abs(float64(v)-want[e]) <= float64(x.k*x.outer+4)/(1<<24)*size[e]) {
			t.Fatalf("%v %+v at (%d, %d): got %g, want %g", l, x.tileArgs, i, j, v, want[e])
		}
		if math.Float32bits(v) != math.Float32bits(alone[e]) {
			t.Fatalf("%v %+v at (%d, %d): %g in the tile, %g alone", l, x.tileArgs, i, j, v, alone[e])
		}
	}
}

// TestTile runs every number of rows and columns of every level, with operands
// at the very end of the memory that may be touched.
func TestTile(t *testing.T) {
	for _, l := range Levels() {
		s := l.shape()
		for rows := 1; rows <= s.rows; rows++ {
			t.Run(fmt.Sprintf("%v/%d", l, rows), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(rows), 5))
				for cols := 1; cols <= s.wide; cols++ {
					for variant := range 4 {
						k, outer := 1+r.IntN(7), 1+r.IntN(3)
						args := tileArgs{
							rows: rows, k: k, outer: outer, cols: cols,
							rsa: k + r.IntN(3), csa: 1, rsb: cols + r.IntN(3),
							alpha: 1, beta: float32(variant / 2), relu: variant%2 == 1,
						}
						args.nexta, args.nextb = args.rsa*rows+r.IntN(5), args.rsb*k+r.IntN(5)
						if variant == 3 {
							// As a convolution reads an image: rows and steps overlap.
							args.rsa, args.csa, args.nexta = 2, 1, 3
							args.alpha, args.beta = -0.75, 0.3
						}
						if variant == 1 { // transposed
							args.rsa, args.csa = 1, rows+r.IntN(3)
							args.nexta = args.csa * k
							args.beta = float32(math.Copysign(0, -1))
						}
						x := newTileCase(t, r, args, variant >= 1, variant)
						x.verify(t, l)
					}
				}
			})
		}
	}
}

// Tiles that one call computes have the bits of those that have a call each: below each other,
// of one panel, and side by side, of one strip.
func TestTilesOfOneCall(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 5))
	for _, l := range Levels() {
		s := l.shape()
		for rows := 1; rows <= s.rows; rows++ {
			for _, cols := range []int{1, s.narrow, s.wide - 1, s.wide} {
				for tiles := 1; tiles <= 3; tiles++ {
					args := tileArgs{
						rows: rows, k: 1 + r.IntN(9), outer: 1 + r.IntN(2), cols: cols, tiles: tiles,
						csa: 1, alpha: 1.5, beta: float32(r.IntN(2)), relu: r.IntN(2) == 1,
					}
					args.rsa, args.rsb = args.k, cols
					args.nexta, args.nextb = rows*args.rsa*tiles, args.k*cols
					biased := r.IntN(2) == 1
					for _, down := range []bool{true, false} {
						x := args
						x.stepb, x.stepc = x.outer*x.nextb, cols
						if down {
							x.stepa, x.stepb, x.stepc = rows*x.rsa, 0, rows*cols
						} else if biased {
							x.stepbias = cols
						}
						sameTiles(t, l, r, x, biased, down)
					}
				}
			}
		}
	}
}

func sameTiles(t *testing.T, l Level, r *rand.Rand, args tileArgs, biased, down bool) {
	t.Helper()
	args.ldc = args.cols
	if !down {
		args.ldc *= args.tiles
	}
	draw := func(n int) []float32 {
		s := fenced(t, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
		return s
	}
	n := args.tiles - 1
	a := draw(n*args.stepa + (args.outer-1)*args.nexta + (args.rows-1)*args.rsa + args.k)
	b := draw(n*args.stepb + (args.outer-1)*args.nextb + (args.k-1)*args.rsb + args.cols)
	c := draw(n*args.stepc + (args.rows-1)*args.ldc + args.cols)
	bias := draw(n*args.stepbias + args.cols)
	if biased {
		args.bias = &bias[0]
	}
	want := append([]float32(nil), c...)
	for i := range args.tiles {
		one := args
		one.tiles = 1
		if biased {
			one.bias = &bias[i*args.stepbias]
		}
		l.tile(&one, a[i*args.stepa:], b[i*args.stepb:], want[i*args.stepc:])
	}
	before := args
	l.tile(&args, a, b, c)
	before.a, before.b, before.c = args.a, args.b, args.c
	if args != before {
		t.Errorf("%v: the arguments changed from %+v to %+v", l, before, args)
	}
	for i := range c {
		if math.Float32bits(c[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%v %+v: element %d is %g, alone %g", l, args, i, c[i], want[i])
		}
	}
}

// A column of tiles is every row once, for any number of rows.
func TestTileColumn(t *testing.T) {
	for _, l := range Levels() {
		s := l.shape()
		for rows := range 3*s.rows + 2 {
			const k = 3
			cols := s.wide
			a, b, c := random(1, rows*k), random(2, k*cols), make([]float32, rows*cols)
			args := tileArgs{k: k, outer: 1, cols: cols, rsa: k, csa: 1, rsb: cols, ldc: cols, alpha: 1, beta: 1}
			l.tileColumn(&args, rows, a, b, c)
			for i := range rows {
				x := tileCase{tileArgs: args, a: a[i*k:], b: b, c: make([]float32, cols)}
				for j := range cols {
					if got, want := c[i*cols+j], x.single(l, 0, j); math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%v, %d rows: element (%d, %d) is %g, alone %g", l, rows, i, j, got, want)
					}
				}
			}
		}
	}
}

func TestTileNonFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	negative := float32(math.Copysign(0, -1))
	for _, l := range Levels() {
		s := l.shape()
		for _, cols := range []int{1, s.narrow, s.wide - 1, s.wide} {
			for _, in := range []float32{nan, inf, -inf, negative, 0, -3, 2} {
				for _, biased := range []bool{false, true} {
					a, b, c := []float32{in}, make([]float32, cols), make([]float32, cols)
					for j := range b {
						b[j], c[j] = 1, nan
					}
					want := in
					if in <= 0 {
						want = 0
					}
					args := tileArgs{rows: 1, k: 1, outer: 1, cols: cols, rsa: 1, csa: 1, rsb: cols, ldc: cols, alpha: 1, relu: true}
					if biased { // the bias spoils what is finite
						bias := make([]float32, cols)
						for j := range bias {
							bias[j] = nan
						}
						args.bias, want = &bias[0], nan
					}
					l.tile(&args, a, b, c)
					for j, v := range c {
						if math.Float32bits(v) != math.Float32bits(want) && (v == v || want == want) {
							t.Fatalf("%v, %d columns: max(%g, 0) is %g at %d", l, cols, in, v, j)
						}
					}
				}
			}
		}
	}
}

func TestTilePanicsOutsideItsSlices(t *testing.T) {
	good := tileArgs{rows: 2, k: 2, outer: 2, cols: 3, rsa: 2, csa: 1, nexta: 4, rsb: 3, nextb: 6, ldc: 3, alpha: 1}
	a, b, c := make([]float32, 8), make([]float32, 12), make([]float32, 6)
	bad := func(change func(*tileArgs)) tileArgs { x := good; change(&x); return x }
	for name, f := range map[string]func(){
		"a":       func() { x := good; Current().tile(&x, a[:7], b, c) },
		"b":       func() { x := good; Current().tile(&x, a, b[:11], c) },
		"c":       func() { x := good; Current().tile(&x, a, b, c[:5]) },
		"no k":    func() { x := bad(func(x *tileArgs) { x.k = 0 }); Current().tile(&x, a, b, c) },
		"no cols": func() { x := bad(func(x *tileArgs) { x.cols = 0 }); Current().tile(&x, a, b, c) },
		"tiles": func() {
			x := bad(func(x *tileArgs) { x.tiles, x.stepc = 2, 1 })
			Current().tile(&x, a, b, c)
		},
		"negative": func() { x := bad(func(x *tileArgs) { x.rsa = -1 }); Current().tile(&x, a, b, c) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	Current().tile(&good, a, b, c)
}
