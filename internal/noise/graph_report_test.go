package noise

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/testutil"
)

// What a report says, counted by looking at all couples of images.
func TestReportByBruteForce(t *testing.T) {
	looked := 0
	for seed := range uint64(40) {
		k := 2 + int(seed%3)
		y := inTurn(10*k, k)
		seen, _ := flip(t, y, k, 0.2*float64(seed%2), seed)
		o := GraphOptions{Scenario: []string{Full, Sparse, Dense}[seed%3], Wrong: Coins(0.3), Seed: seed, Negatives: []string{SameIndex, RandomOne}[seed%2], Order: Shuffled}
		if o.Scenario != Full {
			o.Pairs = 8 * k
		}
		pairs, r, err := Graph(y, seen, k, o)
		if err != nil {
			continue // label noise left a class too small: TestGraphErrors
		}
		looked++
		clean := o
		clean.Wrong = Coins(0)
		var want record.PairGraph
		n := len(y)
		near := make([][]bool, n) // joined by similar pairs
		for i := range near {
			near[i] = make([]bool, n)
			near[i][i] = true
		}
		degree := make([]int, n)
		floor := 0
		for i := range n {
			for j := range i {
				s, d := 0, 0
				for _, p := range pairs {
					if int(p.I) == i && int(p.J) == j || int(p.I) == j && int(p.J) == i {
						if p.Similar {
							s++
							near[i][j], near[j][i] = true, true
						} else {
							d++
						}
					}
				}
				degree[i] += s + d
				degree[j] += s + d
				want.Similar += s
				want.Different += d
				floor += min(s, d)
				if s+d > 1 {
					want.Duplicates++
				}
				if s > 0 && d > 0 {
					want.Contradictions++
				}
				if y[i] == y[j] {
					want.WrongDifferent += d
				} else {
					want.WrongSimilar += s
				}
			}
		}
		for m := range n { // closure
			for i := range n {
				for j := range n {
					near[i][j] = near[i][j] || near[i][m] && near[m][j]
				}
			}
		}
		for _, p := range pairs {
			if !p.Similar && near[p.I][p.J] {
				want.InconsistentCycles++
			}
		}
		want.DegreeMin = math.MaxInt
		for _, d := range degree {
			if d > 0 {
				want.Images++
				want.DegreeMin, want.DegreeMax = min(want.DegreeMin, d), max(want.DegreeMax, d)
			}
		}
		want.Pairs = want.Similar + want.Different
		want.Wrong = want.WrongSimilar + want.WrongDifferent
		want.Effective = float64(want.Wrong) / float64(want.Pairs)
		want.FloorDuplicates = float64(floor) / float64(want.Pairs)
		want.DegreeMean = float64(2*want.Pairs) / float64(want.Images)
		want.Density = float64(2*want.Pairs) / float64(want.Images*(want.Images-1))
		want.Scenario, want.Negatives, want.Order, want.Q, want.Wanted = o.Scenario, o.Negatives, o.Order, 0.3, 0.15
		want.Nodes = n
		if o.Scenario == Dense {
			want.Nodes = o.Pairs / 2
		}
		// What pair noise did, and the couples that it came upon.
		if o.Scenario == Sparse {
			want.Flipped, want.Mirrored = r.Flipped, r.Mirrored // the selection depends on it
		} else {
			before, cr, err := Graph(y, seen, k, clean)
			if err != nil || cr.Flipped != 0 {
				t.Fatal(err)
			}
			for i := range pairs {
				if before[i].Similar != pairs[i].Similar {
					want.Flipped++
				}
				for j := range i {
					a, b := before[i], before[j]
					if !a.Similar && !b.Similar && (a.I == b.J && a.J == b.I || a.I == b.I && a.J == b.J) {
						want.Mirrored++ // at most two of a couple here
					}
				}
			}
		}
		if math.Abs(r.Density-want.Density) < 1e-15 {
			r.Density = want.Density
		}
		if r != want {
			t.Errorf("seed %d:\n%+v, want\n%+v", seed, r, want)
		}
		if nr := OfGraph(r); nr.Kind != "pln" || nr.Wanted != 0.15 || nr.Flipped != r.Flipped || nr.Items != r.Pairs || nr.Found != float64(r.Flipped)/float64(r.Pairs) || nr.EffectiveFound != r.Effective {
			t.Errorf("%+v", nr)
		}
	}
	if looked < 35 {
		t.Errorf("%d graphs looked at", looked)
	}
}

