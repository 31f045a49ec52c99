package loss

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
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
	for _, d := range Distances() {
		for _, form := range []Form{Hinge, Soft} {
			for _, red := range Reductions() {
				for _, m := range []float64{0, 0.2, 1} {
					for _, eps := range []float64{0, 1e-6} {
						f(TripletOptions{d, form, m, red, eps})
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

// Central differences of the loss itself, at points with no triplet near a kink.
func TestTripletGradientByFiniteDifferences(t *testing.T) {
	r := rng.New(2, "loss")
	each(func(o TripletOptions) {
		const rows, cols = 8, 5
		z := random(r, rows, cols, 1)
		var ts []Triplet
		for _, x := range randomTriplets(r, rows, 60) {
			if x.A == x.P || x.A == x.N || x.P == x.N {
				continue
			}
			one, _, _ := reference(rowsOf(z), []Triplet{x}, TripletOptions{o.Distance, Hinge, 100, Sum, o.Eps})
			if h := one - 100 + o.Margin; math.Abs(h) > 0.02 {
				ts = append(ts, x)
			}
		}
		l := make1(t, o)
		grad := array.New(rows, cols)
		if _, err := l.Eval(z, &Tuples{Triplets: ts}, grad); err != nil {
			t.Fatal(err)
		}
		for i := range z.Data {
			const h = 1.0 / 1024
			old := z.Data[i]
			at := func(v float32) float64 {
				z.Data[i] = v
				res, err := l.Eval(z, &Tuples{Triplets: ts}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return res.Loss
			}
			up, down := old+h, old-h
			want := (at(up) - at(down)) / (float64(up) - float64(down))
			z.Data[i] = old
			if got := float64(grad.Data[i]); math.Abs(got-want) > 2e-5*(1+math.Abs(want)) {
				t.Fatalf("%+v: gradient %d is %v, differences give %v", o, i, got, want)
			}
		}
	})
}

// A triplet worked by hand: d(a,p) = 5, d(a,n) = 13 or 4.
func TestTripletByHand(t *testing.T) {
	z, err := array.Of([]float32{0, 0, 3, 4, 5, 12, 0, 4}, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	ts := &Tuples{Triplets: []Triplet{{0, 1, 2}, {0, 1, 3}}}
	for _, c := range []struct {
		o    TripletOptions
		want Result
	}{
		{TripletOptions{Euclidean, Hinge, 1, Mean, 0}, Result{1, 2, 1, 5, 8.5}},
		{TripletOptions{Euclidean, Hinge, 1, Sum, 0}, Result{2, 2, 1, 5, 8.5}},
		{TripletOptions{Euclidean, Hinge, 1, MeanNonzero, 0}, Result{2, 2, 1, 5, 8.5}},
		{TripletOptions{Squared, Hinge, 1, Sum, 1e-6}, Result{10, 2, 1, 25, 92.5}},
		{TripletOptions{Euclidean, Soft, 0, Sum, 0}, Result{math.Log1p(math.Exp(-8)) + math.Log1p(math.Exp(1)), 2, 2, 5, 8.5}},
	} {
		got, err := make1(t, c.o).Eval(z, ts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Loss-c.want.Loss) > 1e-12 || got.Active != c.want.Active || got.Positive != c.want.Positive || got.Negative != c.want.Negative {
			t.Errorf("%+v: got %+v, want %+v", c.o, got, c.want)
		}
	}
}

func TestTripletIdenticalPoints(t *testing.T) {
	z := array.New(3, 4)
	for i := range z.Data {
		z.Data[i] = float32(i%4) + 1
	}
	for _, c := range []struct {
		eps  float64
		want float32 // gradient at the positive: -eps/d = -1/sqrt(4) on each coordinate
	}{{0, 0}, {1e-6, -0.5}} {
		o := TripletDefaults()
		o.Eps = c.eps
		grad := array.New(3, 4)
		res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}}}, grad)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(res.Loss-0.2) > 1e-12 || res.Active != 1 {
			t.Errorf("eps %v: %+v", c.eps, res)
		}
		for k := range 4 {
			if g := grad.Row(1)[k]; math.Abs(float64(g-c.want)) > 1e-6 {
				t.Errorf("eps %v: gradient at the positive %v, want %v", c.eps, g, c.want)
			}
		}
	}
}

func TestTripletNothingToDo(t *testing.T) {
	each(func(o TripletOptions) {
		z := random(rng.New(3, "loss"), 4, 3, 1)
		grad := z.Clone()
		res, err := make1(t, o).Eval(z, &Tuples{}, grad)
		if err != nil || res != (Result{}) {
			t.Fatalf("no triplets: %+v, %v", res, err)
		}
		for _, v := range grad.Data {
			if v != 0 {
				t.Fatal("no triplets: gradient is not zero")
			}
		}
	})
	// All inactive: the positive is the anchor, the negative far away.
	z, _ := array.Of([]float32{0, 0, 9}, 3, 1)
	for _, red := range Reductions() {
		o := TripletDefaults()
		o.Reduce = red
		grad := z.Clone()
		res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}, {1, 0, 2}}}, grad)
		if err != nil || res.Loss != 0 || res.Active != 0 || res.Tuples != 2 {
			t.Fatalf("%s: %+v, %v", red, res, err)
		}
		for _, v := range grad.Data {
			if v != 0 {
				t.Fatalf("%s: gradient is not zero", red)
			}
		}
	}
}

