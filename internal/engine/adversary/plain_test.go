package adversary

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
)

// plainGoal is an objective and its gradient in plain float64, at iterate t.
type plainGoal func(t int, z [][]float64) (float64, [][]float64)

// plainPGD minimizes goal by sign steps as section 2.1 of the specification says:
// float64, one image after the other.
func plainPGD(m *net, clean [][]float64, goal plainGoal, eps, alpha float64, steps int) [][]float64 {
	x := make([][]float64, len(clean))
	for i := range x {
		x[i] = append([]float64(nil), clean[i]...)
	}
	for t := range steps {
		z := make([][]float64, len(x))
		back := make([]func([]float64) []float64, len(x))
		for i := range x {
			z[i], back[i] = plainNet(m, x[i])
			for k, v := range z[i] { // as embedders give it
				z[i][k] = float64(float32(v))
			}
		}
		_, grad := goal(t, z)
		for i := range x {
			for k, g := range back[i](grad[i]) {
				if g > 0 {
					x[i][k] -= alpha
				} else if g < 0 {
					x[i][k] += alpha
				}
				x[i][k] = math.Max(math.Min(x[i][k], clean[i][k]+eps), clean[i][k]-eps)
				x[i][k] = math.Max(math.Min(x[i][k], 1), 0)
			}
		}
	}
	return x
}

func zeros(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
	}
	return out
}

func wideRows(a *array.Array) [][]float64 {
	out := make([][]float64, a.Rows())
	for i := range out {
		out[i] = wide(a.Row(i))
	}
	return out
}

// addPlain adds w times the gradient of |x - y + eps| to gx and gy, and returns the
// distance.
func addPlain(w float64, x, y []float64, eps float64, gx, gy []float64) float64 {
	d, g := plainDistance(x, y, eps)
	for k, v := range g {
		gx[k] += w * v
		gy[k] -= w * v
	}
	return d
}

// plainCollapse is mean d(p, n), rows p then n.
func plainCollapse(eps float64) plainGoal {
	return func(_ int, z [][]float64) (float64, [][]float64) {
		n := len(z) / 2
		value, grad := 0.0, zeros(2*n, len(z[0]))
		for i := range n {
			value += addPlain(1/float64(n), z[i], z[n+i], eps, grad[i], grad[n+i]) / float64(n)
		}
		return value, grad
	}
}

// plainMinMax is mean[d(a, n) - d(a, p)], rows a then p then n; with fixed anchors
// rows p then n.
func plainMinMax(eps float64, fixed [][]float64) plainGoal {
	return func(_ int, z [][]float64) (float64, [][]float64) {
		all := append(append([][]float64(nil), fixed...), z...)
		n := len(all) / 3
		value, grad := 0.0, zeros(3*n, len(z[0]))
		for i := range n {
			value += addPlain(1/float64(n), all[i], all[2*n+i], eps, grad[i], grad[2*n+i]) / float64(n)
			value -= addPlain(-1/float64(n), all[i], all[n+i], eps, grad[i], grad[n+i]) / float64(n)
		}
		return value, grad[len(fixed):]
	}
}

// someTriplets are those of a scene, a negative twice and an image that is its own positive.
func someTriplets(pairs int) *loss.Tuples {
	t := new(loss.Tuples)
	for i := range int32(pairs) {
		t.Triplets = append(t.Triplets, loss.Triplet{A: 2 * i, P: 2*i + 1, N: (2*i + 5) % int32(2*pairs)})
	}
	t.Triplets[2].N = t.Triplets[1].N
	t.Triplets[3].P = t.Triplets[3].A
	return t
}

// roleRows are the clean rows of the triplets' anchors, positives and negatives.
func roleRows(in *Batch, ts *loss.Tuples) (a, p, n [][]float64) {
	for _, t := range ts.Triplets {
		a = append(a, wide(in.Images.Row(int(t.A))))
		p = append(p, wide(in.Images.Row(int(t.P))))
		n = append(n, wide(in.Images.Row(int(t.N))))
	}
	return a, p, n
}

func matches(t *testing.T, what string, got *array.Array, want [][]float64) {
	t.Helper()
	if got.Rows() != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, got.Rows(), len(want))
	}
	for i := range want {
		for k, w := range want[i] {
			if math.Abs(float64(got.Row(i)[k])-w) > 1e-6 {
				t.Fatalf("%s: image %d pixel %d is %v, want %v", what, i, k, got.Row(i)[k], w)
			}
		}
	}
}

// differences checks grad of a goal by central differences: at returns the objective.
func differences(t *testing.T, what string, z, grad *array.Array, at func() float64) {
	t.Helper()
	for i, old := range z.Data {
		const h = 1.0 / 1024
		up, down := old+h, old-h
		z.Data[i] = up
		high := at()
		z.Data[i] = down
		want := (high - at()) / (float64(up) - float64(down))
		z.Data[i] = old
		if got := float64(grad.Data[i]); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("%s: gradient %d is %v, differences give %v", what, i, got, want)
		}
	}
}

