//go:build native && linux && (amd64 || arm64)

package device

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"
	"unsafe"

	"tercet/internal/rng"
)

// bench holds an opened device, and the largest error of each kernel in units of 2^-24 of the
// sum of magnitudes.
type workbench struct {
	Device
	t      *testing.T
	errors map[string]float64
	sizes  map[string]string
}

// open opens the device that TERCET_DEVICE names, opencl without it.
func open(t *testing.T) *workbench {
	t.Helper()
	name := os.Getenv("TERCET_DEVICE")
	if name == "" {
		name = OpenCL
	}
	d, err := Open(name)
	if err != nil {
		t.Fatalf("device %s: %v", name, err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &workbench{d, t, map[string]float64{}, map[string]string{}}
}

func raw[T float32 | float64 | int32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// put copies x to the device, with a guard after it.
func put[T float32 | float64 | int32](w *workbench, x []T) Buffer {
	w.t.Helper()
	b, err := w.Alloc(len(raw(x)))
	if err == nil {
		err = w.Upload(b, raw(x))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// room is n numbers that no kernel has written: NaN.
func room(w *workbench, n int) Buffer {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return put(w, x)
}

func get[T float32 | float64 | int32](w *workbench, b Buffer, n int) []T {
	w.t.Helper()
	x := make([]T, n)
	if err := w.Download(raw(x), b); err != nil {
		w.t.Fatal(err)
	}
	return x
}

func (w *workbench) each(kernel string, n int, args ...any) {
	w.t.Helper()
	grid, group := Each(n)
	w.launch(kernel, grid, group, append([]any{n}, args...)...)
}

func (w *workbench) launch(kernel string, grid, group [3]int, args ...any) {
	w.t.Helper()
	if err := w.Launch(kernel, grid, group, args...); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Sync(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workbench) product(kernel string, m, n, runs int, args ...any) {
	w.t.Helper()
	w.launch(kernel, [3]int{groupsOf(m, 64), groupsOf(n, 64), runs}, [3]int{16, 16, 1}, args...)
}

// columns runs a kernel that sums over rows, and returns its blocks.
func (w *workbench) columns(kernel string, rows, c int, args ...any) (part Buffer, blocks int) {
	w.t.Helper()
	const span = 64
	blocks = groupsOf(rows, span)
	part = put(w, make([]float64, 2*blocks*c))
	w.launch(kernel, [3]int{groupsOf(c, 64), blocks, 1}, [3]int{64, 1, 1}, append(append([]any{rows, c, span}, args...), part)...)
	return part, blocks
}

// number is a sum in float64 and the sum of its terms' magnitudes.
type number struct{ sum, magnitude float64 }

func (n *number) add(v float64) {
	n.sum += v
	n.magnitude += math.Abs(v)
}

// limit is the largest error, in units of 2^-24 of the sum of magnitudes.
const limit = 8

// same compares what a kernel wrote with the sums of float64 loops.
func (w *workbench) same(kernel, size string, got []float32, want []number) {
	w.t.Helper()
	if len(got) != len(want) {
		w.t.Fatalf("%s %s: %d numbers, want %d", kernel, size, len(got), len(want))
	}
	worst := 0.0
	for i, v := range want {
		g := float64(got[i])
		switch {
		case v.sum != v.sum:
			if g == g {
				w.t.Fatalf("%s %s: number %d is %v, want NaN", kernel, size, i, g)
			}
			continue
		case math.IsInf(v.sum, 0):
			if g != v.sum {
				w.t.Fatalf("%s %s: number %d is %v, want %v", kernel, size, i, g, v.sum)
			}
			continue
		}
		off := math.Abs(g - v.sum)
		units := 0.0
		if off > 1e-44 {
			units = off / (v.magnitude * 0x1p-24)
		}
		if !(units <= limit) {
			w.t.Fatalf("%s %s: number %d is %v, want %v: %.3g units of 2^-24 of %v", kernel, size, i, g, v.sum, units, v.magnitude)
		}
		worst = max(worst, units)
	}
	if worst >= w.errors[kernel] {
		w.errors[kernel], w.sizes[kernel] = worst, size
	}
}

// exact compares bits.
func (w *workbench) exact(kernel, size string, got, want []float32) {
	w.t.Helper()
	for i, v := range want {
		if math.Float32bits(got[i]) != math.Float32bits(v) && !(v != v && got[i] != got[i]) {
			w.t.Fatalf("%s %s: number %d is %v, want %v", kernel, size, i, got[i], v)
		}
	}
	w.errors[kernel], w.sizes[kernel] = 0, size+", the same bits"
}

// table is the conformance table.
func (w *workbench) table() string {
	var names []string
	for n := range w.errors {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n| kernel | error | at |\n| --- | ---: | --- |\n", w.Info().Setting())
	for _, n := range names {
		fmt.Fprintf(&b, "| `%s` | %.2f | %s |\n", n, w.errors[n], w.sizes[n])
	}
	return b.String()
}

// draw returns normal numbers; with odd ones, some are NaN, infinite, zeros or denormal.
func draw(n int, odd bool, name string) []float32 {
	r := rng.New(11, name, uint64(n))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	if odd {
		for i, v := range []float64{1e15, math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-45, math.NaN()} {
			x[i*n/7] = float32(v)
		}
	}
	return x
}

func shifted(x []float32, by float32) []float32 {
	for i := range x {
		x[i] += by
	}
	return x
}

func positive(v float64) float64 {
	if v < 0 {
		return 0
	}
	return v
}

func TestConformance(t *testing.T) {
	w := open(t)
	t.Log(w.Info().Setting())
	for _, c := range []struct {
		name string
		run  func(*workbench)
	}{
		{"products", products}, {"convolutions", convolutions}, {"pooling", pooling}, {"frames", frames}, {"batch norm", batchNorm},
		{"rows", rowNorms}, {"elements", elements}, {"optimizers", optimizers}, {"crafting", crafting},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			c.run(w)
		})
	}
	if len(w.errors) != kernels() && !t.Failed() {
		t.Errorf("%d kernels were tested, the source has %d", len(w.errors), kernels())
	}
	t.Log("\n" + w.table())
}

// kernels counts those of the source.
func kernels() int {
	text := string(source)
	return strings.Count(text, "\nKERNEL void ") - strings.Count(text, "\nKERNEL void NAME(") + strings.Count(text, "\nGEMM(")
}

func products(w *workbench) {
	for _, s := range [][3]int{{1, 1, 1}, {65, 130, 77}, {64, 64, 16}, {3, 200, 784}, {129, 7, 1100}} {
		m, n, k := s[0], s[1], s[2]
		for _, odd := range []bool{false, true} {
			a, b, bias, old := draw(m*k, odd, "a"), draw(k*n, false, "b"), draw(n, false, "bias"), draw(m*n, false, "old")
			if !odd {
				shifted(a, 3) // sums of one sign are the harder ones
			}
			for _, transposed := range []struct {
				name string
				a, b bool
			}{{"gemm_nn", false, false}, {"gemm_nt", false, true}, {"gemm_tn", true, false}, {"gemm_tt", true, true}} {
				for _, plain := range []bool{true, false} {
					want := make([]number, m*n)
					for i := range m {
						for j := range n {
							v := &want[i*n+j]
							for q := range k {
								x, y := a[i*k+q], b[q*n+j]
								if transposed.a {
									x = a[q*m+i]
								}
								if transposed.b {
									y = b[j*k+q]
								}
								v.add(float64(x) * float64(y))
							}
							if !plain {
								v.add(float64(bias[j]))
								v.sum = positive(v.sum)
								v.add(float64(old[i*n+j]))
							}
						}
					}
					c := put(w, old)
					if plain {
						c = room(w, m*n)
						w.product(transposed.name, m, n, 1, m, n, k, put(w, a), put(w, b), nil, 0, 0, c)
					} else {
						w.product(transposed.name, m, n, 1, m, n, k, put(w, a), put(w, b), put(w, bias), 1, 1, c)
					}
					w.same(transposed.name, fmt.Sprintf("%dx%dx%d", m, n, k), get[float32](w, c, m*n), want)
				}
			}
		}
	}
}

// shape is a convolution of n images.
type shape struct{ n, h, w, c, o, kh, kw, stride, pad int }

func (s shape) out() (int, int) {
	return (s.h+2*s.pad-s.kh)/s.stride + 1, (s.w+2*s.pad-s.kw)/s.stride + 1
}

// visit calls f for each product of the convolution: of places in x (-1 for a zero of the
// padding), the weights and y.
func (s shape) visit(f func(x, w, y int)) {
	oh, ow := s.out()
	for b := range s.n {
		for p := range oh {
			for q := range ow {
				for i := range s.kh {
					for j := range s.kw {
						h, w := p*s.stride+i-s.pad, q*s.stride+j-s.pad
						for c := range s.c {
							at := ((b*s.h+h)*s.w+w)*s.c + c
							if h < 0 || h >= s.h || w < 0 || w >= s.w {
								at = -1
							}
							for o := range s.o {
								f(at, ((i*s.kw+j)*s.c+c)*s.o+o, ((b*oh+p)*ow+q)*s.o+o)
							}
						}
					}
				}
			}
		}
	}
}

func convolutions(w *workbench) {
	for _, s := range []shape{
		{2, 7, 5, 3, 9, 3, 3, 1, 1}, {1, 9, 11, 4, 70, 5, 5, 1, 2}, {3, 8, 7, 65, 5, 1, 1, 2, 0}, {2, 13, 12, 3, 8, 7, 7, 2, 3},
		{1, 4, 4, 1, 1, 4, 4, 1, 0}, {2, 6, 9, 2, 3, 4, 4, 3, 1}, {5, 17, 15, 2, 3, 3, 3, 1, 1},
	} {
		oh, ow := s.out()
		geometry := []any{s.n, s.h, s.w, s.c, oh, ow, s.o, s.kh, s.kw, s.stride, s.pad}
		nx, nw, ny := s.n*s.h*s.w*s.c, s.kh*s.kw*s.c*s.o, s.n*oh*ow*s.o
		for _, odd := range []bool{false, true} {
			x, weights, bias, dy, old := draw(nx, odd, "x"), draw(nw, false, "w"), draw(s.o, false, "bias"), draw(ny, odd, "dy"), draw(nw, false, "old")
			size := fmt.Sprintf("%dx%dx%dx%d, %d of %dx%d/%d", s.n, s.h, s.w, s.c, s.o, s.kh, s.kw, s.stride)
			y, dx, dw := make([]number, ny), make([]number, nx), make([]number, nw)
			for i := range y {
				y[i].add(float64(bias[i%s.o]))
			}
			for i := range dw {
				dw[i].add(float64(old[i]))
			}
			s.visit(func(at, of, to int) {
				if at < 0 {
					dw[of].add(0 * float64(dy[to])) // NaN where the gradient is not finite
					return
				}
				y[to].add(float64(x[at]) * float64(weights[of]))
				dx[at].add(float64(dy[to]) * float64(weights[of]))
				dw[of].add(float64(x[at]) * float64(dy[to]))
			})
			for i := range y {
				y[i].sum = positive(y[i].sum)
			}
			bx, bw, bdy := put(w, x), put(w, weights), put(w, dy)
			to := room(w, ny)
			w.product("conv", s.n*oh*ow, s.o, 1, append(append([]any(nil), geometry...), bx, bw, put(w, bias), 1, to)...)
			w.same("conv", size, get[float32](w, to, ny), y)
			to = room(w, nx)
			w.product("conv_input", s.n*s.h*s.w, s.c, 1, append(append([]any(nil), geometry...), bdy, bw, to)...)
			w.same("conv_input", size, get[float32](w, to, nx), dx)
			const span = 40
			runs := groupsOf(s.n*oh*ow, span)
			part, to := room(w, runs*nw), put(w, old)
			w.product("conv_weights", s.kh*s.kw*s.c, s.o, runs, append(append([]any(nil), geometry...), span, bx, bdy, part)...)
			w.each("add_runs", nw, runs, part, to)
			w.same("conv_weights", size, get[float32](w, to, nw), dw)
			w.errors["add_runs"], w.sizes["add_runs"] = w.errors["conv_weights"], "with conv_weights"
		}
	}
}

// TestOutOfMemory asks for more than any device has.
func TestOutOfMemory(t *testing.T) {
	w := open(t)
	_, err := w.Alloc(1 << 46)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "70368744177664 bytes") {
		t.Fatalf("64 TiB: %v", err)
	}
	t.Log(err)
	if err := w.Launch("no_such_kernel", [3]int{1, 1, 1}, [3]int{1, 1, 1}); !errors.As(err, &e) || !strings.Contains(err.Error(), "no_such_kernel") {
		t.Fatalf("a kernel that is not there: %v", err)
	}
}
