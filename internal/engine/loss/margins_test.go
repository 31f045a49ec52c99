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

// marginCase is one configuration of L2 or L3.
type marginCase struct {
	name        string // L2, L3 or pairs
	alpha, beta float64
	reduce      Reduction
}

func marginCases() []marginCase {
	var out []marginCase
	for _, name := range []string{"L2", "L3", "pairs"} {
		for _, m := range [][2]float64{{1, 0.5}, {0.3, 0.1}, {4, 0.01}} {
			for _, r := range Reductions() {
				out = append(out, marginCase{name, m[0], m[1], r})
			}
		}
	}
	return out
}

func (c marginCase) build(t *testing.T) Objective {
	t.Helper()
	var l Objective
	var err error
	switch c.name {
	case "L2":
		l, err = NewCapped(CappedOptions{c.alpha, c.beta, c.reduce})
	case "L3":
		l, err = NewThreshold(ThresholdOptions{c.alpha, c.beta, c.reduce, ByTriplets})
	case "pairs":
		l, err = NewThreshold(ThresholdOptions{c.alpha, c.beta, c.reduce, ByPairs})
	default:
		o := TripletDefaults()
		o.Distance, o.Margin, o.Reduce = Squared, c.alpha, c.reduce
		l, err = NewTriplet(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// hinge is one term max(0, border + sum sign d^2(i, j)) of a loss, and its pairs.
type hinge struct {
	border float64
	pairs  []struct {
		i, j int32
		sign float64
	}
}

func (h hinge) and(i, j int32, sign float64) hinge {
	h.pairs = append(h.pairs[:len(h.pairs):len(h.pairs)], struct {
		i, j int32
		sign float64
	}{i, j, sign})
	return h
}

// terms writes the loss of each tuple as hinges, from the paper's formulas.
func (c marginCase) terms(t *Tuples) [][]hinge {
	var out [][]hinge
	if c.name == "pairs" {
		for _, p := range t.Pairs {
			if p.Similar {
				out = append(out, []hinge{hinge{border: -c.beta}.and(p.I, p.J, 1)})
			} else {
				out = append(out, []hinge{hinge{border: c.alpha}.and(p.I, p.J, -1)})
			}
		}
		return out
	}
	for _, x := range t.Triplets {
		negative := hinge{border: c.alpha}.and(x.A, x.N, -1)
		if c.name == "L2" {
			negative = negative.and(x.A, x.P, 1)
		}
		out = append(out, []hinge{negative, hinge{border: -c.beta}.and(x.A, x.P, 1)})
	}
	return out
}

func square(x, y []float64) float64 {
	s := 0.0
	for k := range x {
		s += (x[k] - y[k]) * (x[k] - y[k])
	}
	return s
}

// oracle evaluates the loss and its gradient in plain float64.
func (c marginCase) oracle(z [][]float64, t *Tuples) (value float64, tuples, positive int, grad [][]float64) {
	grad = make([][]float64, len(z))
	for i := range grad {
		grad[i] = make([]float64, len(z[i]))
	}
	terms := c.terms(t)
	for _, tuple := range terms {
		sum := 0.0
		for _, h := range tuple {
			v := h.border
			for _, p := range h.pairs {
				v += p.sign * square(z[p.i], z[p.j])
			}
			if v <= 0 {
				continue
			}
			sum += v
			for _, p := range h.pairs {
				for k := range z[p.i] {
					d := 2 * p.sign * (z[p.i][k] - z[p.j][k])
					grad[p.i][k] += d
					grad[p.j][k] -= d
				}
			}
		}
		value += sum
		if sum > 0 {
			positive++
		}
	}
	scale := 1.0
	switch c.reduce {
	case Mean:
		scale = 1 / float64(max(len(terms), 1))
	case MeanNonzero:
		scale = 1 / float64(max(positive, 1))
	}
	for i := range grad {
		for k := range grad[i] {
			grad[i][k] *= scale
		}
	}
	return scale * value, len(terms), positive, grad
}

func compare(t *testing.T, what string, grad *array.Array, want [][]float64) {
	t.Helper()
	for i := range want {
		for k, w := range want[i] {
			if g := float64(grad.Row(i)[k]); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
				t.Fatalf("%s: grad[%d][%d] = %v, want %v", what, i, k, g, w)
			}
		}
	}
}

func TestMarginLossesAgainstExplicitLoops(t *testing.T) {
	r := rng.New(1, "margins")
	for _, c := range marginCases() {
		l := c.build(t)
		for _, s := range []struct{ rows, cols, n int }{{4, 1, 7}, {12, 3, 40}, {9, 70, 25}, {3, 129, 1}, {20, 9, 60}, {7, 300, 200}, {40, 5, 12}} {
			what := fmt.Sprintf("%+v %+v", c, s)
			z := random(r, s.rows, s.cols, 0.5/math.Sqrt(float64(s.cols)))
			copy(z.Row(1), z.Row(0)) // identical points
			ts := &Tuples{Triplets: randomTriplets(r, s.rows, s.n), Pairs: randomPairs(r, s.rows, s.n)}
			value, tuples, positive, want := c.oracle(rowsOf(z), ts)
			grad := array.New(s.rows, s.cols)
			for i := range grad.Data {
				grad.Data[i] = 99 // must be overwritten
			}
			got, err := l.Eval(z, ts, grad)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Loss-value) > 1e-12*(1+value) || got.Tuples != tuples || c.name != "pairs" && got.Active != positive {
				t.Fatalf("%s: %+v, want loss %v of %d tuples, %d positive", what, got, value, tuples, positive)
			}
			compare(t, what, grad, want)
			if alone, err := l.Eval(z, ts, nil); err != nil || alone != got {
				t.Fatalf("%s: without gradient %+v, with %+v (%v)", what, alone, got, err)
			}
		}
	}
}

// Central differences of the loss itself, at points away from every kink.
func TestMarginLossesByFiniteDifferences(t *testing.T) {
	const rows, cols, h = 8, 5, 1.0 / 1024
	r := rng.New(2, "margins")
	for _, c := range marginCases() {
		z := random(r, rows, cols, 0.4)
		x := rowsOf(z)
		ts := &Tuples{}
		away := func(one *Tuples) bool {
			for _, tuple := range c.terms(one) {
				for _, h := range tuple {
					v := h.border
					for _, p := range h.pairs {
						v += p.sign * square(x[p.i], x[p.j])
					}
					if math.Abs(v) < 0.02 {
						return false
					}
				}
			}
			return true
		}
		for _, one := range randomTriplets(r, rows, 60) {
			if away(&Tuples{Triplets: []Triplet{one}}) {
				ts.Triplets = append(ts.Triplets, one)
			}
		}
		for _, one := range randomPairs(r, rows, 60) {
			if away(&Tuples{Pairs: []Pair{one}}) {
				ts.Pairs = append(ts.Pairs, one)
			}
		}
		l := c.build(t)
		grad := array.New(rows, cols)
		if res, err := l.Eval(z, ts, grad); err != nil || res.Active == 0 {
			t.Fatal(res, err)
		}
		for i := range z.Data {
			old := z.Data[i]
			at := func(v float32) float64 {
				z.Data[i] = v
				res, err := l.Eval(z, ts, nil)
				if err != nil {
					t.Fatal(err)
				}
				return res.Loss
			}
			up, down := old+h, old-h
			want := (at(up) - at(down)) / (float64(up) - float64(down))
			z.Data[i] = old
			if got := float64(grad.Data[i]); math.Abs(got-want) > 2e-5*(1+math.Abs(want)) {
				t.Fatalf("%+v: gradient %d is %v, differences give %v", c, i, got, want)
			}
		}
	}
}

// The three losses of one triplet at alpha 1, beta 0.5: a at 0, p and n on a line.
func TestMarginLossesByHand(t *testing.T) {
	for _, c := range []struct {
		ap, an     float64 // squared distances
		l1, l2, l3 float64
		active     [3]int
	}{
		{0.25, 4, 0, 0, 0, [3]int{0, 0, 0}},       // apart
		{0.25, 1, 0.25, 0.25, 0, [3]int{1, 1, 0}}, // L1 wants a gap, L3 has its border
		{0.25, 0.25, 1, 1, 0.75, [3]int{1, 1, 1}}, // negative as near as the positive
		{0.0625, 0.5625, .5, .5, .4375, [3]int{1, 1, 1}},
		{1, 4, 0, 0.5, 0.5, [3]int{0, 1, 1}},         // a gap is there, the class is too wide
		{4, 0.25, 4.75, 8.25, 4.25, [3]int{1, 1, 1}}, // both wrong
		{2.25, 2.25, 1, 2.75, 1.75, [3]int{1, 1, 1}}, // far from both
		{0, 0, 1, 1, 1, [3]int{1, 1, 1}},             // collapsed: alpha
		{9, 16, 0, 8.5, 8.5, [3]int{0, 1, 1}},
	} {
		z, err := array.Of([]float32{0, float32(math.Sqrt(c.ap)), -float32(math.Sqrt(c.an))}, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{c.l1, c.l2, c.l3} {
			name := []string{"L1", "L2", "L3"}[i]
			res, err := marginCase{name, 1, 0.5, Sum}.build(t).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}}}, nil)
			if err != nil || res != (Result{want, 1, c.active[i], c.ap, c.an}) {
				t.Errorf("%s at %v, %v: %+v (%v), want %v", name, c.ap, c.an, res, err, want)
			}
		}
		// By pairs: the positive term and the negative one.
		pairs := &Tuples{Pairs: []Pair{{0, 1, true}, {2, 0, false}}}
		res, err := marginCase{"pairs", 1, 0.5, Sum}.build(t).Eval(z, pairs, nil)
		if err != nil || res.Loss != c.l3 || res.Tuples != 2 || res.Positive != c.ap || res.Negative != c.an {
			t.Errorf("pairs at %v, %v: %+v (%v), want %v", c.ap, c.an, res, err, c.l3)
		}
	}
}