// The graphs of another program, with its counts.
func TestFloorOfFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/dibs_*.json")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			Pairs          [][3]int32
			Contradictions int `json:"contradictory_duplicates"`
			MinErrors      int `json:"min_errors"`
		}
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatal(err)
		}
		pairs := make([]batch.Pair, len(g.Pairs))
		for i, p := range g.Pairs {
			pairs[i] = batch.Pair{I: p[0], J: p[1], Similar: p[2] == 1}
		}
		if got := FloorDuplicates(pairs); got != g.Contradictions || got > g.MinErrors {
			t.Errorf("%s: %d, want %d of at least %d errors", f, got, g.Contradictions, g.MinErrors)
		}
	}
	if n := FloorDuplicates([]batch.Pair{pair(0, 1, true), pair(1, 0, false), pair(0, 1, true), pair(2, 1, true), pair(1, 2, false), pair(1, 2, false), pair(1, 2, true)}); n != 3 {
		t.Errorf("%d", n)
	}
	if n := FloorDuplicates(nil); n != 0 {
		t.Errorf("no pairs: %d", n)
	}
}

// The floors of the paper's Fig. 5.
func TestFloor(t *testing.T) {
	for i, want := range []float64{.045, .0225, .015, .01125, .009, .0075, .00643, .00563, .005} {
		testutil.Near(t, "floor", Floor(0.1, i+2), want, 5.1e-6)
	}
	for p, want := range map[float64]float64{.05: .00264, .1: .005, .15: .00708, .2: .00889, .25: .01042, .3: .01167} {
		testutil.Near(t, "floor", Floor(p, 10), want, 5.1e-6)
	}
	testutil.Near(t, "floor", Floor(0.2, 2), 0.08, 1e-15)
	for _, v := range []float64{Floor(0.1, 1), Floor(-1, 3), Floor(math.NaN(), 3)} {
		if !math.IsNaN(v) {
			t.Errorf("a floor of bad input: %v", v)
		}
	}
}

// reports are those of each of several draws of a graph.
func reports(t *testing.T, y, seen []int32, k int, o GraphOptions, draws int) []record.PairGraph {
	t.Helper()
	out := make([]record.PairGraph, draws)
	for d := range out {
		o.Draw = uint64(d)
		_, out[d] = graph(t, y, seen, k, o)
	}
	return out
}

// over is the mean of f over draws, and its standard error.
func over(draws []record.PairGraph, f func(record.PairGraph) float64) (mean, se float64) {
	var sum, square float64
	for _, r := range draws {
		v := f(r)
		sum += v
		square += v * v
	}
	n := float64(len(draws))
	mean = sum / n
	return mean, math.Sqrt((square/n - mean*mean) / (n - 1))
}

func duplicates(r record.PairGraph) float64 { return r.FloorDuplicates }

// The paper's size: 6000 pairs. Contradictory duplicates meet the expectation with
// same-index negatives at every number of classes and noise, and random ones have none;
// pair noise flips its share within binomial error over 20 draws.
func TestFloorsAtThePapersSize(t *testing.T) {
	draws := testutil.Trials(6, 20)
	for _, c := range []struct {
		k int
		p float64
	}{{10, 0.05}, {10, 0.1}, {10, 0.2}, {5, 0.1}, {3, 0.1}, {2, 0.1}, {2, 0.2}} {
		y := inTurn(9000, c.k)
		o := GraphOptions{Scenario: Dense, Pairs: 6000, Wrong: Coins(2 * c.p)}
		same := reports(t, y, y, c.k, o, draws)
		mean, se := over(same, duplicates)
		testutil.Near(t, "floor", mean, Floor(c.p, c.k), 4*se)
		t.Logf("%d classes, P = %v: duplicates floor %.5f, standard error %.5f, expected %.5f", c.k, c.p, mean, se, Floor(c.p, c.k))
		// Couples paired both ways: N_c K/(2(K-1)), 166.7 for ten classes.
		mean, se = over(same, func(r record.PairGraph) float64 { return float64(r.Mirrored) })
		testutil.Near(t, "mirrored", mean, 3000/(2*float64(c.k-1)), 4*se+1e-9)
		if c.k == 10 {
			t.Logf("   mirrored %.1f, standard error %.1f", mean, se)
		}
		mean, _ = over(same, func(r record.PairGraph) float64 { return float64(r.Wrong) })
		testutil.Near(t, "wrong", mean*float64(draws), c.p*6000*float64(draws), 4*math.Sqrt(c.p*(1-c.p)*6000*float64(draws)))
		o.Negatives = RandomOne
		if mean, _ = over(reports(t, y, y, c.k, o, draws), duplicates); mean > 0.0002 {
			t.Errorf("random negatives: a floor of %v", mean)
		}
	}
}

