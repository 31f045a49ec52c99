package loss

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/testutil"
)

func TestRobustErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		set  func(o *RobustOptions)
		want string
	}{
		{func(o *RobustOptions) { o.Distance = "cosine" }, `distance unknown value "cosine"`},
		{func(o *RobustOptions) { o.Form = "eq4" }, `form unknown value "eq4"; valid: backward, expected, odd, sigmoid`},
		{func(o *RobustOptions) { o.Form = "" }, `form unknown value ""`},
		{func(o *RobustOptions) { o.Reduce = "max" }, `reducer unknown value "max"`},
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
}

// Golden: testdata/scripts/robust_loss_golden.py, PyTorch 1.13.1. The triplets are
// many for their batch, and few for one padded with rows that none uses.
func TestRobustAgainstPyTorch(t *testing.T) {
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
	testutil.ReadJSON(t, "testdata/robust.json", &golden)
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
