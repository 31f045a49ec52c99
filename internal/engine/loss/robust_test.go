package loss

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// robustValue is a form as the papers print it: the value at D and its derivative,
// that of a hinge being 0 where it bends.
func robustValue(o RobustOptions, d float64) (value, slope float64) {
	above, below := 0.0, 0.0 // 1{D > -alpha}, 1{D < alpha}
	if d > -o.Margin {
		above = 1
	}
	if d < o.Margin {
		below = 1
	}
	right, reversed := math.Max(0, o.Margin+d), math.Max(0, o.Margin-d)
	scale := 1.0
	if o.Rescale {
		scale = o.W1 - o.W2
	}
	switch o.Form {
	case RobustExpected:
		return (o.W1*right + o.W2*reversed) / scale, (o.W1*above - o.W2*below) / scale
	case RobustBackward:
		det := o.W1*o.W1 - o.W2*o.W2
		return (o.W1*right - o.W2*reversed) / det, (o.W1*above + o.W2*below) / det
	case RobustOdd:
		return (right - reversed) / scale, (above + below) / scale
	}
	s := 1 / (1 + math.Exp(-d/o.Temperature))
	return s / scale, s * (1 - s) / o.Temperature / scale
}

// robustReference is the loss in plain float64 loops over explicit triplets, with
// dL/da = 2g(n-p), dL/dp = 2g(p-a), dL/dn = 2g(a-n) on squared distances.
func robustReference(z [][]float64, ts []Triplet, o RobustOptions) (value float64, active int, grad [][]float64) {
	distance := func(x, y []float64) (float64, []float64) {
		g := minus(x, y)
		if o.Distance == Squared {
			s := norm(g)
			for k := range g {
				g[k] *= 2
			}
			return s * s, g
		}
		for k := range g {
			g[k] += o.Eps
		}
		l := norm(g)
		for k := range g {
			if l > 0 {
				g[k] /= l
			}
		}
		return l, g
	}
	grad = make([][]float64, len(z))
	for i := range grad {
		grad[i] = make([]float64, len(z[0]))
	}
	for _, t := range ts {
		ap, gp := distance(z[t.A], z[t.P])
		an, gn := distance(z[t.A], z[t.N])
		v, s := robustValue(o, ap-an)
		value += v
		if s != 0 {
			active++
		}
		for k := range gp {
			grad[t.A][k] += s * (gp[k] - gn[k])
			grad[t.P][k] -= s * gp[k]
			grad[t.N][k] += s * gn[k]
		}
	}
	count := 1
	switch o.Reduce {
	case Mean:
		count = max(len(ts), 1)
	case MeanNonzero:
		count = max(active, 1)
	}
	for i := range grad {
		for k := range grad[i] {
			grad[i][k] /= float64(count)
		}
	}
	return value / float64(count), active, grad
}

func eachRobust(f func(o RobustOptions)) {
	for _, form := range everyForm() {
		for _, d := range everyDistance() {
			for _, red := range everyReduction() {
				for _, w := range [][2]float64{{1, 0}, {0.7, 0}, {0.8112, 0.0112}, {0.5, 0.3}} {
					for _, m := range []float64{0, 0.2, 1} {
						f(RobustOptions{Margin: m, Distance: d, Form: form, W1: w[0], W2: w[1], Temperature: 0.3, Rescale: m == 1, Reduce: red, Eps: 1e-6 * float64(len(red)%2)})
					}
				}
			}
		}
	}
}

