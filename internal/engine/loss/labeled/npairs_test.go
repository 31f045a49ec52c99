package labeled

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// Many classes by products of matrices have the value and gradient of plain float64 loops,
// and so have rows that are too long for them.
func TestManyPairsAreLoops(t *testing.T) {
	t.Parallel()
	const classes, dim = manyPairs + 5, 100
	for _, length := range []float64{0.1, 1, 2.5, 40} {
		r := rng.New(5, "pairs")
		z, given := array.New(3*classes+1, dim), &loss.Tuples{}
		for i := range 3 * classes {
			given.Labels = append(given.Labels, int32(i%classes))
		}
		given.Labels = append(given.Labels, classes) // has one row
		for i := range z.Data {
			z.Data[i] = float32(length * r.NormFloat64())
		}
		objective, err := NPairsDefaults().New()
		if err != nil {
			t.Fatal(err)
		}
		l, grad := objective.(*NPairsLoss), z.Clone()
		res, err := l.Eval(z, given, grad)
		if err != nil {
			t.Fatal(err)
		}
		if multiplied := l.q.products != nil; multiplied != (length < 3) {
			t.Errorf("length %v: by products: %v", length, multiplied)
		}
		dot := func(a, b int) (sum float64) {
			for k := range dim {
				sum += float64(z.Row(a)[k]) * float64(z.Row(b)[k])
			}
			return sum
		}
		value, want := 0.0, make([]float64, len(z.Data))
		add := func(row, of int, w float64) {
			for k := range dim {
				want[row*dim+k] += w * float64(z.Row(of)[k]) / classes
			}
		}
		for i := range classes {
			others := 0.0
			for j := range classes {
				if j != i {
					others += math.Exp(dot(i, classes+j) - dot(i, classes+i))
				}
			}
			value += (math.Log1p(others) + 0.02/4*(dot(i, i)+dot(classes+i, classes+i))) / classes
			for j := range classes {
				w := -others / (1 + others)
				if j != i {
					w = math.Exp(dot(i, classes+j)-dot(i, classes+i)) / (1 + others)
				}
				add(i, classes+j, w)
				add(classes+j, i, w)
			}
			add(i, i, 0.02/2)
			add(classes+i, classes+i, 0.02/2)
		}
		if length == 40 { // the exponentials of plain loops overflow; this is what the test of extreme lengths is for
			if math.IsNaN(res.Loss) || res.Tuples != classes {
				t.Errorf("long rows: %+v", res)
			}
			continue
		}
		if math.Abs(res.Loss/value-1) > 1e-6 || res.Tuples != classes {
			t.Errorf("length %v: %v of %d, want %v", length, res.Loss, res.Tuples, value)
		}
		largest, worst := 0.0, 0.0
		for k, w := range want {
			largest = max(largest, math.Abs(w))
			worst = max(worst, math.Abs(w-float64(grad.Data[k])))
		}
		if t.Logf("length %v: gradient within %.1e of the largest", length, worst/largest); worst > 1e-5*largest {
			t.Errorf("length %v: gradient differs by %v, largest %v", length, worst, largest)
		}
	}
}
