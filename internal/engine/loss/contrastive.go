package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
)

// ContrastiveOptions configures a ContrastiveLoss.
type ContrastiveOptions struct {
	Margin float64 // m > 0: how far different pairs are pushed apart
	Reduce Reduction
	// Eps keeps the square root smooth: d = sqrt(|x - y|^2 + Eps^2) in the term
	// of different pairs. With 0 it is the plain distance. The gradient at x = y
	// is 0 either way.
	Eps float64
}

// ContrastiveDefaults returns the loss of the DIBS paper: margin 1, mean.
func ContrastiveDefaults() ContrastiveOptions {
	return ContrastiveOptions{Margin: 1, Reduce: Mean, Eps: 1e-6}
}

// ContrastiveLoss is the reduced sum over pairs of
//
//	y d^2 + (1-y) max(0, m - d)^2,  d = |x - y|
//
// with y = 1 for similar pairs (Hadsell et al., CVPR 2006, eq. 4 without its
// halves; DIBS, eq. 19). It serves one goroutine at a time.
type ContrastiveLoss struct {
	o ContrastiveOptions
	g edges
}

// NewContrastive returns the loss, or an error naming the option that is wrong.
func NewContrastive(o ContrastiveOptions) (*ContrastiveLoss, error) {
	if err := o.Reduce.validate(); err != nil {
		return nil, err
	}
	if !(o.Margin > 0) || math.IsInf(o.Margin, 0) {
		return nil, fmt.Errorf("loss: contrastive: margin is %v, want a finite number > 0", o.Margin)
	}
	if !(o.Eps >= 0) || o.Eps > 1e-2 {
		return nil, fmt.Errorf("loss: contrastive: eps is %v, want a number from 0 to 0.01", o.Eps)
	}
	return &ContrastiveLoss{o: o, g: newEdges(Squared, 0)}, nil
}

// Margin returns m.
func (l *ContrastiveLoss) Margin() float64 { return l.o.Margin }

// Threshold returns the distance below which a pair is predicted similar: m/2
// (DIBS, eq. 20).
func (l *ContrastiveLoss) Threshold() float64 { return l.o.Margin / 2 }

// Eval implements Objective on t.Pairs. Positive and Negative of the result are
// mean distances |x - y|.
func (l *ContrastiveLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	g := &l.g
	if err := checkShapes(z, grad); err != nil {
		return Result{}, err
	}
	if err := checkPairs(t.Pairs, z.Shape[0]); err != nil {
		return Result{}, err
	}
	g.pairs = g.pairs[:0]
	for _, p := range t.Pairs {
		g.pairs = append(g.pairs, edge{p.I, p.J})
	}
	if err := g.measure(z); err != nil {
		return Result{}, err
	}
	var sums pairSums
	for i, p := range t.Pairs {
		term := l.o.at(p.Similar, g.dist[i])
		g.coef[i] = term.slope
		sums.add(p, term)
	}
	res, scale := sums.finish(l.o.Reduce)
	if grad != nil {
		for e := range g.coef {
			g.coef[e] *= scale
		}
		g.pull(z, grad)
	}
	return res, nil
}

// at returns the term of a pair at squared distance s; the slope is dvalue/ds.
func (o ContrastiveOptions) at(similar bool, s float64) pairTerm {
	d := math.Sqrt(s)
	if similar {
		return pairTerm{s, 1, d, s > 0}
	}
	smooth := d
	if o.Eps > 0 {
		smooth = math.Sqrt(s + o.Eps*o.Eps)
	}
	gap := o.Margin - smooth
	if !(gap > 0) {
		return pairTerm{distance: d}
	}
	t := pairTerm{value: gap * gap, distance: d, active: s > 0}
	if s > 0 {
		t.slope = -gap / smooth
	}
	return t
}
