package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/par"
)

// bothBF16 runs f at level generic and, where there are tiles, at level avx512 with one thread
// and with three, and compares the results.
func bothBF16(t *testing.T, f func() []float32) {
	t.Helper()
	at := func(l Level, threads int) []float32 {
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		defer restore()
		defer par.SetThreads(par.Threads())
		par.SetThreads(threads)
		return f()
	}
	want := at(Generic, 2)
	if !hasTilesBF16 {
		t.Log("no tiles: plain Go alone")
		return
	}
	for _, threads := range []int{1, 3} {
		for i, v := range at(AVX512, threads) {
			if math.Float32bits(v) != math.Float32bits(want[i]) {
				t.Fatalf("%d threads, number %d: %v in tiles, %v in plain Go", threads, i, v, want[i])
			}
		}
	}
}

func normal(r *rand.Rand, n int, size float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(size * r.NormFloat64())
	}
	return x
}

func asFloat(x []uint16) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = bf16Value(v)
	}
	return y
}

// toBF16 is x rounded to bfloat16, by way of decimal exponents: 8 bits of significand.
func toBF16(x float32) float64 {
	f, e := math.Frexp(float64(x))
	return math.Ldexp(math.RoundToEven(f*256)/256, e)
}

func TestRoundBF16(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := append(normal(r, 1003, 3), 0, 1, 1+1./256, 1+3./256, 1+1./256+1e-7, float32(math.Inf(1)), 3.3e38)
	bothBF16(t, func() []float32 {
		y := make([]uint16, len(x))
		RoundBF16(1, len(x), x, len(x), y, len(x))
		for i, v := range x {
			want := toBF16(v)
			if got := float64(bf16Value(y[i])); got != want {
				t.Fatalf("%v is rounded to %v, want %v", v, got, want)
			}
		}
		on, z := make([]uint16, len(x)), make([]uint16, len(x))
		for i := range on {
			on[i] = uint16(i % 2)
		}
		MaskBF16(1, len(x), x, len(x), on, z, len(x))
		for i := range z {
			if want := y[i] * on[i]; z[i] != want {
				t.Fatalf("number %d with mask %d: %x, want %x", i, on[i], z[i], want)
			}
		}
		return asFloat(y)
	})
	nan := []float32{math.Float32frombits(0x7f800001), math.Float32frombits(0xffffffff)}
	bothBF16(t, func() []float32 {
		y := make([]uint16, 2)
		Current().roundBF16(nan, y)
		for i, v := range y {
			if v&0x7fff <= 0x7f80 {
				t.Fatalf("NaN %d became %x", i, v)
			}
		}
		return []float32{float32(y[0]), float32(y[1])}
	})
}

func TestDenseBF16(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][3]int{{1, 1, 1}, {40, 33, 17}, {200, 300, 34}, {33, 544, 40}} {
		m, k, n := size[0], size[1], size[2]
		x, w := normal(r, m*k, 1), normal(r, k*n, 1)
		transposed := make([]float32, k*n)
		for i := range k {
			for j := range n {
				transposed[j*k+i] = w[i*n+j]
			}
		}
		for _, trans := range []bool{false, true} {
			t.Run(fmt.Sprint(size, trans), func(t *testing.T) {
				bothBF16(t, func() []float32 {
					d, err := NewDenseBF16(k, n)
					if err != nil {
						t.Fatal(err)
					}
					if trans {
						d.Pack(true, transposed, k)
					} else {
						d.Pack(false, w, n)
					}
					a, c := alignedBF16(roundUp(m, 32)*d.Width()), make([]float32, roundUp(m, 32)*d.Columns())
					RoundBF16(m, k, x, k, a, d.Width())
					d.Multiply(m, a, c)
					var out []float32
					for i := range m {
						for j := range n {
							sum, size := 0.0, 0.0
							for p := range k {
								v := toBF16(x[i*k+p]) * toBF16(w[p*n+j])
								sum, size = sum+v, size+math.Abs(v)
							}
							if got := float64(c[i*d.Columns()+j]); math.Abs(got-sum) > 1e-6*size {
								t.Fatalf("element (%d, %d) is %v, want %v", i, j, got, sum)
							}
						}
						out = append(out, c[i*d.Columns():][:n]...)
					}
					return out
				})
			})
		}
	}
}

// TestMapsBF16 compares features and input gradients with plain loops in float64 over the
// same rounded numbers, stage by stage.
func TestMapsBF16(t *testing.T) {
	chains := map[string][]PooledConv{
		"c2f2":  {pooledConv(28, 28, 1, 32, 5, 2, true), pooledConv(14, 14, 32, 64, 5, 2, true)},
		"lenet": {pooledConv(28, 28, 1, 20, 5, 0, false), pooledConv(12, 12, 20, 50, 5, 0, false)},
		"color": {pooledConv(37, 45, 3, 8, 3, 1, true), pooledConv(18, 22, 8, 40, 3, 0, true), pooledConv(8, 10, 40, 16, 1, 0, false)},
	}
	for name, convs := range chains {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			const n = 1
			x := normal(r, n*convs[0].H*convs[0].W*convs[0].C, 1)
			for i := range x {
				x[i] = float32(math.Abs(float64(x[i])))
			}
			var weights, biases [][]float32
			for _, c := range convs {
				weights = append(weights, normal(r, c.KH*c.KW*c.C*c.OutC, 1/math.Sqrt(float64(c.KH*c.KW*c.C))))
				biases = append(biases, normal(r, c.OutC, 0.1))
			}
			first := true
			bothBF16(t, func() []float32 {
				m, err := NewMapsBF16(convs)
				if err != nil {
					t.Fatal(err)
				}
				for i := range convs {
					m.Pack(i, weights[i], biases[i])
				}
				h, w, c := m.Features()
				size := h * w * c
				y, dx := make([]uint16, n*size), make([]float32, len(x))
				m.Forward(n, x, y, size)
				dy := normal(rand.New(rand.NewPCG(7, 8)), n*size, 1)
				m.Backward(dy, size, dx)
				if first {
					first = false
					compareMaps(t, convs, weights, biases, x, asFloat(y), dy, dx, c)
				}
				return append(asFloat(y), dx...)
			})
		})
	}
}