// makeRobust makes the loss; weights and temperature need not be given.
func makeRobust(t *testing.T, o RobustOptions) *RobustLoss {
	t.Helper()
	o.Weights, o.Temperature = cmp.Or(o.Weights, "joint"), cmp.Or(o.Temperature, 0.2)
	l, err := NewRobust(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRobustAgainstExplicitLoops(t *testing.T) {
	r := rng.New(1, "robust")
	eachRobust(func(o RobustOptions) {
		l := makeRobust(t, o)
		for _, s := range []struct{ rows, cols, n int }{{4, 1, 7}, {12, 3, 40}, {9, 70, 25}, {3, 129, 1}, {7, 300, 200}} {
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
			value, active, want := robustReference(rowsOf(z), ts, o)
			if math.Abs(got.Loss-value) > 1e-11*(1+math.Abs(value)) || got.Active != active || got.Tuples != s.n {
				t.Fatalf("%+v %+v: got %+v, want loss %v active %d", o, s, got, value, active)
			}
			for i := range want {
				for k, w := range want[i] {
					if g := float64(grad.Row(i)[k]); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
						t.Fatalf("%+v %+v: grad[%d][%d] = %v, want %v", o, s, i, k, g, w)
					}
				}
			}
			if alone, err := l.Eval(z, &Tuples{Triplets: ts}, nil); err != nil || alone != got {
				t.Fatalf("without gradient %+v, with %+v (%v)", alone, got, err)
			}
		}
	})
}

// With beta = gamma = 1 eq. 4 and the backward correction are the plain triplet
// loss, bit for bit (a gradient of 0 may have the other sign).
func TestRobustWithoutNoiseIsTheTripletLoss(t *testing.T) {
	r := rng.New(3, "robust")
	for _, d := range everyDistance() {
		for _, red := range everyReduction() {
			for _, m := range []float64{0, 0.2, 1} {
				plain := make1(t, TripletOptions{m, d, Hinge, red, 1e-6})
				for _, form := range []RobustForm{RobustExpected, RobustBackward} {
					for _, normalize := range []bool{false, true} {
						robust := makeRobust(t, RobustOptions{Margin: m, Distance: d, Form: form, W1: 1, W2: 0, Temperature: 0.2, Rescale: normalize, Reduce: red, Eps: 1e-6})
						for _, n := range []int{0, 1, 20, 300} { // few and many for 15 rows
							z := random(r, 15, 20, 0.3)
							copy(z.Row(1), z.Row(0))
							ts := &Tuples{Triplets: randomTriplets(r, 15, n)}
							g, h := z.Clone(), z.Clone()
							want, err := plain.Eval(z, ts, g)
							if err != nil {
								t.Fatal(err)
							}
							got, err := robust.Eval(z, ts, h)
							if err != nil || got != want || !slices.Equal(g.Data, h.Data) {
								t.Fatalf("%s %s %v %s, %d triplets: %+v (%v), want %+v", d, red, m, form, n, got, err, want)
							}
						}
						if robust.Margin() != plain.Margin() {
							t.Error("margins differ")
						}
					}
				}
			}
		}
	}
}

// The shape of eq. 4: slopes -w2, w1-w2 and w1, at a kink that of the hinge which
// does not bend there; the minimum 2 alpha w2 at D = -alpha.
func TestRobustShape(t *testing.T) {
	const alpha, w1, w2 = 2.25, 0.75, 0.125
	l := makeRobust(t, RobustOptions{Margin: alpha, Distance: Squared, Form: RobustExpected, W1: w1, W2: w2, Reduce: Sum})
	at := func(p, n float32) (value, slope float64, active int) {
		z, err := array.Of([]float32{0, p, n}, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		grad := z.Clone()
		res, err := l.Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}}}, grad)
		if err != nil || res.Positive != float64(p)*float64(p) || res.Negative != float64(n)*float64(n) || res.Tuples != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		slope = float64(grad.Data[1] / (2 * p))                                                  // dL/dp = 2g(p-a)
		if grad.Data[2] != -float32(slope)*2*n || grad.Data[0] != 2*float32(slope)*(n-p)+0*(n) { // dL/dn = 2g(a-n), dL/da = 2g(n-p)
			t.Errorf("p %v, n %v: gradient %v", p, n, grad.Data)
		}
		return res.Loss, slope, res.Active
	}
	for _, c := range []struct {
		p, n         float32
		value, slope float64
	}{
		{1, 3, w2 * (alpha + 8), -w2},          // D = -8
		{2, 2.5, 2 * alpha * w2, -w2},          // D = -alpha
		{1, 1.5, w1 + w2*3.5, w1 - w2},         // D = -1.25
		{2, 2, (w1 + w2) * 2.25, 0.625},        // D = 0
		{1.5, 1, w1*3.5 + w2, w1 - w2},         // D = 1.25
		{2.5, 2, 2 * alpha * w1, w1},           // D = alpha
		{3, 1, w1 * (alpha + 8), w1},           // D = 8
		{0.5, 64, w2 * (alpha + 4095.75), -w2}, // a right triplet far past the margin costs still
	} {
		value, slope, active := at(c.p, c.n)
		if math.Abs(value-c.value) > 1e-12*c.value || math.Abs(slope-c.slope) > 1e-7 || active != 1 {
			t.Errorf("D = %v: value %v slope %v active %d, want %v and %v", c.p*c.p-c.n*c.n, value, slope, active, c.value, c.slope)
		}
	}
	for p := float32(0.125); p < 6; p += 0.125 {
		for n := float32(0.125); n < 6; n += 0.125 {
			if value, _, _ := at(p, n); value < 2*alpha*w2 || value == 2*alpha*w2 && p*p-n*n != -alpha {
				t.Fatalf("D = %v: %v, the minimum is %v at D = -alpha", p*p-n*n, value, 2*alpha*w2)
			}
		}
	}
}