func TestTripletSoftDoesNotOverflow(t *testing.T) {
	z, _ := array.Of([]float32{0, 3e4, 0, -3e4}, 4, 1)
	grad := array.New(4, 1)
	o := TripletOptions{Squared, Soft, 0, Sum, 0}
	res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}, {0, 2, 3}}}, grad)
	if err != nil || res.Loss != 9e8 || res.Active != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
}

func TestTripletErrors(t *testing.T) {
	z := array.New(2, 3)
	nan := array.New(2, 3)
	nan.Row(1)[2] = float32(math.NaN())
	l := make1(t, TripletDefaults())
	for _, c := range []struct {
		name string
		z    *array.Array
		grad *array.Array
		t    Triplet
		want string
	}{
		{"index", z, nil, Triplet{0, 1, 2}, "triplet 0 (a 0, p 1, n 2): row 2 is outside the batch of 2"},
		{"negative index", z, nil, Triplet{-1, 1, 0}, "row -1 is outside"},
		{"gradient shape", z, array.New(3, 2), Triplet{0, 1, 1}, "gradient is [3 2], want [2 3]"},
		{"rank", array.New(2, 3, 1, 1), nil, Triplet{0, 1, 1}, "embeddings is [2 3 1 1]"},
		{"NaN", nan, nil, Triplet{0, 1, 0}, "rows 0 and 1 of the batch are NaN apart"},
	} {
		_, err := l.Eval(c.z, &Tuples{Triplets: []Triplet{c.t}}, c.grad)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if (c.name == "NaN") != errors.Is(err, ErrNonFinite) {
			t.Errorf("%s: errors.Is(ErrNonFinite) is wrong for %v", c.name, err)
		}
	}
	for _, bad := range []func(o *TripletOptions){
		func(o *TripletOptions) { o.Distance = "cosine" },
		func(o *TripletOptions) { o.Form = "" },
		func(o *TripletOptions) { o.Reduce = "max" },
		func(o *TripletOptions) { o.Margin = -1 },
		func(o *TripletOptions) { o.Margin = math.NaN() },
		func(o *TripletOptions) { o.Margin = math.Inf(1) },
		func(o *TripletOptions) { o.Eps = -1 },
		func(o *TripletOptions) { o.Eps = math.NaN() },
	} {
		o := TripletDefaults()
		bad(&o)
		if _, err := NewTriplet(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
}

func TestTripletSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(4, "loss")
	z := random(r, 40, 200, 0.1)
	for name, list := range map[string][]Triplet{"few": randomTriplets(r, 40, 300), "many": randomTriplets(r, 40, 900), "all": allTriplets(40, 4)} {
		var want string
		for _, threads := range []int{1, 2, 3} {
			par.SetThreads(threads)
			grad := array.New(40, 200)
			res, err := make1(t, TripletDefaults()).Eval(z, &Tuples{Triplets: list}, grad)
			if err != nil {
				t.Fatal(err)
			}
			s := fmt.Sprintf("%x %x", math.Float64bits(res.Loss), grad.Data)
			if want == "" {
				want = s
			}
			if s != want {
				t.Fatalf("%s triplets: %d threads give other bits", name, threads)
			}
		}
	}
}

// allTriplets lists the triplets of a batch of that many rows in the given number
// of classes, as batch-all does.
func allTriplets(rows, classes int) []Triplet {
	var out []Triplet
	for a := range rows {
		for p := range rows {
			for n := range rows {
				if a != p && a%classes == p%classes && a%classes != n%classes {
					out = append(out, Triplet{int32(a), int32(p), int32(n)})
				}
			}
		}
	}
	return out
}

// Looked-up distances serve lists in and out of the order of anchors, and agree
// with measured ones: the same triplets in a batch padded with rows that none uses.
func TestTripletTableAgreesWithEdges(t *testing.T) {
	r := rng.New(7, "loss")
	const rows, cols = 12, 33
	z := random(r, rows, cols, 0.2)
	copy(z.Row(3), z.Row(7))
	wide := array.New(200, cols)
	copy(wide.Data, z.Data)
	ordered := allTriplets(rows, 3)
	shuffled := append([]Triplet(nil), ordered...)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	each(func(o TripletOptions) {
		eval := func(z *array.Array, list []Triplet) (Result, *array.Array) {
			grad := array.New(z.Rows(), cols)
			res, err := make1(t, o).Eval(z, &Tuples{Triplets: list}, grad)
			if err != nil {
				t.Fatal(err)
			}
			return res, grad
		}
		if crowded(2*len(ordered), 200) || !crowded(2*len(ordered), rows) {
			t.Fatal("both lists take one way")
		}
		want, grad := eval(wide, ordered)
		for _, list := range [][]Triplet{ordered, shuffled} {
			got, g := eval(z, list)
			if math.Abs(got.Loss-want.Loss) > 1e-11*(1+want.Loss) || got.Active != want.Active || got.Tuples != want.Tuples ||
				math.Abs(got.Positive-want.Positive) > 1e-12 || math.Abs(got.Negative-want.Negative) > 1e-12 {
				t.Fatalf("%+v: %+v, want %+v", o, got, want)
			}
			for i, v := range g.Data {
				if d := math.Abs(float64(v - grad.Data[i])); d > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("%+v: gradient %d is %v, want %v", o, i, v, grad.Data[i])
				}
			}
		}
	})
	l := make1(t, TripletDefaults())
	bad := append(append([]Triplet(nil), ordered...), Triplet{0, 1, 12})
	if _, err := l.Eval(z, &Tuples{Triplets: bad}, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("triplet %d (a 0, p 1, n 12): row 12 is outside the batch of 12", len(ordered))) {
		t.Error(err)
	}
	z.Row(5)[0] = float32(math.Inf(1))
	if _, err := l.Eval(z, &Tuples{Triplets: ordered}, nil); !errors.Is(err, ErrNonFinite) {
		t.Error(err)
	}
}

