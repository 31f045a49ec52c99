package attack

import (
	"fmt"
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

func init() {
	describe := func(name string, up bool, doc, goal, objective string, robust Direction, options ...Option) Attack {
		return Attack{
			Name: name, Doc: doc, Goal: goal, Objective: objective, Targets: "w queries q",
			Source:  "Zhou et al., ECCV 2020; robrank",
			Scores:  []Score{{Key: name, Unit: Fraction, Robust: robust, Panel: rankPanel}},
			Options: append(options, W, Pure, Draws), Candidates: true,
			New: func(g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
				return newCA(name, up, g, v, o)
			},
		}
	}
	register(
		describe("CA+", true, "raise a perturbed candidate in the rankings of random queries",
			"have the image retrieved by the target query",
			"mean over q, x of max(0, d(z, q) - d(x, q))", Higher, Near),
		describe("CA-", false, "lower a perturbed candidate in the rankings of the queries nearest to it",
			"have the image no longer retrieved by the target query",
			"mean over q, x of max(0, d(x, q) - d(z, q))", Lower))
}

// ca is the candidate attack (Zhou et al., ECCV 2020; robrank): an image c is
// perturbed so that it ranks higher (CA+) or lower (CA-) among all items x in the
// rankings of w queries q, themselves items. The objective is the mean of max(0,
// d(c, q) - d(x, q)) over q and x, or of max(0, d(x, q) - d(c, q)). Queries of CA+
// are drawn from the whole gallery, or with Near from positions 1 % to 5 % of the
// clean ranking of c; those of CA- from its nearest 1 %; all with replacement.
//
// The score is the mean over q of the part of the items that are nearer to q than
// c: of all, the clean copy of c among them, as published; the fixed variant leaves
// that out.
//
// Where queries and gallery are apart, c and x are of the gallery, q of the queries, and
// the items that q is not compared with are left out of the score.
type ca struct {
	draws            // from the queries
	ranked           *retrieval.Gallery
	up, nearby, pure bool
	w                int
	batch            *Batch
	targets          []int32 // (B, W)
	tables           tables
	tabled           bool // tables are of targets

	goal    candidateGoal
	queries *array.Array // (B, D) the queries of one place
	scored  candidateScoring
}

// mostDistances is the largest number of distances that the tables of a batch may
// hold: 1 GiB.
const mostDistances = 1 << 28

func newCA(name string, up bool, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
	w := max(1, o.W)
	pool := g.Queries()
	if w > pool.Len() {
		return nil, tooMany(name, "w", w, pool.Len(), "images in the gallery")
	}
	return &ca{
		ranked: g,
		draws:  draws{g: pool, name: name, variant: v, seed: o.Seed},
		up:     up, nearby: o.Near && up, pure: o.Pure, w: w,
	}, nil
}

func (c *ca) Kind() string {
	if c.pure {
		return c.name + ":pure"
	}
	return c.name
}

func (c *ca) Scores() []string { return []string{c.name} }

func (c *ca) Aim(b *Batch, draw int) error {
	n := c.ranked.Len()
	if all := len(b.Items) * c.w * n; !c.pure && all > mostDistances {
		return fmt.Errorf("attack %s: w is %d: tables of %d x %d x %d distances, more than %d; give a smaller w", c.name, c.w, len(b.Items), c.w, n, mostDistances)
	}
	from, to, k := 0, 0, 0
	switch {
	case c.nearby:
		from, to = span(c.g.Len())
		k = to
	case !c.up:
		k = onePercent(c.g.Len())
		to = k
	}
	if err := c.aim(b, k); err != nil {
		return err
	}
	c.batch, c.targets, c.tabled = b, c.targets[:0], false
	for i, item := range b.Items {
		c.begin(item, draw+b.repeat(i)<<16)
		if k == 0 {
			for range c.w {
				c.targets = append(c.targets, c.anywhere(item))
			}
			continue
		}
		window, err := c.window(i, item)
		if err != nil {
			return err
		}
		for range c.w {
			c.targets = append(c.targets, window[from+c.stream.IntN(to-from)])
		}
	}
	return nil
}

func (c *ca) Targets(i int) []int32 { return c.targets[i*c.w : (i+1)*c.w : (i+1)*c.w] }

// Eval implements adversary.Goal.
func (c *ca) Eval(z *array.Array, per []float64, grad *array.Array) error {
	b := len(c.targets) / c.w
	if err := c.ranked.CheckEmbeddings(z, b); err != nil {
		return err
	}
	if !c.tabled && !c.pure {
		c.tables.begin(b, c.w, c.ranked.Len())
		for r := range c.w {
			c.tables.fill(r, c.measure(r))
		}
		c.tabled = true
	}
	direct := c.goal.direct
	if cap(direct) < len(z.Data) {
		direct = make([]float64, len(z.Data))
	}
	c.goal = candidateGoal{c, z, per, grad, direct[:len(z.Data)]}
	par.Do(b, 1, &c.goal)
	c.goal.z, c.goal.per, c.goal.grad = nil, nil, nil
	return nil
}

// measure begins the distances of all items from the r-th queries of the batch.
func (c *ca) measure(r int) *retrieval.Distances {
	b := len(c.targets) / c.w
	if c.queries == nil {
		c.queries = array.New(b, c.g.X.Cols())
	}
	c.queries.SetRows(b)
	for i := range b {
		copy(c.queries.Row(i), c.g.X.Row(int(c.targets[i*c.w+r])))
	}
	return c.ranked.Measure(c.queries)
}

func (c *ca) Score(z, _ *array.Array, out [][]float64) {
	clear(out[0][:z.Rows()])
	for r := range c.w {
		c.scored = candidateScoring{c, c.measure(r), z, out[0], r}
		par.Do(z.Rows(), 1, &c.scored)
		c.scored.d.Release()
	}
	c.scored = candidateScoring{}
}

// candidateScoring adds what one query of each candidate scores.
type candidateScoring struct {
	c   *ca
	d   *retrieval.Distances
	z   *array.Array
	out []float64
	r   int
}

// Run scores candidates [lo, hi).
func (s *candidateScoring) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.d.Finish(i)
		count := s.c.hide(s.d, i, s.r)
		square := kernel.SquaredDistanceLanes(s.z.Row(i), s.c.queries.Row(i))
		if !(square < math.Inf(1)) {
			s.out[i] = math.NaN()
			continue
		}
		s.out[i] += float64(s.d.Before(i, square, 0)) / count / float64(s.c.w)
	}
}

// hide hides what the ranking of the r-th query of candidate i leaves out, and returns
// the number of items that are left: the clean copy of the candidate, and where queries and
// gallery are apart what the query is not compared with. The two do not overlap, since
// candidates are aimed at queries that are compared with them.
func (c *ca) hide(d *retrieval.Distances, i, r int) float64 {
	if c.variant == Published {
		return float64(c.ranked.Len())
	}
	item, left := c.batch.Items[i], c.ranked.Len()-1
	d.Hide(i, c.ranked.Place(item))
	if !c.ranked.Apart() {
		return float64(left)
	}
	unseen := c.ranked.Hidden(int(c.g.Image(c.targets[i*c.w+r])))
	d.HideAll(i, unseen)
	return float64(max(1, left-len(unseen)))
}
