package attack

import (
	"fmt"
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

func init() {
	describe := func(name string, up bool, doc, goal string, robust Direction) Attack {
		return Attack{
			Name: name, Doc: doc, Goal: goal, Targets: "m candidates, then up to 5 images p whose rank is to stay",
			Objective: "objective of " + name[2:] + " + xi * mean over p, x of max(0, d(z, p) - d(z, x))",
			Source:    "Zhou et al., ECCV 2020; robrank",
			Scores: []Score{
				{Key: name, Unit: Fraction, Robust: robust, Panel: keptPanel},
				// The attacker wants these ranks to stay: they carry no information on robustness.
				{Key: name + ":GT", Unit: Fraction, Robust: Neither, Panel: keptPanel},
			},
			Options: []Option{M, XiFixed, XiScale, Draws},
			Refuses: map[Option]string{Pure: "what it preserves are ranks; use QA"},
			New: func(g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
				return newSPQA(name, up, g, v, o)
			},
		}
	}
	register(
		describe("SPQA+", true, "QA+ that keeps the ranks of the query's nearest items",
			"have the target image retrieved first, the others as before", Higher),
		describe("SPQA-", false, "QA- that keeps the ranks of the query's nearest items",
			"have the target image retrieved last, the others as before", Lower))
}

const (
	// protectedItems is fixed because of the small classes of SOP.
	protectedItems = 5
	// largestXi caps the adaptive weight.
	largestXi = 1e9
)

// spqa is the semantics-preserving query attack (Zhou et al., ECCV 2020; robrank):
// QA with xi times the QA+ objective of up to five items P that shall stay first.
// SPQA+ protects the five items nearest to the clean query; SPQA- the first of its
// nearest 1 % that were not drawn as candidates: fewer than five, and at least one,
// in galleries of less than 100 (m + 5) images. The second score is the mean rank
// of P.
//
// The adaptive xi is a constant for the gradient. The published one is that of the
// mean of L over the queries crafted together, the fixed one of each query's own.
type spqa struct{ qa }

func newSPQA(name string, up bool, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
	if !(o.Xi.Scale >= 0) || !(o.Xi.Weight >= 0) || math.IsInf(o.Xi.Scale, 0) || math.IsInf(o.Xi.Weight, 0) {
		return nil, fmt.Errorf("attack %s: xi has scale %v and weight %v; both must be finite and not negative", name, o.Xi.Scale, o.Xi.Weight)
	}
	if o.Xi.Weight > largestXi {
		return nil, fmt.Errorf("attack %s: xi is %v; the largest is %v", name, o.Xi.Weight, float64(largestXi))
	}
	q, err := newQA(name, up, g, v, o)
	if err != nil {
		return nil, err
	}
	n := g.Len()
	from := n - 1
	if !up {
		from = onePercent(n) - q.goal.m
	}
	if up && from < protectedItems {
		return nil, retrieval.Unfit("attack %s: it protects %d items, but a gallery of %d images has %d others than the query", name, protectedItems, n, from)
	}
	if from < 1 {
		return nil, tooMany(name, "m", q.goal.m, from+q.goal.m-1, fmt.Sprintf("candidates and one to protect, among the nearest 1 %% of %d images", n))
	}
	q.goal.shield = min(protectedItems, from)
	q.goal.xi = weighing{scale: o.Xi.Scale, weight: o.Xi.Weight, together: v == Published}
	if o.Xi.Weight == 0 {
		q.goal.xi.weight = 1
		if !up {
			q.goal.xi.weight = 100
		}
	}
	return &spqa{*q}, nil
}

func (q *spqa) Kind() string {
	if q.goal.xi.scale > 0 && q.goal.xi.together {
		return q.name + ":together"
	}
	return q.name
}

func (q *spqa) Scores() []string { return []string{q.name, q.name + ":GT"} }

func (q *spqa) Score(z, _ *array.Array, out [][]float64) { q.score(z, out) }

// weighing chooses xi.
type weighing struct {
	scale, weight float64 // as Xi's
	together      bool    // by the mean of L
}

// weigh replaces each query's L by its xi.
func (w weighing) weigh(l []float64) {
	mean := 0.0
	for _, v := range l {
		mean += v / float64(len(l))
	}
	for i, v := range l {
		switch {
		case w.scale == 0:
			l[i] = w.weight
			continue
		case w.together:
			v = mean
		}
		l[i] = min(math.Exp(w.scale*v), largestXi)
	}
}