// Golden: testdata/scripts/margin_loss_golden.py, PyTorch 1.13.1. The triplets are
// many for their batch, and few for one padded with rows that none uses.
func TestMarginLossesAgainstPyTorch(t *testing.T) {
	raw, err := os.ReadFile("testdata/margins.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Rows, Cols int
		Z          []float32
		Labels     []int
		Triplets   [][3]int32
		Cases      []struct {
			Loss        string
			Alpha, Beta float64
			Reduce      Reduction
			Value       float64
			Gradient    []float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	var ts Tuples
	for _, x := range golden.Triplets {
		ts.Triplets = append(ts.Triplets, Triplet{x[0], x[1], x[2]})
	}
	for i, a := range golden.Labels {
		for j, b := range golden.Labels[:i] {
			ts.Pairs = append(ts.Pairs, Pair{int32(j), int32(i), a == b})
		}
	}
	for _, rows := range []int{golden.Rows, 40} {
		z := array.New(rows, golden.Cols)
		copy(z.Data, golden.Z)
		for _, c := range golden.Cases {
			once := 1.0
			if c.Loss == "pairs" {
				once = 0.5 // there each pair stands in both orders
			}
			grad := array.New(rows, golden.Cols)
			res, err := marginCase{c.Loss, c.Alpha, c.Beta, c.Reduce}.build(t).Eval(z, &ts, grad)
			if want := once * c.Value; err != nil || math.Abs(res.Loss-want) > 1e-11*(1+want) {
				t.Errorf("%s %v %v %s: %+v (%v), PyTorch gives %v", c.Loss, c.Alpha, c.Beta, c.Reduce, res, err, want)
			}
			for i, g := range grad.Data {
				w := 0.0
				if i < len(c.Gradient) {
					w = once * c.Gradient[i]
				}
				if math.Abs(float64(g)-w) > 1e-6*(1+math.Abs(w)) {
					t.Errorf("%s %v %v %s: gradient %d is %v, PyTorch gives %v", c.Loss, c.Alpha, c.Beta, c.Reduce, i, g, w)
				}
			}
		}
	}
	if len(golden.Cases) != 30 {
		t.Errorf("%d cases", len(golden.Cases))
	}
}

// At loss 0 of L2 and L3, tau separates positives from negatives; the gap of L1 is
// met by classes of any width.
func TestThresholdSeparates(t *testing.T) {
	for _, c := range marginCases() {
		th, ok := c.build(t).(Thresholder)
		if want := math.Sqrt((c.alpha + c.beta) / 2); !ok || math.Abs(th.Threshold()-want) > 1e-15 {
			t.Errorf("%+v: threshold, want %v", c, want)
		}
	}
	z, err := array.Of([]float32{0, 0.7, 1.75, 0, 3, 6}, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	ts := &Tuples{Triplets: []Triplet{{0, 1, 2}, {3, 4, 5}}}
	for name, want := range map[string]float64{"L1": 0, "L2": 8.5, "L3": 8.5} {
		if res, err := (marginCase{name, 1, 0.5, Sum}).build(t).Eval(z, ts, nil); err != nil || math.Abs(res.Loss-want) > 1e-6 {
			t.Errorf("%s: %+v (%v), want %v", name, res, err, want)
		}
	}
	if _, ok := (marginCase{name: "L1", alpha: 1, reduce: Sum}).build(t).(Thresholder); ok {
		t.Error("L1 has a threshold")
	}
	cosine, err := NewCosine(CosineDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := any(cosine).(Thresholder); ok {
		t.Error("the threshold of the cosine loss is no distance")
	}
}

func TestMarginsOfMarginLosses(t *testing.T) {
	if m := (marginCase{"L2", 1, 0.25, Mean}).build(t).Margin(); m != 1 {
		t.Errorf("L2: %v", m)
	}
	if m := (marginCase{"L3", 1, 0.25, Mean}).build(t).Margin(); m != 0.75 {
		t.Errorf("L3: %v", m)
	}
}

func TestMarginLossesNothingToDo(t *testing.T) {
	for _, c := range marginCases() {
		l := c.build(t)
		other := &Tuples{Pairs: []Pair{{0, 1, true}}} // not what it works on
		if c.name == "pairs" {
			other = &Tuples{Triplets: []Triplet{{0, 1, 2}}}
		}
		z := random(rng.New(3, "margins"), 4, 3, 1)
		grad := z.Clone()
		res, err := l.Eval(z, other, grad)
		if err != nil || res != (Result{}) {
			t.Fatalf("%+v: %+v, %v", c, res, err)
		}
		// Satisfied: positives coincide, negatives are far away.
		far, _ := array.Of([]float32{0, 0, 9}, 3, 1)
		fine := &Tuples{Triplets: []Triplet{{0, 1, 2}, {1, 0, 2}}, Pairs: []Pair{{0, 1, true}, {0, 2, false}}}
		pull := far.Clone()
		if res, err := l.Eval(far, fine, pull); err != nil || res.Loss != 0 || res.Active != 0 || res.Tuples != 2 {
			t.Fatalf("%+v: %+v, %v", c, res, err)
		}
		for _, v := range append(grad.Data, pull.Data...) {
			if v != 0 {
				t.Fatalf("%+v: gradient is not zero", c)
			}
		}
		if res, err = l.Eval(array.New(0, 3), &Tuples{}, array.New(0, 3)); err != nil || res != (Result{}) {
			t.Fatalf("%+v: no rows: %+v, %v", c, res, err)
		}
	}
}

func TestMarginLossErrors(t *testing.T) {
	z := array.New(2, 3)
	nan := array.New(2, 3)
	nan.Row(1)[2] = float32(math.NaN())
	for _, c := range marginCases() {
		l := c.build(t)
		for _, bad := range []struct {
			name string
			z    *array.Array
			grad *array.Array
			far  int32
			want string
		}{
			{"index", z, nil, 2, "row 2 is outside the batch of 2"},
			{"negative index", z, nil, -1, "row -1 is outside"},
			{"gradient shape", z, array.New(3, 2), 1, "gradient is [3 2], want [2 3]"},
			{"rank", array.New(2, 3, 1, 1), nil, 1, "embeddings is [2 3 1 1]"},
			{"NaN", nan, nil, 1, "of the batch are NaN apart"},
		} {
			for _, times := range []int{1, 20} { // few and many
				ts := &Tuples{}
				for range times {
					ts.Triplets = append(ts.Triplets, Triplet{0, 0, bad.far})
					ts.Pairs = append(ts.Pairs, Pair{0, bad.far, false})
				}
				_, err := l.Eval(bad.z, ts, bad.grad)
				if err == nil || !strings.Contains(err.Error(), bad.want) || (bad.name == "NaN") != errors.Is(err, ErrNonFinite) {
					t.Errorf("%+v %s: %v, want %q", c, bad.name, err, bad.want)
				}
			}
		}
	}
	inf, none := math.Inf(1), math.NaN()
	for _, m := range [][2]float64{{0.5, 0.5}, {0.4, 0.5}, {1, 0}, {1, -1}, {inf, 1}, {none, 1}, {1, none}, {inf, inf}, {0, -1}} {
		if _, err := NewCapped(CappedOptions{m[0], m[1], Mean}); err == nil {
			t.Errorf("capped: %v accepted", m)
		}
		if _, err := NewThreshold(ThresholdOptions{m[0], m[1], Mean, ByPairs}); err == nil {
			t.Errorf("threshold: %v accepted", m)
		}
	}
	if _, err := NewCapped(CappedOptions{1, 0.5, "max"}); err == nil {
		t.Error("reduction max accepted")
	}
	if _, err := NewThreshold(ThresholdOptions{1, 0.5, Mean, "all"}); err == nil || !strings.Contains(err.Error(), "triplets, pairs") {
		t.Error(err)
	}
}

// allPairs lists each pair of a batch of that many rows in the given number of
// classes.
func allPairs(rows, classes int) []Pair {
	var out []Pair
	for i := range rows {
		for j := range i {
			out = append(out, Pair{int32(j), int32(i), i%classes == j%classes})
		}
	}
	return out
}

func TestMarginLossesSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(4, "margins")
	z := random(r, 40, 200, 0.1)
	for name, ts := range map[string]*Tuples{
		"few":  {Triplets: randomTriplets(r, 40, 300), Pairs: randomPairs(r, 40, 300)},
		"many": {Triplets: allTriplets(40, 4), Pairs: allPairs(40, 4)},
	} {
		for _, c := range marginCases() {
			var want string
			for _, threads := range []int{1, 3} {
				par.SetThreads(threads)
				grad := array.New(40, 200)
				res, err := c.build(t).Eval(z, ts, grad)
				if err != nil {
					t.Fatal(err)
				}
				s := fmt.Sprintf("%x %x", math.Float64bits(res.Loss), grad.Data)
				if want == "" {
					want = s
				}
				if s != want {
					t.Fatalf("%+v, %s: %d threads give other bits", c, name, threads)
				}
			}
		}
	}
}

func TestMarginLossesAllocateNothing(t *testing.T) {
	r := rng.New(5, "margins")
	z := random(r, 32, 128, 0.1)
	grad := array.New(32, 128)
	few := &Tuples{Triplets: randomTriplets(r, 32, 64), Pairs: randomPairs(r, 32, 64)}
	many := &Tuples{Triplets: allTriplets(32, 4), Pairs: allPairs(32, 4)}
	for _, name := range []string{"L2", "L3", "pairs"} {
		l := marginCase{name, 1, 0.5, Mean}.build(t)
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
			t.Fatalf("%s: %d allocations in 200 evaluations", name, a)
		}
	}
}

func BenchmarkMarginLosses(b *testing.B) {
	const rows, classes = 128, 10
	z := random(rng.New(5, "margins"), rows, 128, 0.05)
	grad := array.New(rows, 128)
	ts := &Tuples{Triplets: allTriplets(rows, classes), Pairs: allPairs(rows, classes)}
	triplets, _ := NewThreshold(ThresholdDefaults())
	pairs, _ := NewThreshold(ThresholdOptions{1, 0.5, Sum, ByPairs})
	capped, _ := NewCapped(CappedDefaults())
	for name, l := range map[string]Objective{"capped-batch-all": capped, "threshold-batch-all": triplets, "threshold-pairs": pairs} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