// Density and images of both scenarios at the paper's size, and the sparse floor: 5 % of
// the dense one.
func TestDensity(t *testing.T) {
	y := inTurn(60000, 10)
	_, r := graph(t, y, y, 10, GraphOptions{Scenario: Dense, Pairs: 6000})
	if r.Images != 3000 || math.Abs(r.Density-6000/4498500.0) > 1e-12 {
		t.Errorf("dense: %+v", r)
	}
	mean, se := over(reports(t, y, y, 10, GraphOptions{Scenario: Sparse, Pairs: 6000}, 6), func(r record.PairGraph) float64 { return float64(r.Images) })
	// An image is missed when none of its four pairs is taken, roughly 0.95^4.
	testutil.Near(t, "images", mean, 60000*(1-math.Pow(0.95, 4)), 150)
	t.Logf("sparse: %.0f images, standard error %.0f", mean, se)
	_, r = graph(t, y, y, 10, GraphOptions{Scenario: Sparse, Pairs: 6000})
	testutil.Near(t, "density", r.Density, 1e-4, 1e-5)
	mean, se = over(reports(t, inTurn(12000, 2), inTurn(12000, 2), 2, GraphOptions{Scenario: Sparse, Pairs: 1200, Wrong: Coins(0.4)}, 40), duplicates)
	testutil.Near(t, "sparse floor", mean, 0.05*Floor(0.2, 2), 4*se)
}

// Single-label noise: shuffled chains have the effective noise asked for, in both
// scenarios and directions; the paper's order has a third of it and less. The last
// values, with errors, are those of testdata/golden.py.
func TestSingleLabelNoiseInGraphs(t *testing.T) {
	const draws = 20
	for _, c := range []struct {
		k                      int
		pln                    float64
		same, random, sorterrs float64
	}{{10, 0.2, 0.0305, 0.0260, 0.0004}, {10, 0.4, 0.0521, 0.0363, 0.0007}, {3, 0.4, 0.0853, 0.0708, 0.0018}} {
		q, _ := SLNFromEffective(c.pln / 2)
		n := 300 * c.k
		y := inTurn(n, c.k)
		for _, v := range []struct {
			scenario, negatives, order string
			want, err                  float64
		}{
			{Dense, SameIndex, Shuffled, c.pln / 2, 0}, {Dense, RandomOne, Shuffled, c.pln / 2, 0}, {Sparse, SameIndex, Shuffled, c.pln / 2, 0},
			{Dense, SameIndex, PaperOrder, c.same, c.sorterrs}, {Dense, RandomOne, PaperOrder, c.random, c.sorterrs},
		} {
			var sum, square, similar, different float64
			for seed := range uint64(draws) {
				seen, _ := flip(t, y, c.k, SLNRate(q, c.k), seed)
				o := GraphOptions{Scenario: v.scenario, Negatives: v.negatives, Order: v.order, Pairs: 2 * n, Seed: seed}
				if v.scenario == Sparse {
					o.Pairs = n
				}
				_, r := graph(t, y, seen, c.k, o)
				sum += r.Effective
				square += r.Effective * r.Effective
				similar += float64(r.WrongSimilar) / float64(r.Similar) / draws
				different += float64(r.WrongDifferent) / float64(r.Different) / draws
			}
			mean := sum / draws
			se := math.Sqrt((square/draws - mean*mean) / (draws - 1))
			t.Logf("%d classes, q~ = %v, %s, %s, %s: P = %.4f, standard error %.4f", c.k, c.pln, v.scenario, v.negatives, v.order, mean, se)
			testutil.Near(t, "P", mean, v.want, 4*math.Hypot(se, v.err))
			if v.order == Shuffled {
				testutil.Near(t, "wrong of similar", similar, c.pln*float64(c.k-1)/float64(c.k), 0.01)
				testutil.Near(t, "wrong of different", different, c.pln/float64(c.k), 0.01)
			}
		}
	}
}
