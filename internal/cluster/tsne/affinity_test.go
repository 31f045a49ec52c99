package tsne

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/testutil"
)

// golden is testdata/tsne.json: scikit-learn 1.2.1, see testdata/scripts/tsne_golden.py.
type golden struct {
	Rows, Cols int
	Perplexity float64
	X          []float32
	PRows      []int `json:"p_rows"`
	Dense      [][]float64
	Sparse     [][]float64
	Y          []float64
	KL         float64
	Gradient   []float64
	End        map[string]float64
	Trust      struct {
		Rows   int
		X, Y   []float32
		Values map[string]float64
	}
}

func readGolden(t *testing.T) *golden {
	t.Helper()
	g := &golden{}
	testutil.ReadJSON(t, "testdata/tsne.json", g)
	return g
}

func perplexityOf(p []float64) float64 {
	entropy := 0.0
	for _, v := range p {
		if v > 0 {
			entropy -= v * math.Log(v)
		}
	}
	return math.Exp(entropy)
}

// Each row has the perplexity and is a normal density in the distance.
func TestConditional(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for trial := range 300 {
		n := 3 + r.IntN(120)
		d2, p := make([]float64, n), make([]float64, n)
		unit := math.Pow(10, float64(r.IntN(40)-20))
		for j := range d2 {
			d2[j] = unit * (float64(trial%3)*1000 + math.Pow(r.Float64(), float64(1+trial%5)))
		}
		want := 1.2 + r.Float64()*(float64(n)-1.4)
		conditional(d2, want, p)
		sum := 0.0
		for _, v := range p {
			sum += v
		}
		if got := perplexityOf(p); !testutil.WithinMixed(got, want, 1e-6) || !testutil.WithinMixed(sum, 1, 1e-12) {
			t.Fatalf("trial %d: perplexity %v of %d neighbors, want %v; sum %v", trial, got, n, want, sum)
		}
		// log p is linear in d^2: the same slope through any three.
		a, b, c := 0, n/2, n-1
		if p[a] > 1e-200 && p[b] > 1e-200 && p[c] > 1e-200 {
			one := math.Log(p[a]/p[b]) * (d2[c] - d2[a])
			two := math.Log(p[a]/p[c]) * (d2[b] - d2[a])
			if math.Abs(one-two) > 1e-6*(math.Abs(one)+math.Abs(two)+unit*1e-6) {
				t.Errorf("trial %d: log p is not linear in d^2", trial)
			}
		}
	}
}

func TestConditionalOfTies(t *testing.T) {
	for _, c := range []struct {
		d2         []float64
		perplexity float64
		want       []float64
	}{
		{[]float64{4}, 1, []float64{1}},
		{[]float64{0, 0, 0, 0}, 2, []float64{.25, .25, .25, .25}},  // all equal
		{[]float64{7, 7, 7, 7}, 30, []float64{.25, .25, .25, .25}}, // too few
		{[]float64{1, 2, 3}, 3, []float64{1. / 3, 1. / 3, 1. / 3}},
		{[]float64{5, 0, 0, 9}, 2, []float64{0, .5, .5, 0}}, // as many as the perplexity
		{[]float64{5, 0, 0, 0}, 2, []float64{0, 1. / 3, 1. / 3, 1. / 3}},
		{[]float64{1, 2, 3}, 1, []float64{1, 0, 0}},
	} {
		p := make([]float64, len(c.d2))
		conditional(c.d2, c.perplexity, p)
		for j := range p {
			if !testutil.WithinMixed(p[j], c.want[j], 1e-9) {
				t.Errorf("%v at perplexity %v: %v, want %v", c.d2, c.perplexity, p, c.want)
				break
			}
		}
	}
}

// scikit-learn finds the widths to 1e-5 of the entropy, in float32.
func TestAffinitiesAgainstScikitLearn(t *testing.T) {
	g := readGolden(t)
	e, err := newExact(context.Background(), g.X, g.Rows, g.Cols, g.Perplexity)
	if err != nil {
		t.Fatal(err)
	}
	a, err := nearAffinities(context.Background(), g.X, g.Rows, g.Cols, g.Perplexity)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range g.PRows {
		sparse := make([]float64, g.Rows)
		for at := a.start[i]; at < a.start[i+1]; at++ {
			sparse[a.to[at]] = float64(a.p[at])
		}
		for j := range g.Rows {
			if got, want := float64(e.p[i*g.Rows+j]), g.Dense[k][j]; math.Abs(got-want) > 1e-4*want+1e-9 {
				t.Errorf("p of %d and %d: %v, want %v", i, j, got, want)
			}
			if got, want := sparse[j], g.Sparse[k][j]; math.Abs(got-want) > 1e-4*want+1e-9 {
				t.Errorf("p of %d and %d among neighbors: %v, want %v", i, j, got, want)
			}
		}
	}
	y := make([]point, g.Rows)
	for i := range y {
		y[i] = point{g.Y[2*i], g.Y[2*i+1]}
	}
	attract, repel, z := e.at(y)
	if got := e.divergence(y, z); !testutil.WithinMixed(got, g.KL, 1e-5) {
		t.Errorf("KL %v, want %v", got, g.KL)
	}
	for i := range y {
		for axis, got := range []float64{4 * (attract[i].x - repel[i].x/z), 4 * (attract[i].y - repel[i].y/z)} {
			if want := g.Gradient[2*i+axis]; math.Abs(got-want) > 1e-6 {
				t.Errorf("gradient of %d: %v, want %v", i, got, want)
			}
		}
	}
}

func TestSymmetric(t *testing.T) {
	a := few(t, 200, 7)
	sum := 0.0
	for i := range a.n {
		row := a.to[a.start[i]:a.start[i+1]]
		if !slices.IsSorted(row) || slices.Contains(row, int32(i)) || len(row) < 22 {
			t.Fatalf("row %d: %v", i, row)
		}
		for e := a.start[i]; e < a.start[i+1]; e++ {
			sum += float64(a.p[e])
			j := int(a.to[e])
			back, ok := slices.BinarySearch(a.to[a.start[j]:a.start[j+1]], int32(i))
			if !ok || a.p[a.start[j]+back] != a.p[e] {
				t.Fatalf("p of %d and %d is %v one way", i, j, a.p[e])
			}
		}
	}
	if !testutil.WithinMixed(sum, 1, 1e-6) {
		t.Errorf("P sums to %v", sum)
	}
}