func pooledConv(h, w, c, o, k, pad int, relu bool) PooledConv {
	return PooledConv{Conv{H: h, W: w, C: c, OutC: o, KH: k, KW: k, StrideH: 1, StrideW: 1, PadH: pad, PadW: pad}, relu}
}

// compareMaps compares features y and gradients dx of the first image, c channels a pixel
// of the features.
func compareMaps(t *testing.T, convs []PooledConv, weights, biases [][]float32, x, y, dy, dx []float32, c int) {
	in := make([]float64, convs[0].H*convs[0].W*convs[0].C)
	for i := range in {
		in[i] = toBF16(x[i])
	}
	type windows struct{ at []int }
	var wins []windows
	for i, g := range convs {
		oh, ow := g.Out()
		out := make([]float64, oh*ow*g.OutC)
		eachTap(g.Conv, func(from, to, tap int) { out[to] += in[from] * toBF16(weights[i][tap]) })
		in = make([]float64, oh/2*(ow/2)*g.OutC)
		won := windows{make([]int, len(in))}
		for p := range in {
			o, px, py := p%g.OutC, p/g.OutC%(ow/2), p/g.OutC/(ow/2)
			most := math.Inf(-1)
			for q := range 4 {
				if at := ((2*py+q/2)*ow+2*px+q%2)*g.OutC + o; out[at] > most {
					most, won.at[p] = out[at], at
				}
			}
			if most += float64(biases[i][o]); g.ReLU && most <= 0 {
				most, won.at[p] = 0, -1
			}
			in[p] = toBF16(float32(most))
		}
		wins = append(wins, won)
	}
	last := convs[len(convs)-1]
	close := func(what string, got, want []float64, near float64) {
		t.Helper()
		sum, off := 0.0, 0.0
		for i, v := range want {
			sum += v * v
			off += (got[i] - v) * (got[i] - v)
		}
		if e := math.Sqrt(off / sum); !(e < near) {
			t.Errorf("%s: relative error %v", what, e)
		}
	}
	got, grad := make([]float64, len(in)), make([]float64, len(in))
	for p := range in {
		at := p/last.OutC*c + p%last.OutC
		got[p], grad[p] = float64(y[at]), toBF16(dy[at])
	}
	// A sum that lies between two numbers of bfloat16 may be rounded to either.
	close("features", got, in, 1e-3)
	for i := len(convs) - 1; i >= 0; i-- {
		g := convs[i]
		oh, ow := g.Out()
		out := make([]float64, oh*ow*g.OutC)
		for p, at := range wins[i].at {
			if at >= 0 {
				out[at] = toBF16(float32(grad[p]))
			}
		}
		grad = make([]float64, g.H*g.W*g.C)
		eachTap(g.Conv, func(from, to, tap int) { grad[from] += out[to] * toBF16(weights[i][tap]) })
	}
	got = nil
	for _, v := range dx[:len(grad)] {
		got = append(got, float64(v))
	}
	// Where two numbers of a window are almost equal, either may win.
	close("input gradient", got, grad, 0.05)
}

// eachTap calls f with the places of every input, output and weight that meet.
func eachTap(g Conv, f func(from, to, tap int)) {
	oh, ow := g.Out()
	for oy := range oh {
		for ox := range ow {
			for ky := range g.KH {
				for kx := range g.KW {
					iy, ix := oy+ky-g.PadH, ox+kx-g.PadW
					if iy < 0 || iy >= g.H || ix < 0 || ix >= g.W {
						continue
					}
					for c := range g.C {
						for o := range g.OutC {
							f((iy*g.W+ix)*g.C+c, (oy*ow+ox)*g.OutC+o, ((ky*g.KW+kx)*g.C+c)*g.OutC+o)
						}
					}
				}
			}
		}
	}
}

// TestBF16Refuses: shapes that the chain cannot compute are errors.
func TestBF16Refuses(t *testing.T) {
	restore, err := Force(Generic)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	strided := pooledConv(28, 28, 1, 8, 5, 2, true)
	strided.StrideH = 2
	for name, convs := range map[string][]PooledConv{
		"stride":  {strided},
		"pixel":   {pooledConv(5, 5, 1, 8, 5, 0, true)},
		"follows": {pooledConv(28, 28, 1, 8, 5, 2, true), pooledConv(14, 14, 9, 8, 5, 2, true)},
	} {
		if _, err := NewMapsBF16(convs); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if slices.Contains(available, AVX2) {
		back, err := Force(AVX2)
		if err != nil {
			t.Fatal(err)
		}
		defer back()
		if err := CheckBF16(); err == nil {
			t.Error("level avx2 has products of bfloat16")
		}
	}
}
