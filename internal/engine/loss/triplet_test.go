package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// reference evaluates the triplet loss from its definition in plain float64, and
// its gradient by the chain rule written out for every triplet.
func reference(z [][]float64, ts []Triplet, o TripletOptions) (value float64, active int, grad [][]float64) {
	grad = make([][]float64, len(z))
	for i := range grad {
		grad[i] = make([]float64, len(z[0]))
	}
	diff := func(i, j int32) (d float64, g []float64) {
		g = make([]float64, len(z[0]))
		for k := range g {
			x := z[i][k] - z[j][k]
			if o.Distance == Squared {
				d += x * x
				g[k] = 2 * x
			} else {
				d += (x + o.Eps) * (x + o.Eps)
				g[k] = x + o.Eps
			}
		}
		if o.Distance == Euclidean {
			d = math.Sqrt(d)
			for k := range g {
				if d > 0 {
					g[k] /= d
				} else {
					g[k] = 0
				}
			}
		}
		return d, g
	}
	for pass := range 2 {
		for _, t := range ts {
			ap, gap := diff(t.A, t.P)
			an, gan := diff(t.A, t.N)
			h := o.Margin + ap - an
			v, w := math.Max(0, h), 0.0
			if h > 0 {
				w = 1
			}
			if o.Form == Soft {
				v, w = math.Log(1+math.Exp(h)), 1/(1+math.Exp(-h))
			}
			if pass == 0 {
				value += v
				if w > 0 {
					active++
				}
				continue
			}
			switch o.Reduce {
			case Mean:
				w /= float64(len(ts))
			case MeanNonzero:
				w /= float64(max(active, 1))
			}
			for k := range gap {
				grad[t.A][k] += w * (gap[k] - gan[k])
				grad[t.P][k] -= w * gap[k]
				grad[t.N][k] += w * gan[k]
			}
		}
	}
	switch o.Reduce {
	case Mean:
		value /= float64(max(len(ts), 1))
	case MeanNonzero:
		value /= float64(max(active, 1))
	}
	return value, active, grad
}

func random(r *rng.Stream, rows, cols int, scale float64) *array.Array {
	z := array.New(rows, cols)
	for i := range z.Data {
		z.Data[i] = float32(scale * r.NormFloat64())
	}
	return z
}

func randomTriplets(r *rng.Stream, rows, n int) []Triplet {
	ts := make([]Triplet, n)
	for i := range ts {
		ts[i] = Triplet{int32(r.IntN(rows)), int32(r.IntN(rows)), int32(r.IntN(rows))}
	}
	return ts
}

func rowsOf(z *array.Array) [][]float64 {
	out := make([][]float64, z.Rows())
	for i := range out {
		out[i] = make([]float64, z.Cols())
		for k, v := range z.Row(i) {
			out[i][k] = float64(v)
		}
	}
	return out
}

func each(f func(o TripletOptions)) {
	for _, d := range everyDistance() {
		for _, form := range []Form{Hinge, Soft} {
			for _, red := range everyReduction() {
				for _, m := range []float64{0, 0.2, 1} {
					for _, eps := range []float64{0, 1e-6} {
						f(TripletOptions{m, d, form, red, eps})
					}
				}
			}
		}
	}
}

func make1(t *testing.T, o TripletOptions) *TripletLoss {
	t.Helper()
	l, err := NewTriplet(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTripletAgainstExplicitLoops(t *testing.T) {
	r := rng.New(1, "loss")
	each(func(o TripletOptions) {
		l := make1(t, o)
		for _, s := range []struct{ rows, cols, n int }{{4, 1, 7}, {12, 3, 40}, {9, 70, 25}, {3, 129, 1}, {20, 9, 60}, {7, 300, 200}} {
			z := random(r, s.rows, s.cols, 0.5/math.Sqrt(float64(s.cols)))
			copy(z.Row(1), z.Row(0)) // identical points
			ts := randomTriplets(r, s.rows, s.n)
			grad := array.New(s.rows, s.cols)
			for i := range grad.Data {
				grad.Data[i] = 99 // must be overwritten
			}
			got, err := l.Eval(z, &Tuples{Triplets: ts}, grad)
			if err != nil {
				t.Fatal(err)
			}
			value, active, want := reference(rowsOf(z), ts, o)
			if math.Abs(got.Loss-value) > 1e-12*(1+value) || got.Active != active || got.Tuples != s.n {
				t.Fatalf("%+v %+v: got %+v, want loss %v active %d", o, s, got, value, active)
			}
			for i := range want {
				for k, w := range want[i] {
					if g := float64(grad.Row(i)[k]); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
						t.Fatalf("%+v %+v: grad[%d][%d] = %v, want %v", o, s, i, k, g, w)
					}
				}
			}
			alone, err := l.Eval(z, &Tuples{Triplets: ts}, nil)
			if err != nil || alone != got {
				t.Fatalf("without gradient %+v, with %+v (%v)", alone, got, err)
			}
		}
	})
}

// Golden: torch.nn.functional.triplet_margin_loss(z[a], z[p], z[n], margin=0.2,
// reduction="sum") and its gradient in float64, PyTorch 1.13.1, on the z below.
// Rows 2 and 3 coincide, so that eps decides the gradient of the second triplet.
func TestTripletAgainstPyTorch(t *testing.T) {
	z := array.New(6, 3)
	for i := range 6 {
		for k := range 3 {
			z.Row(i)[k] = float32((7*i+3*k)%11)/8 - 0.5
		}
	}
	copy(z.Row(3), z.Row(2))
	want := []float64{
		-0.655609779, -0.655609779, 0.374635337,
		0.655609779, 0.655609779, -0.374635337,
		-0.577350269, -0.577350269, -0.577350269,
		-0.246054743, -0.246054743, -1.460801767,
		0.113149763, 0.113149763, 0.105674685,
		0.710255249, 0.710255249, 1.93247735,
	}
	o := TripletDefaults()
	o.Reduce = Sum
	grad := array.New(6, 3)
	res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}, {2, 3, 0}, {4, 5, 3}, {5, 0, 3}}}, grad)
	if err != nil || math.Abs(res.Loss-1.494703528886111) > 1e-9 {
		t.Fatalf("%+v, %v", res, err)
	}
	for i, w := range want {
		if math.Abs(float64(grad.Data[i])-w) > 1e-6 {
			t.Errorf("gradient %d is %v, PyTorch gives %v", i, grad.Data[i], w)
		}
	}
}
