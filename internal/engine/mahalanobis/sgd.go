package mahalanobis

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/rng"
)

// SGDStream names the stream of random numbers that draws SGD's triplets.
const SGDStream = "mahalanobis/sgd"

// SGDOptions configures SGD.
type SGDOptions struct {
	// C is c of the step eta = c / sqrt(T); 0 takes its limit 2/alpha.
	C float64
	// Steps is T where SGD draws the triplets itself; 0 is n+ + n-.
	Steps int
	Seed  uint64
	// PSD projects w onto the positive semidefinite matrices after each step, which
	// keeps a step non-expansive.
	PSD bool
	// Radius is B, for alpha; 0 takes the longest point's length.
	Radius float64
	// Constants says which alpha: paper or tight; empty is tight.
	Constants string
	// AllowLarge permits steps above 2/alpha.
	AllowLarge bool
	// Start is w_1, (d(d+1)/2); nil is 0.
	Start []float64
}

// SGD does the steps of eq. 3 over the triplets idx, in their order,
//
//	w <- w - eta phi'(u) (aa^T - bb^T),  a = x+_i - x+_j,  b = x+_i - x-_k,  eta = c / sqrt(T),
//
// and returns svec of the last w; a nil idx is o.Steps triplets of DrawIndices with
// o.Seed and SGDStream. Where another point is in the sample the same sequence of
// triplets is met as long as n+ and n- are the same.
//
// Errors: ctx's; an index outside the problem, an o that is wrong, and, unless o.AllowLarge,
// a step above 2/alpha: then a step may expand distances and Lemma 2 (with Theorem 2)
// does not apply. A loss that is not smooth has no such step.
func SGD(ctx context.Context, p *Problem, l Loss, idx []Index, o SGDOptions) ([]float64, error) {
	if idx == nil {
		steps, err := o.steps([]*Problem{p})
		if err != nil {
			return nil, err
		}
		idx = DrawIndices(p.NPos(), p.NNeg(), steps, o.Seed, SGDStream)
	}
	for n, t := range idx {
		if min(t.I, t.J, t.K) < 0 || int(max(t.I, t.J)) >= p.NPos() || int(t.K) >= p.NNeg() || t.I == t.J {
			return nil, fmt.Errorf("%w: triplet %d is (%d, %d, %d); positives are 0 to %d and differ, negatives 0 to %d", ErrInput, n, t.I, t.J, t.K, p.NPos()-1, p.NNeg()-1)
		}
	}
	s, err := newSGD([]*Problem{p}, l, len(idx), o)
	if err != nil {
		return nil, err
	}
	for n, t := range idx {
		if err := s.step(ctx, p, t, n); err != nil {
			return nil, err
		}
	}
	return s.theta, nil
}

// sgdOver is SGD on several problems (classes) of the same dimension: each step
// draws one uniformly, then a triplet of it. o.Steps 0 is the points of all of them.
func sgdOver(ctx context.Context, problems []*Problem, l Loss, o SGDOptions) ([]float64, error) {
	steps, err := o.steps(problems)
	if err != nil {
		return nil, err
	}
	s, err := newSGD(problems, l, steps, o)
	if err != nil {
		return nil, err
	}
	r := rng.New(o.Seed, SGDStream)
	for n := range steps {
		p := problems[r.IntN(len(problems))]
		if err := s.step(ctx, p, drawIndex(r, p.NPos(), p.NNeg()), n); err != nil {
			return nil, err
		}
	}
	return s.theta, nil
}

// steps returns T.
func (o SGDOptions) steps(problems []*Problem) (int, error) {
	if o.Steps < 0 {
		return 0, fmt.Errorf("%w: %d steps", ErrInput, o.Steps)
	}
	if o.Steps > 0 {
		return o.Steps, nil
	}
	n := 0
	for _, p := range problems {
		n += p.NPos() + p.NNeg()
	}
	return n, nil
}

