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

func TestRobustNothingToDo(t *testing.T) {
	eachRobust(func(o RobustOptions) {
		z := random(rng.New(4, "robust"), 4, 3, 1)
		grad := z.Clone()
		res, err := makeRobust(t, o).Eval(z, &Tuples{}, grad)
		if err != nil || res != (Result{}) {
			t.Fatalf("no triplets: %+v, %v", res, err)
		}
		for _, v := range grad.Data {
			if v != 0 {
				t.Fatal("no triplets: gradient is not zero")
			}
		}
	})
}

func TestRobustErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		set  func(o *RobustOptions)
		want string
	}{
		{func(o *RobustOptions) { o.Distance = "cosine" }, `distance there is no "cosine" here`},
		{func(o *RobustOptions) { o.Form = "eq4" }, `form there is no "eq4" here; valid: backward, expected, odd, sigmoid`},
		{func(o *RobustOptions) { o.Form = "" }, `form there is no ""`},
		{func(o *RobustOptions) { o.Reduce = "max" }, `reducer there is no "max" here`},
		{func(o *RobustOptions) { o.Margin = -1 }, "margin must be >=0, is -1"},
		{func(o *RobustOptions) { o.Margin = nan }, "margin must be >=0, is NaN"},
		{func(o *RobustOptions) { o.Margin = inf }, "margin must be finite and >=0, is +Inf"},
		{func(o *RobustOptions) { o.Eps = -1 }, "eps must be >=0, is -1"},
		{func(o *RobustOptions) { o.Eps = nan }, "eps must be >=0, is NaN"},
		{func(o *RobustOptions) { o.Form, o.Temperature = RobustSigmoid, 0 }, "temperature must be >0, is 0"},
		{func(o *RobustOptions) { o.Form, o.Temperature = RobustSigmoid, nan }, "temperature must be >0, is NaN"},
		{func(o *RobustOptions) { o.Form, o.Temperature = RobustSigmoid, inf }, "temperature must be finite and >0, is +Inf"},
		{func(o *RobustOptions) { o.Form, o.Temperature = RobustSigmoid, 1e-7 }, "temperature must be from 1e-6 to 1e6"},
		{func(o *RobustOptions) { o.W1 = nan }, "w1 is NaN"},
		{func(o *RobustOptions) { o.W2 = nan }, "w2 is NaN"},
		{func(o *RobustOptions) { o.W2 = -0.1 }, "w2 is -0.1, want the probabilities"},
		{func(o *RobustOptions) { o.W1, o.W2 = 0.9, 0.2 }, "together <= 1"},
		{func(o *RobustOptions) { o.W1 = 1.5 }, "together <= 1"},
		{func(o *RobustOptions) { o.W1, o.W2 = 0.25, 0.25 }, "beta + gamma - 1"},
		{func(o *RobustOptions) { o.W1, o.W2 = 0, 0 }, "beta + gamma - 1"},
		{func(o *RobustOptions) { o.W1, o.W2 = 0.2, 0.4 }, "w1 is 0.2 and w2 is 0.4: their difference"},
		{func(o *RobustOptions) { beta := 0.9; gamma := 1 - beta; o.W1, o.W2 = beta*gamma, (1-beta)*(1-gamma) }, "beta + gamma - 1"},
	} {
		o := RobustDefaults()
		c.set(&o)
		if _, err := NewRobust(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", o, err, c.want)
		}
	}
	o := RobustDefaults()
	l := makeRobust(t, o)
	broken := array.New(2, 3)
	broken.Row(1)[2] = float32(nan)
	for _, c := range []struct {
		z, grad *array.Array
		n       int32
		want    string
	}{
		{array.New(2, 3), nil, 2, "triplet 0 (a 0, p 1, n 2): row 2 is outside the batch of 2"},
		{array.New(2, 3), nil, -1, "row -1 is outside"},
		{array.New(2, 3), array.New(3, 2), 0, "gradient is [3 2], want [2 3]"},
		{array.New(2, 3, 1, 1), nil, 0, "embeddings is [2 3 1 1]"},
		{broken, nil, 0, "rows 0 and 1 of the batch are NaN apart"},
	} {
		for _, n := range []int{1, 100} { // few and many
			ts := make([]Triplet, n)
			for i := range ts {
				ts[i] = Triplet{0, 1, c.n}
			}
			_, err := l.Eval(c.z, &Tuples{Triplets: ts}, c.grad)
			if err == nil || c.z != broken && !strings.Contains(err.Error(), c.want) || (c.z == broken) != errors.Is(err, ErrNonFinite) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	}
}

