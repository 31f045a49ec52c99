package noise

import (
	"math"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// Of balanced pairs, the shares that are right under each label are beta and gamma, within
// five standard deviations: by counting labels, and by Bayes' rule with other numbers.
func TestWrongOf(t *testing.T) {
	t.Parallel()
	const n = 200000
	for _, c := range [][2]float64{{0.8, 0.95}, {0.95, 0.8}, {1, 0.6}, {0.6, 1}, {0.9, 0.9}, {1, 1}} {
		w, err := wrongOf(c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		beta := (1 - w.Similar) / (1 - w.Similar + w.Different)
		gamma := (1 - w.Different) / (1 - w.Different + w.Similar)
		testutil.Near(t, "beta by Bayes' rule", beta, c[0], 1e-12)
		testutil.Near(t, "gamma by Bayes' rule", gamma, c[1], 1e-12)
		pairs := make([]batch.Pair, n)
		for i := range pairs {
			pairs[i].Similar = i%2 == 0
		}
		flipped := FlipPairs(pairs, w, rng.New(1, "test"))
		var labeled, right [2]float64
		for i, p := range pairs {
			truth := i%2 == 0
			if flipped[i] != (p.Similar != truth) {
				t.Fatalf("pair %d: flipped %v, label %v, truth %v", i, flipped[i], p.Similar, truth)
			}
			labeled[is(p.Similar)]++
			right[is(p.Similar)] += float64(is(p.Similar == truth))
		}
		for label, want := range map[int]float64{1: c[0], 0: c[1]} {
			got := right[label] / labeled[label]
			if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/labeled[label])+1e-12 {
				t.Errorf("beta %v, gamma %v: of label %d a share %v is right", c[0], c[1], label, got)
			}
		}
	}
	for _, c := range [][2]float64{{0.5, 0.9}, {0.9, 0.5}, {1.1, 0.9}, {math.NaN(), 0.9}, {0.9, math.NaN()}} {
		if _, err := wrongOf(c[0], c[1]); err == nil {
			t.Errorf("beta %v, gamma %v: no error", c[0], c[1])
		}
	}
}

// What is wrong at one probability is wrong at every higher one, below and above 1/2.
func TestFlipsAreNested(t *testing.T) {
	t.Parallel()
	var before []bool
	for _, p := range []float64{0, 0.1, 0.4, 0.6, 0.9, 1} {
		pairs := make([]batch.Pair, 1000)
		flipped := FlipPairs(pairs, WrongPairs{Different: p}, rng.New(2, "test"))
		count := 0
		for i, f := range flipped {
			count += is(f)
			if before != nil && before[i] && !f {
				t.Fatalf("pair %d is wrong at less than %v and not at it", i, p)
			}
		}
		if got := float64(count) / 1000; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/1000) {
			t.Errorf("a share %v is wrong, want %v", got, p)
		}
		before = flipped
	}
}

// pln with beta and gamma gives them in a pair graph, sparse and dense, and in triplets.
func TestPairNoiseByLabel(t *testing.T) {
	t.Parallel()
	const beta, gamma = 0.75, 0.95
	y := inTurn(6000, 10)
	k := PairKeys{Beta: new(beta), Gamma: new(gamma)}
	in := Drawing{Truth: y, Seen: y, Classes: 10, Noise: k, Seed: 5}
	for _, scenario := range []string{Sparse, Dense} {
		_, r, err := PairGraph{Scenario: scenario, Pairs: 6000, Negatives: SameIndex, Order: Shuffled}.Draw(in)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string][3]float64{
			"similar":   {float64(r.WrongSimilar), float64(r.Similar), 1 - beta},
			"different": {float64(r.WrongDifferent), float64(r.Different), 1 - gamma},
		} {
			testutil.Near(t, scenario+", wrong among pairs labeled "+name, c[0]/c[1], c[2], 5*math.Sqrt(c[2]*(1-c[2])/c[1]))
		}
	}
	_, r, err := TripletList{Triplets: 40000}.Draw(in)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := k.TripletWeights(10)
	nearWeights(t, "triplets", r.Weights, w, 5*0.5/math.Sqrt(40000))
	testutil.Near(t, "target", r.Wanted, (2-beta-gamma)/2, 1e-12)
}

// beta without gamma, and both with another amount, are refused.
func TestPairKeysAskForOneAmount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys PairKeys
		ok   bool
	}{
		"beta alone":  {PairKeys{Beta: new(0.9)}, false},
		"gamma alone": {PairKeys{Gamma: new(0.9)}, false},
		"with q":      {PairKeys{Beta: new(0.9), Gamma: new(0.9), Q: new(0.1)}, false},
		"both":        {PairKeys{Beta: new(0.9), Gamma: new(0.8)}, true},
		"effective":   {PairKeys{Effective: new(0.1)}, true},
		"none":        {PairKeys{}, false},
	} {
		if got := len(c.keys.Check()) == 0; got != c.ok {
			t.Errorf("%s: accepted %v", name, got)
		}
	}
}
