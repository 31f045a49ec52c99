package loss

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// pairCase is one configuration of a pair loss, and its value for one pair written
// out in plain float64.
type pairCase struct {
	name   string
	reduce Reduction
	make   func() (Objective, error)
	// of returns the value of a pair and its distance from the embeddings.
	of func(x, y []float64, similar bool) (value, distance float64)
	// gradient returns dvalue/dx; dvalue/dy is the same with x and y exchanged.
	gradient func(x, y []float64, similar bool) []float64
	// kink is how far the pair is from a kink.
	kink func(x, y []float64, similar bool) float64
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

func minus(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for k := range x {
		d[k] = x[k] - y[k]
	}
	return d
}

func contrastiveCase(o ContrastiveOptions) pairCase {
	away := func(x, y []float64) float64 {
		d := norm(minus(x, y))
		return math.Sqrt(d*d + o.Eps*o.Eps)
	}
	return pairCase{
		name: fmt.Sprintf("contrastive %+v", o), reduce: o.Reduce,
		make: func() (Objective, error) { return NewContrastive(o) },
		of: func(x, y []float64, similar bool) (float64, float64) {
			d := norm(minus(x, y))
			if similar {
				return d * d, d
			}
			return math.Pow(math.Max(0, o.Margin-away(x, y)), 2), d
		},
		gradient: func(x, y []float64, similar bool) []float64 {
			g := minus(x, y) // 2y(x-y) - 2(1-y)(m-d)_+ (x-y)/d
			d := away(x, y)
			for k := range g {
				if similar {
					g[k] *= 2
				} else if norm(minus(x, y)) > 0 {
					g[k] *= -2 * math.Max(0, o.Margin-d) / d
				}
			}
			return g
		},
		kink: func(x, y []float64, similar bool) float64 {
			if d := norm(minus(x, y)); !similar {
				return math.Min(math.Abs(d-o.Margin), d)
			}
			return 1
		},
	}
}

func cosineCase(o CosineOptions) pairCase {
	inner := func(x, y []float64) float64 {
		s := 0.0
		for k := range x {
			s += x[k] * y[k]
		}
		return s
	}
	cosine := func(x, y []float64) float64 {
		l := math.Sqrt(inner(x, x)+o.Eps) * math.Sqrt(inner(y, y)+o.Eps)
		if l == 0 {
			return 0
		}
		return inner(x, y) / l
	}
	likeness := func(x, y []float64) float64 {
		if o.Similarity == CosineOfCosine {
			return math.Cos(cosine(x, y))
		}
		return cosine(x, y)
	}
	return pairCase{
		name: fmt.Sprintf("cosine %+v", o), reduce: o.Reduce,
		make: func() (Objective, error) { return NewCosine(o) },
		of: func(x, y []float64, similar bool) (float64, float64) {
			s := likeness(x, y)
			if similar {
				return 1 - s, 1 - s
			}
			return math.Max(0, s-o.Margin), 1 - s
		},
		gradient: func(x, y []float64, similar bool) []float64 {
			g := make([]float64, len(x))
			xx, yy := inner(x, x)+o.Eps, inner(y, y)+o.Eps
			if xx == 0 || yy == 0 || !similar && likeness(x, y) <= o.Margin {
				return g
			}
			turn := 1.0
			if similar {
				turn = -1
			}
			if o.Similarity == CosineOfCosine {
				turn *= -math.Sin(cosine(x, y))
			}
			for k := range g {
				g[k] = turn * (y[k]/math.Sqrt(xx*yy) - cosine(x, y)*x[k]/xx)
			}
			return g
		},
		kink: func(x, y []float64, similar bool) float64 {
			gap := 1.0
			if !similar {
				gap = math.Abs(likeness(x, y) - o.Margin)
			}
			return math.Min(gap, math.Min(norm(x), norm(y)))
		},
	}
}

func pairCases() []pairCase {
	var list []pairCase
	for _, r := range Reductions() {
		for _, m := range []float64{0.3, 1, 5} {
			for _, eps := range []float64{0, 1e-6} {
				list = append(list, contrastiveCase(ContrastiveOptions{m, r, eps}))
			}
		}
		for _, m := range []float64{-0.5, 0, 0.5, 0.9} {
			for _, eps := range []float64{0, 1e-12} {
				for _, s := range []Similarity{Cosine, CosineOfCosine} {
					list = append(list, cosineCase(CosineOptions{s, m, r, eps}))
				}
			}
		}
	}
	return list
}

func randomPairs(r *rng.Stream, rows, n int) []Pair {
	ps := make([]Pair, n)
	for i := range ps {
		ps[i] = Pair{int32(r.IntN(rows)), int32(r.IntN(rows)), r.IntN(2) == 0}
	}
	return ps
}

func build(t *testing.T, c pairCase) Objective {
	t.Helper()
	l, err := c.make()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPairLossesAgainstExplicitLoops(t *testing.T) {
	r := rng.New(1, "pairs")
	for _, c := range pairCases() {
		l := build(t, c)
		for _, s := range []struct{ rows, cols, n int }{{4, 1, 7}, {12, 3, 40}, {9, 130, 25}, {30, 6, 15}, {3, 257, 1}} {
			z := random(r, s.rows, s.cols, 0.7/math.Sqrt(float64(s.cols)))
			copy(z.Row(1), z.Row(0)) // identical points
			clear(z.Row(2))          // a zero vector
			ps := randomPairs(r, s.rows, s.n)
			x := rowsOf(z)
			var value, similar, different float64
			var positive, nSimilar int
			for _, p := range ps {
				v, d := c.of(x[p.I], x[p.J], p.Similar)
				value += v
				if v > 1e-13 {
					positive++
				}
				if p.Similar {
					similar, nSimilar = similar+d, nSimilar+1
				} else {
					different += d
				}
			}
			scale := 1.0
			switch c.reduce {
			case Mean:
				scale = 1 / float64(s.n)
			case MeanNonzero:
				scale = 1 / float64(max(positive, 1))
			}
			want := make([][]float64, s.rows)
			for i := range want {
				want[i] = make([]float64, s.cols)
			}
			for _, p := range ps {
				gi, gj := c.gradient(x[p.I], x[p.J], p.Similar), c.gradient(x[p.J], x[p.I], p.Similar)
				for k := range gi {
					want[p.I][k] += scale * gi[k]
					want[p.J][k] += scale * gj[k]
				}
			}
			grad := array.New(s.rows, s.cols)
			for i := range grad.Data {
				grad.Data[i] = 99 // must be overwritten
			}
			got, err := l.Eval(z, &Tuples{Pairs: ps}, grad)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Loss-scale*value) > 1e-12*(1+value) || got.Tuples != s.n ||
				math.Abs(got.Positive-similar/float64(max(nSimilar, 1))) > 1e-12 ||
				math.Abs(got.Negative-different/float64(max(s.n-nSimilar, 1))) > 1e-12 {
				t.Fatalf("%s %+v: got %+v, want loss %v, similar %v, different %v", c.name, s, got, scale*value, similar, different)
			}
			for i := range want {
				for k, w := range want[i] {
					if g := float64(grad.Row(i)[k]); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
						t.Fatalf("%s %+v: grad[%d][%d] = %v, want %v", c.name, s, i, k, g, w)
					}
				}
			}
			alone, err := l.Eval(z, &Tuples{Pairs: ps}, nil)
			if err != nil || alone != got {
				t.Fatalf("%s: without gradient %+v, with %+v (%v)", c.name, alone, got, err)
			}
		}
	}
}