// Few and many triplets, and few of many rows, agree and have the same bits for any
// number of threads.
func TestRobustSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(5, "robust")
	z := random(r, 40, 200, 0.1)
	for _, form := range everyForm() {
		for name, list := range map[string][]Triplet{"few": randomTriplets(r, 40, 300), "many": randomTriplets(r, 40, 900), "all": allTriplets(40, 4)} {
			var want string
			for _, threads := range []int{1, 2, 3} {
				par.SetThreads(threads)
				o := RobustDefaults()
				o.Form, o.W1, o.W2 = form, 0.8, 0.1
				grad := array.New(40, 200)
				res, err := makeRobust(t, o).Eval(z, &Tuples{Triplets: list}, grad)
				if err != nil {
					t.Fatal(err)
				}
				s := fmt.Sprintf("%x %x", math.Float64bits(res.Loss), grad.Data)
				if want == "" {
					want = s
				}
				if s != want {
					t.Fatalf("%s, %s triplets: %d threads give other bits", form, name, threads)
				}
			}
		}
	}
}

func TestRobustAllocatesNothing(t *testing.T) {
	r := rng.New(6, "robust")
	z := random(r, 32, 128, 0.1)
	grad := array.New(32, 128)
	few, many := &Tuples{Triplets: randomTriplets(r, 32, 64)}, &Tuples{Triplets: allTriplets(32, 4)}
	for _, form := range everyForm() {
		o := RobustDefaults()
		o.Form = form
		l := makeRobust(t, o)
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
		for range 100 {
			step()
		}
		runtime.ReadMemStats(&after)
		if a := after.Mallocs - before.Mallocs; a > 50 { // a worker that lags keeps a job: some
			t.Fatalf("%s: %d allocations in 100 evaluations", form, a)
		}
	}
}

// Golden: testdata/scripts/robust_loss_golden.py, PyTorch 1.13.1. The triplets are
// many for their batch, and few for one padded with rows that none uses.
func TestRobustAgainstPyTorch(t *testing.T) {
	raw, err := os.ReadFile("testdata/robust.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Rows, Cols int
		Z          []float32
		Triplets   [][3]int32
		Cases      []struct {
			Form                       RobustForm
			Distance                   Distance
			Alpha, W1, W2, Temperature float64
			Normalize                  bool
			Reduce                     Reduction
			Value                      float64
			Active                     int
			Gradient                   []float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	var ts Tuples
	for _, x := range golden.Triplets {
		ts.Triplets = append(ts.Triplets, Triplet{x[0], x[1], x[2]})
	}
	for _, rows := range []int{golden.Rows, 60} {
		if crowded(2*len(ts.Triplets), rows) != (rows == golden.Rows) {
			t.Fatal("both batches take one way")
		}
		z := array.New(rows, golden.Cols)
		copy(z.Data, golden.Z)
		for _, c := range golden.Cases {
			o := RobustOptions{Margin: c.Alpha, Distance: c.Distance, Form: c.Form, W1: c.W1, W2: c.W2, Temperature: c.Temperature, Rescale: c.Normalize, Reduce: c.Reduce, Eps: 1e-6}
			grad := array.New(rows, golden.Cols)
			res, err := makeRobust(t, o).Eval(z, &ts, grad)
			if err != nil || math.Abs(res.Loss-c.Value) > 1e-10*(1+math.Abs(c.Value)) || res.Active != c.Active {
				t.Errorf("%+v: %+v (%v), PyTorch gives %v and %d active", o, res, err, c.Value, c.Active)
			}
			for i, g := range grad.Data {
				w := 0.0
				if i < len(c.Gradient) {
					w = c.Gradient[i]
				}
				if math.Abs(float64(g)-w) > 1e-6*(1+math.Abs(w)) {
					t.Errorf("%+v: gradient %d is %v, PyTorch gives %v", o, i, g, w)
				}
			}
		}
	}
	if len(golden.Cases) != 26 {
		t.Errorf("%d cases", len(golden.Cases))
	}
}