func TestTripletAllocatesNothing(t *testing.T) {
	r := rng.New(5, "loss")
	z := random(r, 32, 128, 0.1)
	grad := array.New(32, 128)
	few, many := &Tuples{Triplets: randomTriplets(r, 32, 64)}, &Tuples{Triplets: allTriplets(32, 4)}
	l := make1(t, TripletDefaults())
	step := func() {
		for _, ts := range []*Tuples{few, many} {
			if _, err := l.Eval(z, ts, grad); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		step()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 200 {
		step()
	}
	runtime.ReadMemStats(&after)
	if a := after.Mallocs - before.Mallocs; a > 100 { // a worker that lags keeps a job: some
		t.Fatalf("%d allocations in 200 evaluations", a)
	}
}

func BenchmarkTriplet(b *testing.B) {
	r := rng.New(5, "loss")
	z := random(r, 256, 512, 0.05)
	grad := array.New(256, 512)
	ts := &Tuples{Triplets: randomTriplets(r, 256, 128)}
	l, err := NewTriplet(TripletDefaults())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Eval(z, ts, grad); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTripletBatchAll(b *testing.B) {
	for _, s := range []struct{ rows, classes int }{{80, 10}, {256, 32}, {384, 10}} {
		b.Run(fmt.Sprintf("%d", s.rows), func(b *testing.B) {
			z := random(rng.New(5, "loss"), s.rows, 512, 0.05)
			grad := array.New(s.rows, 512)
			ts := &Tuples{Triplets: allTriplets(s.rows, s.classes)}
			l, err := NewTriplet(TripletDefaults())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(ts.Triplets)), "triplets")
		})
	}
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