// At margin 0 both hinges bend at D = 0; without w2 a triplet that is right by the
// margin has no gradient.
func TestRobustTies(t *testing.T) {
	z, err := array.Of([]float32{0, 1, -1, 2}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		form   RobustForm
		w2     float64
		margin float64
		t      Triplet
		active int
		loss   float64
	}{
		{RobustExpected, 0.25, 0, Triplet{0, 1, 2}, 0, 0},
		{RobustBackward, 0.25, 0, Triplet{0, 1, 2}, 0, 0},
		{RobustOdd, 0.25, 0, Triplet{0, 1, 2}, 0, 0},
		{RobustExpected, 0.25, 3, Triplet{0, 1, 3}, 1, 0.25 * 6},
		{RobustExpected, 0, 3, Triplet{0, 1, 3}, 0, 0},
		{RobustOdd, 0, 3, Triplet{0, 1, 3}, 1, -6},
		{RobustOdd, 0, 3, Triplet{0, 3, 1}, 1, 6},
		{RobustSigmoid, 0.25, 0, Triplet{0, 1, 2}, 1, 0.5},
	} {
		l := makeRobust(t, RobustOptions{Margin: c.margin, Distance: Squared, Form: c.form, W1: 0.75, W2: c.w2, Temperature: 1, Reduce: MeanNonzero})
		want := c.loss
		if c.form == RobustExpected && c.w2 == 0 {
			want *= 0.75
		}
		grad := z.Clone()
		res, err := l.Eval(z, &Tuples{Triplets: []Triplet{c.t}}, grad)
		if err != nil || res.Active != c.active || math.Abs(res.Loss-want) > 1e-12 {
			t.Errorf("%+v: %+v, %v", c, res, err)
		}
		if (grad.Data[c.t.P] != 0) != (c.active == 1) {
			t.Errorf("%+v: gradient %v", c, grad.Data)
		}
	}
}

// Distances that float32 does not hold leave the sigmoid finite.
func TestRobustSigmoidDoesNotOverflow(t *testing.T) {
	z, err := array.Of([]float32{0, 3e30, 0, -3e30}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	grad := z.Clone()
	l := makeRobust(t, RobustOptions{Distance: Squared, Form: RobustSigmoid, W1: 1, Temperature: 1e-6, Reduce: Sum})
	res, err := l.Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}, {0, 2, 3}}}, grad)
	if err != nil || res.Loss != 1 || res.Active != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	for _, g := range grad.Data {
		if g != 0 {
			t.Errorf("gradient %v", grad.Data)
		}
	}
}
