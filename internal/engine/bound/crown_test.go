package bound

import (
	"errors"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// backwards are networks that Crown bounds.
var backwards = map[string]nn.Spec{
	"linear": models["linear"], "mlp": models["mlp"], "c2f2": models["c2f2"], "cnn pad": models["cnn pad"], "small": chains["small"],
}

// crownOf bounds n random functions of the features of each image, by both slopes.
func crownOf(t *testing.T, m *nn.Model, x *array.Array, eps float64, n int) (a *array.Array, low [][2][]float64, net *Net) {
	t.Helper()
	net, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCrown(net)
	if err != nil {
		t.Fatal(err)
	}
	h := net.Features(x, same32(eps, x.Rows()))
	a = array.New(n, h.C.Cols())
	r := rng.New(8, "crown")
	for i := range a.Data {
		a.Data[i] = 2*r.Float32() - 1
	}
	for i := range x.Rows() {
		c.At(i)
		var both [2][]float64
		for s := range both {
			both[s] = append(both[s], c.Lower(i, a, Slope(s))...)
		}
		low = append(low, both)
	}
	return a, low, net
}

// No image within the ball has a lower value, computed in float64 without intervals, and
// at eps 0 the bound is that value.
func TestNothingIsBelowCrown(t *testing.T) {
	t.Parallel()
	for name, s := range backwards {
		m := build(t, s)
		x := pictures(m, 2)
		for _, eps := range []float64{0, 0.01, 0.3} {
			a, low, _ := crownOf(t, m, x, eps, 3)
			r := rng.New(9, name)
			for draw := range 6 {
				y := x.Clone()
				for i := range y.Data {
					step := float64(2*r.Float64()-1) * eps
					if draw%2 == 0 {
						step = math.Copysign(0.9999*eps, step)
					}
					y.Data[i] = float32(min(1, max(0, float64(x.Data[i])+step)))
				}
				for i := range 2 {
					h := plainFeatures(t, m, y.Row(i), 0)
					for j := range 3 {
						value, size := 0.0, 0.0
						for k, v := range h {
							value += float64(a.Row(j)[k]) * v.lo
							size += math.Abs(float64(a.Row(j)[k]) * v.lo)
						}
						for slope, of := range low[i] {
							if of[j] > value {
								t.Fatalf("%s, eps %v, slope %d: the bound %v is above %v", name, eps, slope, of[j], value)
							}
							if eps == 0 && of[j] < value-1e-2*(1+size) {
								t.Fatalf("%s: at eps 0 the bound is %v, the value %v", name, of[j], value)
							}
						}
					}
				}
			}
		}
	}
}

// Where layers are linear the bound is exact, and elsewhere it is higher than that of
// intervals for nearly all functions.
func TestCrownAgainstIntervals(t *testing.T) {
	t.Parallel()
	const eps, n = 0.02, 12
	for name, s := range backwards {
		m := build(t, s)
		x := pictures(m, 2)
		a, low, _ := crownOf(t, m, x, eps, n)
		higher := 0
		for i := range 2 {
			h := plainFeatures(t, m, x.Row(i), eps)
			for j := range n {
				intervals := 0.0
				for k, v := range h {
					w := float64(a.Row(j)[k])
					intervals += min(w*v.lo, w*v.hi)
				}
				best := max(low[i][0][j], low[i][1][j])
				if best > intervals {
					higher++
				}
				if name == "linear" && math.Abs(best-intervals) > 1e-5 {
					t.Fatalf("linear: %v, want exactly %v", best, intervals)
				}
			}
		}
		if name != "linear" && higher < 2*n-2 {
			t.Errorf("%s: only %d of %d bounds are higher than those of intervals", name, higher, 2*n)
		}
	}
}

// The bounds of a small network are those of plain loops that follow the definition.
func TestCrownAgainstPlainFloat64(t *testing.T) {
	t.Parallel()
	m := build(t, nn.Spec{Name: "mlp", Height: 2, Width: 3, Channels: 1, Units: 7, Embedding: 3})
	x := pictures(m, 1)
	const eps = 0.15
	a, low, _ := crownOf(t, m, x, eps, 5)
	params := map[string][]float32{}
	for _, p := range m.Params() {
		params[p.Name] = p.Value.Data
	}
	values := plainValues(t, m, x.Row(0), eps) // flatten fc1 relu fc2 relu fc3
	for s := range 2 {
		for j := range 5 {
			bound := 0.0
			c := make([]float64, 7)
			for k := range c {
				c[k] = float64(a.Row(j)[k])
			}
			for _, l := range []struct {
				before string
				at     int
			}{{"fc2", 3}, {"fc1", 1}} {
				for k, v := range values[l.at] {
					switch {
					case v.lo >= 0:
					case v.hi <= 0:
						c[k] = 0
					case c[k] < 0:
						bound += c[k] * v.hi / (v.hi - v.lo) * -v.lo
						c[k] *= v.hi / (v.hi - v.lo)
					case Slope(s) == Zero || v.hi <= -v.lo:
						c[k] = 0
					}
				}
				w, bias := params[l.before+".weight"], params[l.before+".bias"]
				next := make([]float64, len(w)/7)
				for k, v := range c {
					bound += v * float64(bias[k])
					for i := range next {
						next[i] += v * float64(w[i*7+k])
					}
				}
				c = next
			}
			for i, v := range values[0] {
				bound += min(c[i]*v.lo, c[i]*v.hi)
			}
			if got := low[0][s][j]; math.Abs(got-bound) > 1e-4 {
				t.Errorf("slope %d, function %d: %v, want %v", s, j, got, bound)
			}
		}
	}
}

func TestNoCrown(t *testing.T) {
	t.Parallel()
	net, err := New(build(t, models["resnet18"]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewCrown(net); !errors.Is(err, ErrNone) {
		t.Errorf("a residual network: %v", err)
	}
}
