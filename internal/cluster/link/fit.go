package link

import (
	"context"
	"fmt"
	"math"
	"tercet/internal/metric"
)

// FitOptions says how Fit looks for a threshold.
type FitOptions struct {
	On string // OnSquared [default] or OnDistance
	// Balanced weighs similar and other pairs alike in sum; otherwise they keep the
	// shares that they have among all pairs of the points.
	Balanced bool
	Pairs    int // at most; half of them similar where there are as many [500000]
	Seed     uint64
}

// Fitted is a link found by Fit and how well it tells pairs apart.
type Fitted struct {
	Link
	Pairs, Similar int  // used
	Sampled        bool // there were more of them
	// Accuracy is the share of pairs on the right side of the threshold, weighted
	// as in the fit; AUC the probability that a similar pair is nearer than another,
	// half where they are equal.
	Accuracy, AUC float64
	Iterations    int // Newton steps
	// Separable says that one distance divides the pairs without error. No slope is
	// the most likely one then: the threshold (in d^2 or d) is the midpoint of the
	// farthest similar and the nearest other pair, and the slope says
	// P(cut) = 0.999 at the latter.
	Separable bool
}

// Fit finds the logistic regression of "same label" on d^2, or d, over pairs of the
// n rows of x, d numbers each, with their labels: for losses that fix no threshold,
// on points that were held out in training. Where there are more pairs than asked for,
// similar and other ones are drawn separately and weighted to their true shares (or
// alike, if balanced). The likelihood is maximized without a penalty by Newton's
// method in float64.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), labels that
// give pairs of one kind only, all pairs at the same distance, similar pairs that are
// no nearer than others, a canceled ctx.
func Fit(ctx context.Context, x []float32, n, d int, labels []int32, o FitOptions) (*Fitted, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if o.On == "" {
		o.On = OnSquared
	}
	if o.Pairs == 0 {
		o.Pairs = 500_000
	}
	switch {
	case len(labels) != n:
		return nil, fmt.Errorf("%w: %d labels of %d rows", ErrInput, len(labels), n)
	case o.On != OnSquared && o.On != OnDistance:
		return nil, fmt.Errorf("%w: a fit on %q: choose %s or %s", ErrInput, o.On, OnSquared, OnDistance)
	case o.Pairs < 2:
		return nil, fmt.Errorf("%w: a fit to %d pairs: it takes at least one of each kind", ErrInput, o.Pairs)
	}
	list, p, err := choosePairs(labels, o.Pairs, o.Seed)
	if err != nil {
		return nil, err
	}
	if err := p.measure(ctx, x, d, list, o.On == OnDistance); err != nil {
		return nil, err
	}
	f := &Fitted{Link: Link{Kind: KindFitted, On: o.On, Bias: .5}, Pairs: len(list), Similar: p.similar, Sampled: p.sampled}
	f.AUC = p.auc()
	near, far := p.u[:p.similar], p.u[p.similar:] // sorted by now
	least, most := min(near[0], far[0]), max(near[len(near)-1], far[len(far)-1])
	if least == most {
		return nil, fmt.Errorf("%w: all pairs are at distance %v, with any label (a collapsed embedding?)", ErrInput, f.distance(least))
	}
	if near[0] >= far[len(far)-1] {
		return nil, f.reversed()
	}
	similar, other := p.weights(o.Balanced)
	if inner, outer := near[len(near)-1], far[0]; inner <= outer {
		f.separate(inner, outer, most-least)
	} else if err := f.newton(ctx, near, far, similar, other); err != nil {
		return nil, err
	}
	f.Accuracy = float64(similar*f.right(near, true)) + float64(other*f.right(far, false))
	return f, nil
}

// weights returns the weights of a similar and of another pair; all sum to 1.
func (p *pairs) weights(balanced bool) (similar, other float64) {
	share := p.allSimilar / (p.allSimilar + p.allOther)
	if balanced {
		share = .5
	}
	return share / float64(p.similar), (1 - share) / float64(len(p.u)-p.similar)
}

// distance returns d of a u.
func (f *Fitted) distance(u float64) float64 {
	if f.On == OnSquared {
		return math.Sqrt(u)
	}
	return u
}

// right counts the pairs that the fit puts where they belong.
func (f *Fitted) right(u []float64, similar bool) float64 {
	count := 0
	for _, v := range u {
		if (f.Intercept+float64(f.Slope*v) >= 0) == similar {
			count++
		}
	}
	return float64(count)
}

// separate sets the line for pairs without overlap. Where the kinds touch, a
// thousandth of the range stands in for the gap.
func (f *Fitted) separate(inner, outer, width float64) {
	f.Separable = true
	middle := inner + float64((outer-inner)/2)
	gap := max(outer-inner, width/1000)
	f.Slope = -NaturalScale(gap, 0, .001)
	f.Intercept = -f.Slope * middle
}
