package noise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/record"
)

// inTurn is n labels of k classes in turn, as mixed data have them.
func inTurn(n, k int) []int32 {
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(i % k)
	}
	return y
}

func pair(i, j int32, similar bool) batch.Pair { return batch.Pair{I: i, J: j, Similar: similar} }

func graph(t *testing.T, truth, seen []int32, k int, o GraphOptions) ([]batch.Pair, record.PairGraph) {
	t.Helper()
	if o.Negatives == "" {
		o.Negatives = SameIndex
	}
	if o.Order == "" {
		o.Order = Shuffled
	}
	a, b := slices.Clone(truth), slices.Clone(seen)
	pairs, r, err := Graph(truth, seen, k, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, truth) || !slices.Equal(b, seen) {
		t.Fatal("the labels were changed")
	}
	return pairs, r
}

// Each class is one closed chain, and each image begins one different pair: at its own
// place of another chain, or anywhere.
func TestChains(t *testing.T) {
	const n, k = 120, 4
	y := inTurn(n, k)
	for _, negatives := range []string{SameIndex, RandomOne} {
		for _, o := range []GraphOptions{{Scenario: Full}, {Scenario: Dense, Pairs: 160}, {Scenario: Dense, Pairs: 2 * n}, {Scenario: Full, Order: PaperOrder}} {
			o.Negatives = negatives
			pairs, r := graph(t, y, y, k, o)
			want := 2 * n
			if o.Pairs > 0 {
				want = o.Pairs
			}
			if len(pairs) != want || r.Nodes != want/2 || r.Images != r.Nodes || r.Similar != want/2 || r.Different != want/2 || r.Wrong != 0 || r.DegreeMean != 4 {
				t.Fatalf("%+v: %+v", o, r)
			}
			next := map[int32]int32{}
			for i, p := range pairs {
				if p.Similar != (i%2 == 0) || p.Similar != (y[p.I] == y[p.J]) {
					t.Fatalf("pair %d is %+v", i, p)
				}
				if p.Similar {
					next[p.I] = p.J
				}
			}
			place := map[int32]int{} // of each image in its chain
			for c := range int32(k) {
				var first int32 = -1
				for _, p := range pairs {
					if y[p.I] == c {
						first = p.I
						break
					}
				}
				at := first
				for len(place) < (int(c)+1)*want/2/k {
					place[at] = len(place) % (want / 2 / k)
					at = next[at]
				}
				if at != first {
					t.Fatalf("%+v: the chain of class %d is not closed", o, c)
				}
			}
			if len(place) != want/2 {
				t.Fatalf("%+v: %d images in chains", o, len(place))
			}
			same := 0
			for i := 1; i < len(pairs); i += 2 {
				if pairs[i].I != pairs[i-1].I {
					t.Fatalf("pair %d begins elsewhere", i)
				}
				if place[pairs[i].I] == place[pairs[i].J] {
					same++
				}
			}
			if negatives == SameIndex && same != want/2 || negatives == RandomOne && same > want/8 {
				t.Errorf("%+v: %d of %d different pairs are at one place", o, same, want/2)
			}
			if o.Order == PaperOrder && (pairs[0].I != 0 || pairs[0].J != k) {
				t.Errorf("%+v begins with %+v", o, pairs[0])
			}
		}
	}
}

// Two images of a class are paired both ways; a place beyond the other chain wraps.
func TestShortAndUnequalChains(t *testing.T) {
	y := []int32{0, 0, 1, 1, 1, 1, 1}
	pairs, r := graph(t, y, y, 2, GraphOptions{Scenario: Full, Order: PaperOrder})
	want := []batch.Pair{
		pair(0, 1, true), pair(0, 2, false), pair(1, 0, true), pair(1, 3, false),
		pair(2, 3, true), pair(2, 0, false), pair(3, 4, true), pair(3, 1, false), pair(4, 5, true), pair(4, 0, false),
		pair(5, 6, true), pair(5, 1, false), pair(6, 2, true), pair(6, 0, false),
	}
	if !slices.Equal(pairs, want) {
		t.Errorf("%v", pairs)
	}
	if r.Duplicates != 3 || r.Mirrored != 2 || r.Contradictions != 0 || r.FloorDuplicates != 0 || r.DegreeMin != 3 || r.DegreeMax != 6 {
		t.Errorf("%+v", r)
	}
}

