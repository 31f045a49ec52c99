package certify

import (
	"context"
	"math"
	"testing"

	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// Radii of the limits: all of 1000 and of 100 votes (Cohen et al.'s formula, worked out by
// hand), half of them, and none.
func TestVoteRadius(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		k, n int
		want float64
	}{{1000, 1000, 2.463}, {100, 100, 1.500}, {10, 10, 0.00298}, {9, 9, 0}, {500, 1000, 0}, {0, 100, 0}} {
		o := VoteOptions{Sigma: 2, Samples: tc.n, Alpha: .001}
		if got := o.radius(tc.k); math.Abs(got-2*tc.want) > 1e-3 {
			t.Errorf("%d of %d: %v, want %v", tc.k, tc.n, got, 2*tc.want)
		}
	}
}

// The identity with two rows is a half space: the exact radius is the distance of its
// border. Votes certify that up to sampling, and not more.
func TestVoteOfAHalfSpace(t *testing.T) {
	t.Parallel()
	p := points{x: [][]float32{{.4, .5}, {.3, .5}, {.7, .5}, {.55, .5}}}
	labels := []int32{0, 0, 1, 1}
	m := identity(t, 2)
	g := embedded(t, m, p, labels)
	o := VoteOptions{Options: Options{Eps: []float64{0, .01, .02, .5}, Queries: []int{0}}, Sigma: .05, Samples: 4000, Alpha: .001, Seed: 1}
	res, err := Votes(context.Background(), m, p, g, o)
	if err != nil {
		t.Fatal(err)
	}
	const exact = .025 // from .4 to the middle of .3 and .55
	if r := res.Radii[0]; !res.Right[0] || r > exact || r < .8*exact {
		t.Errorf("radius %v, exact %v", r, exact)
	}
	for k, want := range []bool{true, true, res.Radii[0] >= .02, false} {
		if res.Certified[k][0] != want {
			t.Errorf("eps %v: certified %v", o.Eps[k], res.Certified[k][0])
		}
	}
}

// The share of radii beyond the exact one is at most alpha.
func TestVoteIsSeldomTooLarge(t *testing.T) {
	t.Parallel()
	p := points{x: [][]float32{{.4, .5}, {.3, .5}, {.55, .5}}}
	m := identity(t, 2)
	g := embedded(t, m, p, []int32{0, 0, 1})
	beyond, n := 0, 300
	for seed := range n {
		o := VoteOptions{Options: Options{Queries: []int{0}}, Sigma: .05, Samples: 200, Alpha: .1, Seed: uint64(seed)}
		res, err := Votes(context.Background(), m, p, g, o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Radii[0] > .025 {
			beyond++
		}
	}
	if most := .1*float64(n) + 3*math.Sqrt(.09*float64(n)); float64(beyond) > most || beyond < 5 {
		t.Errorf("%d of %d radii are too large at alpha 0.1", beyond, n)
	}
}

// A query on the wrong side is not certified, and draws depend neither on the other
// queries nor on threads.
func TestVoteDraws(t *testing.T) {
	p, labels := groups(40, 8, 4)
	m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: true}, 8)
	g := embedded(t, m, p, labels)
	run := func(threads int, queries ...int) *Result {
		defer par.SetThreads(0)
		par.SetThreads(threads)
		res, err := Votes(context.Background(), m, p, g, VoteOptions{Options: Options{Queries: queries}, Sigma: .05, Samples: 600, Alpha: .001})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	one, two := run(1, 3, 9, 17, 20), run(2, 20, 9, 3)
	some := false
	for i, j := range map[int]int{0: 2, 1: 1, 3: 0} {
		some = some || one.Radii[i] > 0
		if one.Radii[i] != two.Radii[j] {
			t.Errorf("query %d: radius %v and %v", i, one.Radii[i], two.Radii[j])
		}
	}
	if !some {
		t.Error("no query is certified")
	}
	wrong := points{x: [][]float32{{.9, .5}, {.3, .5}, {.9, .6}}}
	res, err := Votes(context.Background(), identity(t, 2), wrong, embedded(t, identity(t, 2), wrong, []int32{0, 0, 1}), VoteOptions{Options: Options{Eps: []float64{0}, Queries: []int{0}}, Sigma: .05, Samples: 100, Alpha: .001})
	if err != nil || res.Right[0] || res.Radii[0] != 0 || res.Certified[0][0] {
		t.Errorf("%+v, %v", res, err)
	}
}
