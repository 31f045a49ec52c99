package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// Golden: testdata/scripts/multi_similarity_golden.py, plain loops in float64 with
// exact gradients. What every loss must do is tested by losstest.
func TestMultiSimilarityGolden(t *testing.T) {
	t.Parallel()
	var golden struct {
		Cases []struct {
			Name    string
			Options struct {
				Alpha, Beta, Base, Epsilon float64
				Reducer                    Reduction
				Variant                    Variant
			}
			Rows     [][]float32
			Labels   []int
			Loss     float64
			Active   int
			Gradient []float64
		}
	}
	testutil.ReadJSON(t, "testdata/multi_similarity.json", &golden)
	for _, c := range golden.Cases {
		o := c.Options
		l, err := NewMultiSimilarity(MultiSimilarityOptions{o.Alpha, o.Beta, o.Base, o.Epsilon, o.Reducer, o.Variant})
		if err != nil {
			t.Fatal(err)
		}
		z := array.New(len(c.Rows), len(c.Rows[0]))
		var pairs []Pair
		for i, row := range c.Rows {
			copy(z.Row(i), row)
			for j := range i {
				pairs = append(pairs, Pair{int32(j), int32(i), c.Labels[i] == c.Labels[j]})
			}
		}
		grad := array.New(z.Shape...)
		res, err := l.Eval(z, &Tuples{Pairs: pairs}, grad)
		if err != nil || math.Abs(res.Loss-c.Loss) > 1e-12*(1+c.Loss) || res.Active != c.Active || res.Tuples != len(pairs) {
			t.Errorf("%s: %+v (%v), want loss %v, %d active of %d", c.Name, res, err, c.Loss, c.Active, len(pairs))
		}
		for k, want := range c.Gradient {
			if got := float64(grad.Data[k]); math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%s: gradient %d is %v, want %v", c.Name, k, got, want)
			}
		}
	}
}

// A wide exponent neither overflows nor vanishes: with beta 1000 the loss of a
// negative is its distance to base.
func TestMultiSimilarityWide(t *testing.T) {
	t.Parallel()
	l, err := NewMultiSimilarity(MultiSimilarityOptions{Alpha: 1000, Beta: 1000, Base: -1, Epsilon: 2.5, Reduce: Sum, Variant: Paper})
	if err != nil {
		t.Fatal(err)
	}
	z := array.New(3, 2)
	copy(z.Data, []float32{1, 0, 0.6, 0.8, 1, 0})
	res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, false}, {0, 2, true}, {1, 2, false}}}, nil)
	// Rows 0 and 2: 0.6 + 1 of their negative; row 1 has no positive.
	if err != nil || math.Abs(res.Loss-2*1.6) > 1e-6 {
		t.Errorf("%+v (%v), want 3.2", res, err)
	}
}

// Many pairs of many rows, which go through matrix products, cost what the list of them does.
func TestMultiSimilarityTable(t *testing.T) {
	t.Parallel()
	const rows, dim = manyRows + 9, 20
	r := rng.New(5, "multi-similarity")
	z := array.New(rows, dim)
	for i := range z.Data {
		z.Data[i] = float32(r.NormFloat64() + 2*float64(i/dim%7*(i%dim)%5)) // 7 classes
	}
	clear(z.Row(3))
	copy(z.Row(18), z.Row(4))
	var pairs []Pair
	for i := range int32(rows) {
		for j := range i {
			if (i+j)%11 > 0 { // some are left out
				pairs = append(pairs, Pair{j, i, (i%7 == j%7) != ((i+j)%13 == 0)}) // some are wrong
			}
		}
	}
	for _, o := range []MultiSimilarityOptions{MultiSimilarityDefaults(), {2, 40, 0.3, 2.5, Sum, Paper}, {900, 900, -0.5, 0.2, MeanNonzero, Paper}, {2, 40, 0.5, 0.1, Mean, Published}} {
		l, err := NewMultiSimilarity(o)
		if err != nil {
			t.Fatal(err)
		}
		listed, tabled := z.Clone(), z.Clone()
		want, err := l.listed(z, pairs, listed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Eval(z, &Tuples{Pairs: pairs}, tabled)
		if err != nil || l.t.Rows != rows {
			t.Fatalf("%d rows in the table: %v", l.t.Rows, err)
		}
		far := func(a, b float64) bool { return math.Abs(a-b) > 1e-5*(1e-3+math.Abs(b)) }
		if far(got.Loss, want.Loss) || far(got.Positive, want.Positive) || far(got.Negative, want.Negative) || got.Tuples != want.Tuples || got.Active > want.Active || o.Alpha < 100 && got.Active < want.Active { // large exponents vanish in float32
			t.Errorf("%+v: %+v, want %+v", o, got, want)
		}
		largest := 0.0
		for _, g := range listed.Data {
			largest = max(largest, math.Abs(float64(g)))
		}
		for k, g := range listed.Data {
			if math.Abs(float64(tabled.Data[k]-g)) > 3e-5*largest {
				t.Fatalf("%+v: gradient %d is %v, want %v (largest %v)", o, k, tabled.Data[k], g, largest)
			}
		}
	}
}