// The classes of different pairs: all others equally often, the first and the last too
// (chi-squared, five deviations).
func TestPartnersAreUniform(t *testing.T) {
	const n, k = 20000, 5
	y := inTurn(n, k)
	pairs, _ := graph(t, y, y, k, GraphOptions{Scenario: Full, Negatives: RandomOne})
	var count [k][k]float64
	for _, p := range pairs {
		if !p.Similar {
			count[y[p.I]][y[p.J]]++
		}
	}
	chi, want := 0.0, n/k/float64(k-1)
	for a := range k {
		for b := range k {
			if a != b {
				chi += math.Pow(count[a][b]-want, 2) / want
			}
		}
	}
	if df := float64(k * (k - 2)); chi > df+5*math.Sqrt(2*df) {
		t.Errorf("chi-squared %v of %v degrees: %v", chi, df, count)
	}
}

// The reduced set is balanced by the true classes and drawn without replacement; what
// does not divide goes to the first classes.
func TestReducedSet(t *testing.T) {
	y := truth(900, 7)
	seen, _ := flip(t, y, 7, 0.2, 1)
	_, r := graph(t, y, seen, 7, GraphOptions{Scenario: Dense, Pairs: 600})
	if r.Pairs != 600 || r.Nodes != 300 || r.Images != 300 {
		t.Errorf("%+v", r)
	}
	pairs, _ := graph(t, y, seen, 7, GraphOptions{Scenario: Dense, Pairs: 600, Draw: 3})
	count := map[int32]int{}
	met := map[int32]bool{}
	for _, p := range pairs {
		if !met[p.I] {
			count[y[p.I]]++
		}
		met[p.I] = true
	}
	for c := range int32(7) {
		want := 42
		if c < 300%7 {
			want++
		}
		if count[c] != want {
			t.Errorf("%d images of class %d, want %d", count[c], c, want)
		}
	}
}

// Noise changes labels only; draws differ; one seed is one graph.
func TestStreamsOfGraphs(t *testing.T) {
	y := inTurn(400, 4)
	o := GraphOptions{Scenario: Dense, Pairs: 400, Seed: 5}
	clean, _ := graph(t, y, y, 4, o)
	again, _ := graph(t, y, y, 4, o)
	if !slices.Equal(clean, again) {
		t.Error("one seed gives two graphs")
	}
	o.Wrong = Coins(0.3)
	low, rl := graph(t, y, y, 4, o)
	o.Wrong = Coins(0.8)
	high, rh := graph(t, y, y, 4, o)
	if rl.Flipped == 0 || rh.Flipped <= rl.Flipped {
		t.Errorf("%d and %d flipped", rl.Flipped, rh.Flipped)
	}
	for i := range clean {
		if clean[i].I != low[i].I || clean[i].J != low[i].J || low[i].I != high[i].I || low[i].J != high[i].J {
			t.Fatalf("pair %d is another one with noise", i)
		}
		if low[i].Similar != clean[i].Similar && high[i].Similar != low[i].Similar {
			t.Fatalf("pair %d: noise does not nest", i)
		}
	}
	for name, other := range map[string]GraphOptions{"seed": {Scenario: Dense, Pairs: 400, Seed: 6}, "draw": {Scenario: Dense, Pairs: 400, Seed: 5, Draw: 1}} {
		if pairs, _ := graph(t, y, y, 4, other); slices.Equal(pairs, clean) {
			t.Errorf("another %s, the same graph", name)
		}
	}
}

// Sparse pairs are half similar by label, also with noise, are taken once each, and are
// pairs of the full graph.
func TestSparseSelection(t *testing.T) {
	y := inTurn(500, 5)
	seen, _ := flip(t, y, 5, 0.3, 2)
	o := GraphOptions{Scenario: Full, Wrong: Coins(0.4), Seed: 2}
	all, _ := graph(t, y, seen, 5, o)
	left := map[batch.Pair]int{}
	for _, p := range all {
		left[p]++
	}
	o.Scenario, o.Pairs = Sparse, 600
	pairs, r := graph(t, y, seen, 5, o)
	for _, p := range pairs {
		if left[p]--; left[p] < 0 {
			t.Fatalf("%+v is taken too often", p)
		}
	}
	if len(pairs) != 600 || r.Similar != 300 || r.Different != 300 || r.Nodes != 500 {
		t.Errorf("%+v", r)
	}
}

