package measure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// UniformOptions says what Uniform replaces.
type UniformOptions struct {
	Source  Source
	Learner Learner
	Sizes   record.Sizes
	Repeats int
	// Replaced is how many samples of each side are replaced in each repeat, drawn at
	// random; 0 is all of them. No side but Side, where that is set.
	Replaced int
	Side     string // Positives, Negatives, or empty for both
	Fresh    int    // fresh points for each replaced sample, besides the adversarial ones
	// Triplets are tried of either kind, the sample's and the ball's, for the largest
	// change of the loss; 0 is defaultTriplets.
	Triplets int
	Seed     uint64
	// NoClimb leaves out the ascent from the best triplets.
	NoClimb bool
}

// The sides of a sample.
const (
	Positives = "positives"
	Negatives = "negatives"
)

// Replacements are the points that a sample is replaced by, in the order of results.
var Replacements = []string{"+B e_1", "-B e_1", "far mean", "fresh"}

const fresh = 3

// change is what one replacement did.
type change struct {
	side, sample, by int
	data, all, moved float64
	uses             int // steps of SGD that used the sample
}

// Uniform measures uniform stability (Definition 1): in each repeat it learns from a
// sample S, replaces samples one at a time, learns again with the same chance (the same
// triplets of SGD), and looks for the triplet whose loss changed most. Samples are
// replaced by B e_1 and -B e_1, by the mean of the other side, and by fresh points.
//
// Errors: those of the source and the learner; fewer than one repeat; ctx's where it is
// done.
func Uniform(ctx context.Context, o UniformOptions) (*record.UniformResult, error) {
	if o.Side != "" && o.Side != Positives && o.Side != Negatives {
		return nil, fmt.Errorf("%w: side is %q; choose %s or %s", ErrInput, o.Side, Positives, Negatives)
	}
	if o.Triplets == 0 {
		o.Triplets = defaultTriplets
	}
	runs := make([]uniformRun, max(o.Repeats, 0))
	ball := sphere(o.Source.Dim(), o.Source.Radius(), o.Triplets, rng.New(o.Seed, "measure/ball"))
	err := repeated(ctx, o.Repeats, func(rep int) (err error) {
		runs[rep], err = o.run(ctx, rep, ball)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o.result(runs)
}

// uniformRun is one repeat.
type uniformRun struct {
	changes     []change
	certificate float64
}

func (o UniformOptions) run(ctx context.Context, rep int, ball []float64) (uniformRun, error) {
	r := rng.New(o.Seed, "measure/uniform", uint64(rep))
	replaced := o.replaced()
	s, h, err := o.Source.Draw(o.Sizes, o.fresh(), r)
	if err != nil {
		return uniformRun{}, err
	}
	chance := r.Uint64()
	learned, err := o.Learner.Learn(ctx, s, chance, nil)
	if err != nil {
		return uniformRun{}, err
	}
	run := uniformRun{certificate: learned.Certificate}
	probe := newProbe(s, ball, o.Triplets, r)
	from, scratch := probe.base(o.Learner.Criterion(), learned.Theta), make([]float64, probe.count())
	radius := o.Source.Radius()
	if o.NoClimb {
		radius = 0
	}
	uses := o.uses(chance)
	for side, name := range []string{Positives, Negatives} {
		if o.Side != "" && o.Side != name {
			continue
		}
		points, others, held, count := s.Positive, s.Negative, h.Positive, replaced.Pos
		if side == 1 {
			points, others, held, count = s.Negative, s.Positive, h.Negative, replaced.Neg
		}
		d := s.D
		for at, sample := range choose(len(points)/d, count, r) {
			for by, z := range replacements(others, held[at*o.Fresh*d:], d, o.Fresh, o.Source.Radius()) {
				other := replace(s, side, sample, z)
				l, err := o.Learner.Learn(ctx, other, chance, learned.Theta)
				if err != nil {
					return uniformRun{}, err
				}
				c := change{side: side, sample: sample, by: min(by, fresh), moved: distance(learned.Theta, l.Theta)}
				if c.moved > 0 {
					c.data, c.all = probe.changes(o.Learner.Criterion(), from, l.Theta, scratch, radius)
				}
				if uses != nil {
					c.uses = uses[side][sample]
				}
				run.changes = append(run.changes, c)
				run.certificate = max(run.certificate, l.Certificate)
			}
		}
	}
	return run, nil
}

// replaced is how many samples of each side are replaced.
func (o UniformOptions) replaced() record.Sizes {
	n := o.Sizes
	if o.Replaced > 0 {
		n = record.Sizes{Pos: min(o.Replaced, n.Pos), Neg: min(o.Replaced, n.Neg)}
	}
	switch o.Side {
	case Positives:
		n.Neg = 0
	case Negatives:
		n.Pos = 0
	}
	return n
}

// fresh are the points that are drawn besides the sample's, for what is replaced.
func (o UniformOptions) fresh() record.Sizes {
	n := o.replaced()
	return record.Sizes{Pos: max(2, n.Pos*o.Fresh), Neg: max(1, n.Neg*o.Fresh)}
}

// replacements are the adversarial points and then the fresh ones.
func replacements(others, held []float64, d, fresh int, radius float64) [][]float64 {
	up, down, far := make([]float64, d), make([]float64, d), make([]float64, d)
	up[0], down[0] = radius, -radius
	for i, v := range others {
		far[i%d] += v / float64(len(others)/d)
	}
	out := [][]float64{up, down, far}
	for f := range fresh {
		out = append(out, held[f*d:(f+1)*d])
	}
	return out
}

// replace returns the problem with one point replaced.
func replace(p *mahalanobis.Problem, side, sample int, z []float64) *mahalanobis.Problem {
	q := *p
	if side == 0 {
		q.Positive = slices.Clone(p.Positive)
		copy(q.Positive[sample*p.D:], z)
	} else {
		q.Negative = slices.Clone(p.Negative)
		copy(q.Negative[sample*p.D:], z)
	}
	return &q
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64((v - b[i]) * (v - b[i]))
	}
	return math.Sqrt(sum)
}

// uses counts, for each side, the steps of SGD that used each sample; nil for another
// learner.
func (o UniformOptions) uses(chance uint64) *[2][]int {
	sgd, ok := o.Learner.(SGD)
	if !ok {
		return nil
	}
	u := [2][]int{make([]int, o.Sizes.Pos), make([]int, o.Sizes.Neg)}
	for _, t := range sgd.Triplets(o.Sizes, chance) {
		u[0][t.I]++
		u[0][t.J]++
		u[1][t.K]++
	}
	return &u
}