// Central differences of the loss itself, at points away from every kink.
func TestPairLossesByFiniteDifferences(t *testing.T) {
	r := rng.New(2, "pairs")
	for _, c := range pairCases() {
		const rows, cols = 8, 5
		z := random(r, rows, cols, 0.6)
		x := rowsOf(z)
		var ps []Pair
		for _, p := range randomPairs(r, rows, 40) {
			if p.I != p.J && c.kink(x[p.I], x[p.J], p.Similar) > 0.02 {
				ps = append(ps, p)
			}
		}
		l := build(t, c)
		grad := array.New(rows, cols)
		if _, err := l.Eval(z, &Tuples{Pairs: ps}, grad); err != nil {
			t.Fatal(err)
		}
		for i := range z.Data {
			const h = 1.0 / 1024
			old := z.Data[i]
			at := func(v float32) float64 {
				z.Data[i] = v
				res, err := l.Eval(z, &Tuples{Pairs: ps}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return res.Loss
			}
			up, down := old+h, old-h
			want := (at(up) - at(down)) / (float64(up) - float64(down))
			z.Data[i] = old
			if got := float64(grad.Data[i]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("%s: gradient %d is %v, differences give %v", c.name, i, got, want)
			}
		}
	}
}

// Golden: testdata/scripts/pair_loss_golden.py, PyTorch 1.13.1.
func TestPairLossesAgainstPyTorch(t *testing.T) {
	raw, err := os.ReadFile("testdata/pairs.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Rows, Cols int
		Z          []float32
		Pairs      [][3]int32
		Cases      []struct {
			Loss     string
			Margin   float64
			Reduce   Reduction
			Value    float64
			Gradient []float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	z, err := array.Of(golden.Z, golden.Rows, golden.Cols)
	if err != nil {
		t.Fatal(err)
	}
	var ts Tuples
	for _, p := range golden.Pairs {
		ts.Pairs = append(ts.Pairs, Pair{p[0], p[1], p[2] == 1})
	}
	for _, c := range golden.Cases {
		var o Objective
		var err error
		switch c.Loss {
		case "cosine", "paper":
			d := CosineDefaults()
			d.Similarity, d.Margin, d.Reduce = Similarity(c.Loss), c.Margin, c.Reduce
			o, err = NewCosine(d)
		case "contrastive":
			d := ContrastiveDefaults()
			d.Margin, d.Reduce = c.Margin, c.Reduce
			o, err = NewContrastive(d)
		default:
			t.Fatalf("unknown loss %q", c.Loss)
		}
		if err != nil {
			t.Fatal(err)
		}
		grad := array.New(golden.Rows, golden.Cols)
		res, err := o.Eval(z, &ts, grad)
		if err != nil || math.Abs(res.Loss-c.Value) > 1e-11*(1+c.Value) {
			t.Errorf("%s %v %s: %+v (%v), PyTorch gives %v", c.Loss, c.Margin, c.Reduce, res, err, c.Value)
		}
		for i, w := range c.Gradient {
			if g := float64(grad.Data[i]); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
				t.Errorf("%s %v %s: gradient %d is %v, PyTorch gives %v", c.Loss, c.Margin, c.Reduce, i, g, w)
			}
		}
	}
	if len(golden.Cases) != 16 {
		t.Errorf("%d cases", len(golden.Cases))
	}
}

// d = 5 (similar), 0.6 (different, m = 1): 25 and 0.16; cos = 0.6 against 0.5.
func TestPairLossesByHand(t *testing.T) {
	z, err := array.Of([]float32{0, 0, 3, 4, 3, 4.5, 0, 2}, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	ts := &Tuples{Pairs: []Pair{{0, 1, true}, {1, 2, false}, {0, 1, false}}}
	o := ContrastiveDefaults()
	o.Eps = 0
	l, err := NewContrastive(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Eval(z, ts, nil)
	if want := (Result{25.25 / 3, 3, 2, 5, 2.75}); err != nil || got != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	if l.Threshold() != 0.5 || l.Margin() != 1 {
		t.Errorf("threshold %v, margin %v", l.Threshold(), l.Margin())
	}
	c, err := NewCosine(CosineDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if got, err = c.Eval(z, &Tuples{Pairs: []Pair{{1, 3, true}, {3, 1, false}}}, nil); err != nil || math.Abs(got.Loss-(0.2+0.3)/2) > 1e-12 || got.Active != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
	if math.Abs(c.ThresholdCosine()-math.Cos(math.Pi/6)) > 1e-15 || c.Margin() != 0.5 {
		t.Errorf("threshold %v, margin %v", c.ThresholdCosine(), c.Margin())
	}
}

func TestPairLossesNothingToDo(t *testing.T) {
	for _, c := range pairCases() {
		l := build(t, c)
		z := random(rng.New(3, "pairs"), 4, 3, 1)
		grad := z.Clone()
		res, err := l.Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}}}, grad)
		if err != nil || res != (Result{}) {
			t.Fatalf("%s: no pairs: %+v, %v", c.name, res, err)
		}
		for _, v := range grad.Data {
			if v != 0 {
				t.Fatalf("%s: no pairs: gradient is not zero", c.name)
			}
		}
		if res, err = l.Eval(array.New(0, 3), &Tuples{}, array.New(0, 3)); err != nil || res != (Result{}) {
			t.Fatalf("%s: no rows: %+v, %v", c.name, res, err)
		}
	}
	// Satisfied: equal similar pairs, different ones far apart.
	z, _ := array.Of([]float32{1, 0, 1, 0, -9, 0.5}, 3, 2)
	ts := &Tuples{Pairs: []Pair{{0, 1, true}, {0, 2, false}, {2, 1, false}}}
	for _, red := range Reductions() {
		for _, c := range []pairCase{contrastiveCase(ContrastiveOptions{1, red, 1e-6}), cosineCase(CosineOptions{Cosine, 0.5, red, 0})} {
			grad := z.Clone()
			res, err := build(t, c).Eval(z, ts, grad)
			if err != nil || res.Loss != 0 || res.Active != 0 || res.Tuples != 3 {
				t.Fatalf("%s: %+v, %v", c.name, res, err)
			}
			for _, v := range grad.Data {
				if v != 0 {
					t.Fatalf("%s: gradient is not zero", c.name)
				}
			}
		}
	}
}

// At x = y the contrastive gradient is 0, and tiny distances do not overflow it.
func TestContrastiveNearZero(t *testing.T) {
	for _, eps := range []float64{0, 1e-6} {
		o := ContrastiveDefaults()
		o.Eps = eps
		l, err := NewContrastive(o)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := array.Of([]float32{1, 2, 1, 2, 1e-30, 0, 0, 0}, 4, 2)
		grad := array.New(4, 2)
		res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, true}, {0, 1, false}, {2, 3, false}}}, grad)
		if err != nil || math.Abs(res.Loss-2*math.Pow(1-eps, 2)/3) > 1e-12 || res.Active != 1 {
			t.Fatalf("eps %v: %+v, %v", eps, res, err)
		}
		for k, v := range grad.Data {
			want := 0.0
			if eps == 0 && (k == 4 || k == 6) { // unit direction: -2 m/3, and back
				want = -2.0 / 3
				if k == 6 {
					want = -want
				}
			}
			if math.Abs(float64(v)-want) > 1e-6 {
				t.Errorf("eps %v: gradient %d is %v, want %v", eps, k, v, want)
			}
		}
	}
}

