package loss

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
	"tercet/internal/testutil"
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
			for _, r := range everyReduction() {
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

// Golden: testdata/scripts/margin_loss_golden.py, PyTorch 1.13.1. The triplets are
// many for their batch, and few for one padded with rows that none uses.
func TestMarginLossesAgainstPyTorch(t *testing.T) {
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
	testutil.ReadJSON(t, "testdata/margins.json", &golden)
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