// Step returns c and eta = c / sqrt(steps) that SGD over the problems uses, or the
// error that it would return.
func (o SGDOptions) Step(problems []*Problem, l Loss, steps int) (c, eta float64, err error) {
	radius, which := o.Radius, o.Constants
	if which == "" {
		which = Tight
	}
	for _, p := range problems {
		if o.Radius == 0 {
			radius = max(radius, p.Radius())
		}
	}
	k, err := l.Constants(radius, which)
	if err != nil {
		return 0, 0, err
	}
	limit := 2 / k.Alpha
	switch c = o.C; {
	case !(c >= 0) || math.IsInf(c, 1):
		return 0, 0, fmt.Errorf("%w: c of the step c / sqrt(T) is %v, want a finite number above 0, or 0 for the limit 2/alpha", ErrInput, c)
	case c == 0 && limit == 0:
		return 0, 0, fmt.Errorf("%w: %s is not smooth (alpha is infinite), so that the step has no limit 2/alpha to take: give c", ErrInput, l.Name)
	case c == 0:
		c = limit
	}
	eta = c / math.Sqrt(float64(max(steps, 1)))
	if eta > limit && !o.AllowLarge {
		if limit == 0 {
			return 0, 0, fmt.Errorf("%w: %s is not smooth (alpha is infinite): no step has eta <= 2/alpha, which the stability of SGD assumes", ErrInput, l.Name)
		}
		return 0, 0, fmt.Errorf("%w: step eta = %.4g is above 2/alpha = %.4g (B = %.4g, %s constants); the stability of SGD assumes eta <= 2/alpha: lower c", ErrInput, eta, limit, radius, which)
	}
	return c, eta, nil
}

// sgd is a descent under way.
type sgd struct {
	l     Loss
	eta   float64
	psd   bool
	theta []float64
	space *eigen
}

func newSGD(problems []*Problem, l Loss, steps int, o SGDOptions) (*sgd, error) {
	d, err := dimension(problems)
	if err != nil {
		return nil, err
	}
	_, eta, err := o.Step(problems, l, steps)
	if err != nil {
		return nil, err
	}
	s := &sgd{l: l, eta: eta, psd: o.PSD, theta: make([]float64, d*(d+1)/2), space: newEigen(d)}
	return s, start(s.theta, o.Start)
}

// start copies a w to begin with, or leaves 0.
func start(theta, from []float64) error {
	if from == nil {
		return nil
	}
	if len(from) != len(theta) {
		return fmt.Errorf("%w: the start has %d numbers, svec of w has %d", ErrInput, len(from), len(theta))
	}
	for i, v := range from {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: number %d of the start is %v", ErrInput, i, v)
		}
	}
	copy(theta, from)
	return nil
}

// dimension returns the one that all problems have.
func dimension(problems []*Problem) (int, error) {
	if len(problems) == 0 {
		return 0, fmt.Errorf("%w: no points", ErrInput)
	}
	for i, p := range problems {
		if p.D != problems[0].D {
			return 0, fmt.Errorf("%w: points of class %d have %d dimensions, those of class 0 %d", ErrInput, i, p.D, problems[0].D)
		}
	}
	return problems[0].D, nil
}

// between is how many steps pass between two looks at the context.
const between = 64

// step takes step n.
func (s *sgd) step(ctx context.Context, p *Problem, t Index, n int) error {
	if n%between == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	_, slope, _ := s.l.At(Margin(p, s.theta, t, s.l.Zeta))
	if math.IsNaN(slope) || math.IsInf(slope, 0) {
		return fmt.Errorf("%w: w became infinite or NaN at step %d (eta %.4g): use smaller steps", ErrInput, n, s.eta)
	}
	if slope == 0 {
		return nil
	}
	x := p.pos(int(t.I))
	addSquare(s.theta, x, p.pos(int(t.J)), -s.eta*slope)
	addSquare(s.theta, x, p.neg(int(t.K)), s.eta*slope)
	if s.psd {
		s.space.project(s.theta)
	}
	return nil
}
