package factored

import (
	"context"
	"math"
	"testing"

	"tercet/internal/rng"
)

// Where clusters stand apart the trivial bound is the optimum: rounding must not put
// it above what Objective says.
func TestTrivialBoundIsNotAboveTheObjective(t *testing.T) {
	r := rng.New(2, "test/tight")
	for range 200 {
		n, d := 2+r.IntN(60), 1+r.IntN(9)
		tau, offset := 0.1+r.Float64(), 10*r.NormFloat64()
		x, truth := make([]float32, n*d), make([]int32, n)
		for i := range x {
			c := int32(i/d) * 3 / int32(n)
			truth[i/d] = c
			x[i] = float32(offset) + 3*float32(c) + float32(0.01*r.Float64())
		}
		f := mustGraph(t, x, n, d, tau, 1)
		bound, err := f.TrivialBound(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		low := bound.Value
		if !bound.Proves(f.Objective(truth)) {
			t.Errorf("n=%d d=%d tau=%v: the bound %v does not prove %v", n, d, tau, bound, f.Objective(truth))
		}
		if o := f.Objective(truth); low > o || low < o-1e-9*math.Abs(o)-1e-9 {
			t.Errorf("n=%d d=%d tau=%v: the bound is %v, the objective %v", n, d, tau, low, o)
		}
	}
}
