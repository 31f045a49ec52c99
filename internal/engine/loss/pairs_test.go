package loss

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
	"tercet/internal/testutil"
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
	}
}

func pairCases() []pairCase {
	var list []pairCase
	for _, r := range everyReduction() {
		for _, m := range []float64{0.3, 1, 5} {
			for _, eps := range []float64{0, 1e-6} {
				list = append(list, contrastiveCase(ContrastiveOptions{m, r, eps}))
			}
		}
		for _, m := range []float64{-0.5, 0, 0.5, 0.9} {
			for _, eps := range []float64{0, 1e-12} {
				for _, s := range []Similarity{Cosine, CosineOfCosine} {
					list = append(list, cosineCase(CosineOptions{m, s, r, eps}))
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

// Golden: testdata/scripts/pair_loss_golden.py, PyTorch 1.13.1.
func TestPairLossesAgainstPyTorch(t *testing.T) {
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
	testutil.ReadJSON(t, "testdata/pairs.json", &golden)
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