// against compares value and gradient of a goal with the plain ones.
func against(t *testing.T, what string, g Goal, value *float64, z *array.Array, want float64, wantGrad [][]float64) *array.Array {
	t.Helper()
	per, grad := make([]float64, z.Rows()), array.New(z.Shape...)
	if err := g.Eval(z, per, grad); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	sum := 0.0
	for _, v := range per {
		sum += v
	}
	if math.Abs(sum-want) > 1e-13*float64(z.Rows()) {
		t.Fatalf("%s: objective %v, want %v", what, sum, want)
	}
	if value != nil && math.Abs(*value-want) > 1e-13 {
		t.Fatalf("%s: value %v, want %v", what, *value, want)
	}
	for i := range wantGrad {
		for k, w := range wantGrad[i] {
			if math.Abs(float64(grad.Row(i)[k])-w) > 1e-7*(1+math.Abs(w)) {
				t.Fatalf("%s: gradient[%d][%d] = %v, want %v", what, i, k, grad.Row(i)[k], w)
			}
		}
	}
	again := make([]float64, z.Rows())
	if err := g.Eval(z, again, nil); err != nil || fmt.Sprint(again) != fmt.Sprint(per) {
		t.Fatalf("%s: without gradient %v (%v)", what, again, err)
	}
	return grad
}

// radiusByHand measures how far out is from clean.
func radiusByHand(out, clean [][]float64) record.Radius {
	var r record.Radius
	for i := range clean {
		linf, l2 := 0.0, 0.0
		for k, c := range clean[i] {
			d := math.Abs(out[i][k] - c)
			linf = math.Max(linf, d)
			l2 += d * d
		}
		l2 = math.Sqrt(l2)
		r.MeanLinf += linf / float64(len(clean))
		r.MeanL2 += l2 / float64(len(clean))
		r.MaxLinf, r.MaxL2 = math.Max(r.MaxLinf, linf), math.Max(r.MaxL2, l2)
	}
	return r
}

func sameRadius(t *testing.T, what string, got, want record.Radius) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+b) }
	if !near(got.MeanLinf, want.MeanLinf) || !near(got.MaxLinf, want.MaxLinf) || !near(got.MeanL2, want.MeanL2) || !near(got.MaxL2, want.MaxL2) {
		t.Errorf("%s: radius %+v, want %+v", what, got, want)
	}
}

// small gives a PGD the budget of these tests.
func small(p PGD) PGD {
	p.Eps, p.Step, p.Iterations = 0.1, 0.03, 6
	return p
}

// defenses makes each of the new defenses, PGD as given.
func defenses(t *testing.T, p PGD) map[string]Defense {
	t.Helper()
	out := map[string]Defense{}
	add := func(name string, d Defense, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out[name] = d
	}
	e, err := NewEST(ESTOptions{PGD: p, Eps: 1e-6})
	add("est", e, err)
	a, err := NewACT(ACTOptions{PGD: p, Eps: 1e-6})
	add("act", a, err)
	m, err := NewMinMax(MinMaxOptions{PGD: p, Eps: 1e-6, Anchor: true})
	add("minmax", m, err)
	m, err = NewMinMax(MinMaxOptions{PGD: p, Eps: 1e-6})
	add("minmax, anchor fixed", m, err)
	return out
}

func TestDefensesSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	want := map[string]string{}
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		p := small(Training())
		for _, start := range []Start{FromClean, FromRandom} {
			p.Start = start
			for name, d := range defenses(t, p) {
				m, in := scene(41, 600)
				in.Tuples = someTriplets(600)
				out, cost, err := d.Craft(m, in, 3, 9)
				if err != nil {
					t.Fatal(err)
				}
				key := name + string(start)
				got := fmt.Sprintf("%x %v %x", out.Images.Data, cost, d.(Reporter).Crafted())
				if want[key] == "" {
					want[key] = got
				}
				if want[key] != got {
					t.Errorf("%s: %d threads give other bits", key, threads)
				}
			}
		}
	}
}

func TestDefensesAllocateNothing(t *testing.T) {
	for _, start := range []Start{FromClean, FromRandom} {
		p := small(Training())
		p.Start = start
		for name, d := range defenses(t, p) {
			m, in := scene(42, 12)
			in.Tuples = someTriplets(12)
			if name == "minmax, anchor fixed" || start == FromRandom { // the test's net allocates for other numbers of rows
				in.Clean = m.Embed(in.Images, nn.Eval).Clone()
			}
			step := func() {
				if _, _, err := d.Craft(m, in, 1, 1); err != nil {
					t.Fatal(err)
				}
				_ = d.(Reporter).Crafted()
			}
			for range 30 {
				step()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 50 {
				step()
			}
			runtime.ReadMemStats(&after)
			if a := after.Mallocs - before.Mallocs; a > 20 {
				t.Errorf("%s from %s: %d allocations in 50 steps", name, start, a)
			}
		}
	}
}
