package attack

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

func init() {
	describe := func(name string, up bool, doc, goal, objective string, robust Direction, options ...Option) Attack {
		return Attack{
			Name: name, Doc: doc, Goal: goal, Objective: objective, Targets: "m candidates c",
			Source:  "Zhou et al., ECCV 2020; robrank",
			Scores:  []Score{{Key: name, Unit: Fraction, Robust: robust, Panel: rankPanel}},
			Options: append(options, M, Pure, Draws),
			New: func(g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
				return newQA(name, up, g, v, o)
			},
		}
	}
	register(
		describe("QA+", true, "raise candidates in the ranking of a perturbed query",
			"have the target image retrieved first",
			"mean over c, x of max(0, d(z, c) - d(z, x))", Higher, Near),
		describe("QA-", false, "lower candidates in the ranking of a perturbed query",
			"have the target image retrieved last",
			"mean over c, x of max(0, d(z, x) - d(z, c))", Lower))
}

// qa is the query attack (Zhou et al., ECCV 2020; robrank): a query q is perturbed
// so that m candidates c rank higher (QA+) or lower (QA-) among all items x. The
// objective is the mean of max(0, d(q, c) - d(q, x)) over c and x, or of max(0,
// d(q, x) - d(q, c)). Candidates of QA+ are drawn from the whole gallery with
// replacement, or with Near from positions 1 % to 5 % of the clean ranking; those
// of QA- without replacement from its nearest 1 %.
//
// The score is the mean rank of the candidates, as a fraction of the number of
// items: of all, the query itself among them, as published; fixed ranks leave
// that out.
//
// It is also the frame of SPQA.
type qa struct {
	draws
	goal hinged
	near bool

	batch   *Batch
	permute []int
	scored  scoring
}

func newQA(name string, up bool, g *retrieval.Gallery, v Variant, o MethodOptions) (*qa, error) {
	m := max(1, o.M)
	if m > g.Len() {
		return nil, tooMany(name, "m", m, g.Len(), "images in the gallery")
	}
	if k := onePercent(g.Len()); !up && m > k {
		return nil, tooMany(name, "m", m, k, fmt.Sprintf("candidates, the nearest 1 %% of %d images", g.Len()))
	}
	return &qa{
		draws: draws{g: g, name: name, variant: v, seed: o.Seed},
		goal:  hinged{g: g, up: up, pure: o.Pure, m: m},
		near:  o.Near && up,
	}, nil
}

// span returns the positions [from, to) of the nearest items from which targets
// with Near are drawn.
func span(n int) (from, to int) {
	from = n / 100
	return from, max(from+1, n/20)
}

func (q *qa) Kind() string {
	if q.goal.pure {
		return q.name + ":pure"
	}
	return q.name
}

func (q *qa) Scores() []string { return []string{q.name} }

func (q *qa) Aim(b *Batch, draw int) error {
	n := q.g.Len()
	from, to := span(n)
	k := 0
	switch {
	case q.near:
		k = to
	case !q.goal.up:
		k = onePercent(n)
	}
	if q.goal.up {
		k = max(k, q.goal.shield)
	}
	if err := q.aim(b, k); err != nil {
		return err
	}
	q.batch, q.goal.targets = b, q.goal.targets[:0]
	for i, item := range b.Items {
		q.begin(item, draw)
		var window []int32 // k items
		if k > 0 {
			var err error
			if window, err = q.window(i, item); err != nil {
				return err
			}
		}
		switch {
		case q.near:
			for range q.goal.m {
				q.goal.targets = append(q.goal.targets, window[from+q.stream.IntN(to-from)])
			}
		case q.goal.up:
			for range q.goal.m {
				q.goal.targets = append(q.goal.targets, q.anywhere(item))
			}
		default:
			for _, p := range q.choose(len(window))[:q.goal.m] {
				q.goal.targets = append(q.goal.targets, window[p])
			}
			slices.Sort(q.permute[q.goal.m:]) // for SPQA
		}
		for r := range q.goal.shield {
			if !q.goal.up {
				r = q.permute[q.goal.m+r]
			}
			q.goal.targets = append(q.goal.targets, window[r])
		}
	}
	return nil
}

// choose returns the numbers below n in random order.
func (q *qa) choose(n int) []int {
	q.permute = q.permute[:0]
	for p := range n {
		q.permute = append(q.permute, p)
	}
	q.stream.Shuffle(n, func(i, j int) { q.permute[i], q.permute[j] = q.permute[j], q.permute[i] })
	return q.permute
}

func (q *qa) Targets(i int) []int32 { return q.goal.of(i) }

// Eval implements adversary.Goal.
func (q *qa) Eval(z *array.Array, per []float64, grad *array.Array) error {
	return q.goal.Eval(z, per, grad)
}

func (q *qa) Score(z, _ *array.Array, out [][]float64) { q.score(z, out) }

// score writes to out[0] the mean rank of the candidates, and to out[1], where
// there is one, that of the items that SPQA protects.
func (q *qa) score(z *array.Array, out [][]float64) {
	q.scored = scoring{q, q.g.Measure(z), out}
	par.Do(z.Rows(), 1, &q.scored)
	q.scored.d.Release()
	q.scored = scoring{}
}

// scoring ranks the targets of queries.
type scoring struct {
	q   *qa
	d   *retrieval.Distances
	out [][]float64
}

// Run scores queries [lo, hi).
func (s *scoring) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.d.Finish(i)
		unranked := s.q.unranked(s.q.batch.Items[i])
		s.d.HideAll(i, unranked)
		count := float64(s.q.g.Len() - len(unranked))
		mean := func(targets []int32) float64 {
			sum := 0
			for _, c := range targets {
				sum += s.d.Rank(i, c)
			}
			if s.d.Unranked(i) {
				return math.NaN()
			}
			return float64(sum) / float64(len(targets)) / count
		}
		targets := s.q.goal.of(i)
		s.out[0][i] = mean(targets[:s.q.goal.m])
		if len(s.out) > 1 {
			s.out[1][i] = mean(targets[s.q.goal.m:])
		}
	}
}