func TestGraphErrors(t *testing.T) {
	y := inTurn(40, 4)
	alone := append(inTurn(39, 3), 3)
	lost := slices.Clone(y) // class 2 is empty, but for one
	for i := range lost {
		if lost[i] == 2 && i > 5 {
			lost[i] = 0
		}
	}
	ok := GraphOptions{Scenario: Dense, Pairs: 40, Negatives: SameIndex, Order: Shuffled}
	for _, c := range []struct {
		change      func(*GraphOptions)
		truth, seen []int32
		k           int
		want        string
	}{
		{func(o *GraphOptions) { o.Scenario = "s3" }, y, y, 4, `scenario "s3"; want full, s1 or s2`},
		{func(o *GraphOptions) { o.Negatives = "" }, y, y, 4, `negatives ""; want same-index or random`},
		{func(o *GraphOptions) { o.Order = "sorted" }, y, y, 4, `order "sorted"; want shuffled or paper`},
		{func(o *GraphOptions) { o.Pairs = 41 }, y, y, 4, "41 pairs; want an even number"},
		{func(o *GraphOptions) { o.Pairs = 0 }, y, y, 4, "0 pairs; scenario s2 needs 2 or more"},
		{func(o *GraphOptions) { o.Pairs = -2 }, y, y, 4, "-2 pairs"},
		{func(o *GraphOptions) { o.Pairs = 100 }, y, y, 4, "reduced set of 50 images, and there are 40; ask for at most 80 pairs"},
		{func(o *GraphOptions) { o.Pairs = 8 }, y, y, 4, "8 pairs of 4 classes take 1 image of class 0, and a chain needs two; ask for at least 16 pairs"},
		{func(o *GraphOptions) { o.Pairs = 40 }, alone, alone, 4, "take 5 images of class 3, which has 1"},
		{func(o *GraphOptions) { o.Scenario = Full }, y, y, 4, "40 pairs requested, but scenario full makes all 80 of 40 images"},
		{func(o *GraphOptions) { o.Scenario, o.Pairs = Full, 0 }, alone, alone, 4, "class 3 has 1 of the 40 images; a chain needs two"},
		{func(o *GraphOptions) { o.Scenario, o.Pairs = Full, 0 }, y, lost, 4, "class 2 has 1 of the 40 images after label noise, and 10 before; a chain needs two"},
		{func(o *GraphOptions) { o.Scenario, o.Pairs = Sparse, 40 }, y, make([]int32, 40), 4, "class 1 has 0 of the 40 images after label noise, and 10 before"},
		{func(o *GraphOptions) { o.Scenario, o.Pairs = Sparse, 82 }, y, y, 4, "82 pairs are 41 of each label, and of 80 pairs only 40 are labeled different; ask for at most 80"},
		{func(o *GraphOptions) { o.Wrong = Coins(2.2) }, y, y, 4, "noise on similar pairs is 1.1, want a number from 0 to 1"},
		{func(o *GraphOptions) { o.Wrong = Coins(math.NaN()) }, y, y, 4, "noise on similar pairs is NaN"},
		{func(o *GraphOptions) {}, make([]int32, 40), make([]int32, 40), 1, "1 class; different pairs need two"},
		{func(o *GraphOptions) {}, y, y[:39], 4, "39 labels with noise, 40 without"},
		{func(o *GraphOptions) {}, y, y, 3, "item 3 has label 3; there are 3 classes"},
		{func(o *GraphOptions) {}, make([]int32, 40), y, 3, "labels with noise: item 3 has label 3"},
		{func(o *GraphOptions) {}, nil, nil, 4, "there are 0"},
		{func(o *GraphOptions) { o.Scenario, o.Pairs = Full, 0 }, nil, nil, 4, "class 0 has 0 of the 0 images"},
	} {
		o := ok
		c.change(&o)
		if _, _, err := Graph(c.truth, c.seen, c.k, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: %v", c.want, err)
		}
	}
}