// A zero vector: cosine 0; gradient 0 without eps, finite with it.
func TestCosineZeroVector(t *testing.T) {
	for _, eps := range []float64{0, 1e-12} {
		o := CosineDefaults()
		o.Eps, o.Reduce = eps, Sum
		l, err := NewCosine(o)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := array.Of([]float32{0, 0, 3, 4, 0, 0}, 3, 2)
		grad := array.New(3, 2)
		res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, true}, {0, 2, true}}}, grad)
		if err != nil || res.Loss != 2 {
			t.Fatalf("eps %v: %+v, %v", eps, res, err)
		}
		want, active := []float32{0, 0, 0, 0, 0, 0}, 0
		if eps > 0 {
			want, active = []float32{-6e5, -8e5, 0, 0, 0, 0}, 2
		}
		if res.Active != active {
			t.Errorf("eps %v: %d active", eps, res.Active)
		}
		for k, v := range grad.Data {
			if math.Abs(float64(v-want[k])) > 1 {
				t.Errorf("eps %v: gradient %v, want %v", eps, grad.Data, want)
				break
			}
		}
	}
	// Huge and tiny embeddings neither overflow nor vanish.
	l, _ := NewCosine(CosineOptions{Cosine, 0, Sum, 0})
	z, _ := array.Of([]float32{3e38, 0, 3e38, 3e38, 1e-38, 0, 1e-38, 1e-38}, 4, 2)
	res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, false}, {2, 3, false}, {0, 3, false}}}, array.New(4, 2))
	if err != nil || math.Abs(res.Loss-3/math.Sqrt2) > 1e-6 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestPairLossErrors(t *testing.T) {
	z := random(rng.New(6, "pairs"), 2, 3, 1)
	nan, inf := z.Clone(), z.Clone()
	nan.Row(1)[2] = float32(math.NaN())
	inf.Row(0)[1] = float32(math.Inf(-1))
	contrastive, _ := NewContrastive(ContrastiveDefaults())
	cosine, _ := NewCosine(CosineDefaults())
	for _, l := range []Objective{contrastive, cosine} {
		for _, c := range []struct {
			name string
			z    *array.Array
			grad *array.Array
			p    Pair
			want string
		}{
			{"index", z, nil, Pair{1, 2, true}, "pair 0 (1, 2): row 2 is outside the batch of 2"},
			{"negative index", z, nil, Pair{-1, 0, true}, "row -1 is outside"},
			{"gradient shape", z, array.New(3, 2), Pair{0, 1, true}, "gradient is [3 2], want [2 3]"},
			{"rank", array.New(2, 3, 1, 1), nil, Pair{0, 1, true}, "embeddings is [2 3 1 1]"},
			{"NaN", nan, nil, Pair{0, 1, false}, "rows 0 and 1 of the batch"},
			{"infinity", inf, nil, Pair{0, 1, false}, "rows 0 and 1 of the batch"},
		} {
			_, err := l.Eval(c.z, &Tuples{Pairs: []Pair{c.p}}, c.grad)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T %s: %v, want %q", l, c.name, err, c.want)
			}
			if (c.name == "NaN" || c.name == "infinity") != errors.Is(err, ErrNonFinite) {
				t.Errorf("%T %s: errors.Is(ErrNonFinite) is wrong for %v", l, c.name, err)
			}
		}
	}
	for _, bad := range []func(o *ContrastiveOptions){
		func(o *ContrastiveOptions) { o.Margin = 0 },
		func(o *ContrastiveOptions) { o.Margin = math.NaN() },
		func(o *ContrastiveOptions) { o.Margin = math.Inf(1) },
		func(o *ContrastiveOptions) { o.Reduce = "max" },
		func(o *ContrastiveOptions) { o.Eps = -1 },
		func(o *ContrastiveOptions) { o.Eps = 1 },
	} {
		o := ContrastiveDefaults()
		bad(&o)
		if _, err := NewContrastive(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	for _, bad := range []func(o *CosineOptions){
		func(o *CosineOptions) { o.Margin = 1 },
		func(o *CosineOptions) { o.Margin = -1.5 },
		func(o *CosineOptions) { o.Margin = math.NaN() },
		func(o *CosineOptions) { o.Similarity = "angle" },
		func(o *CosineOptions) { o.Reduce = "" },
		func(o *CosineOptions) { o.Eps = -1 },
		func(o *CosineOptions) { o.Eps = math.NaN() },
	} {
		o := CosineDefaults()
		bad(&o)
		if _, err := NewCosine(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
}

func TestPairLossesSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(4, "pairs")
	z := random(r, 60, 300, 0.1)
	ts := &Tuples{Pairs: randomPairs(r, 60, 500)}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		var want string
		for _, threads := range []int{1, 2, 3} {
			par.SetThreads(threads)
			grad := array.New(60, 300)
			res, err := build(t, c).Eval(z, ts, grad)
			if err != nil {
				t.Fatal(err)
			}
			s := fmt.Sprintf("%x %x", math.Float64bits(res.Loss), grad.Data)
			if want == "" {
				want = s
			}
			if s != want {
				t.Fatalf("%s: %d threads give other bits", c.name, threads)
			}
		}
	}
}

func TestPairLossesAllocateNothing(t *testing.T) {
	r := rng.New(5, "pairs")
	z := random(r, 64, 128, 0.1)
	grad := array.New(64, 128)
	ts := &Tuples{Pairs: randomPairs(r, 64, 100)}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		l := build(t, c)
		step := func() {
			if _, err := l.Eval(z, ts, grad); err != nil {
				t.Fatal(err)
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
			t.Errorf("%s: %d allocations in 200 evaluations", c.name, a)
		}
	}
}

func BenchmarkPairs(b *testing.B) {
	r := rng.New(5, "pairs")
	ts := &Tuples{}
	for i := range int32(128) {
		ts.Pairs = append(ts.Pairs, Pair{2 * i, 2*i + 1, i%2 == 0})
	}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		b.Run(c.name[:6], func(b *testing.B) {
			z := random(r, 256, 200, 0.02)
			grad := array.New(256, 200)
			l, err := c.make()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
