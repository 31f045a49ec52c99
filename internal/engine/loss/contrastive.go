package loss

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
)

func init() {
	Family.Register(component.Component[Options]{Name: "contrastive", Doc: "pairs: similar ones together, different ones a margin apart (DIBS)", Defaults: ContrastiveDefaults()})
}

// ContrastiveOptions are the keys of a ContrastiveLoss.
type ContrastiveOptions struct {
	Margin float64   `yaml:"margin" check:">0" doc:"how far different pairs are pushed apart; pairs closer than half of it are called similar"`
	Reduce Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of pairs become one number"`
	// Eps keeps the square root smooth: d = sqrt(|x - y|^2 + Eps^2) in the term
	// of different pairs. With 0 it is the plain distance. The gradient at x = y
	// is 0 either way.
	Eps float64 `yaml:"eps" check:">=0,<=0.01" doc:"its square is added to the squared distance inside the root"`
}

// ContrastiveDefaults returns the loss of the DIBS paper: margin 1, mean.
func ContrastiveDefaults() ContrastiveOptions {
	return ContrastiveOptions{Margin: 1, Reduce: Mean, Eps: 1e-6}
}

// New implements Options.
func (o ContrastiveOptions) New() (Objective, error) { return NewContrastive(o) }

// Takes implements Options.
func (ContrastiveOptions) Takes() Kind { return Pairs }

// Summed implements Decomposable.
func (o ContrastiveOptions) Summed() Options {
	o.Reduce = Sum
	return o
}

// Supremum implements Bounded.
func (o ContrastiveOptions) Supremum(unit bool) (float64, bool) {
	return 4 + float64(o.Margin*o.Margin), unit
}

// PairRule implements PairPredictor: similar below m/2 (DIBS, eq. 20).
func (o ContrastiveOptions) PairRule() PairRule { return PairRule{At: o.Margin / 2} }

// ContrastiveLoss is the reduced sum over pairs of
//
//	y d^2 + (1-y) max(0, m - d)^2,  d = |x - y|
//
// with y = 1 for similar pairs (Hadsell et al., CVPR 2006, eq. 4 without its
// halves; DIBS, eq. 19). It serves one goroutine at a time.
type ContrastiveLoss struct {
	o ContrastiveOptions
	g edges // for few pairs
	t Table // for many
}

// NewContrastive returns the loss, or an error naming the option that is wrong.
func NewContrastive(o ContrastiveOptions) (*ContrastiveLoss, error) {
	return Checked("contrastive", o, &ContrastiveLoss{o: o, g: newEdges(Squared, 0), t: NewProducts(Squared)})
}

// Margin returns m.
func (l *ContrastiveLoss) Margin() float64 { return l.o.Margin }

// Threshold returns the distance below which a pair is predicted similar: m/2
// (DIBS, eq. 20).
func (l *ContrastiveLoss) Threshold() float64 { return l.o.Margin / 2 }

// Eval implements Objective on t.Pairs. Positive and Negative of the result are
// mean distances |x - y|.
func (l *ContrastiveLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	if err := CheckShapes(z, grad); err != nil {
		return Result{}, err
	}
	if err := checkPairs(t.Pairs, z.Shape[0]); err != nil {
		return Result{}, err
	}
	if rows := z.Shape[0]; rows >= manyRows && crowded(2*len(t.Pairs), rows) {
		return l.t.evalPairs(z, t.Pairs, l.o.at, l.o.Reduce, grad)
	}
	return l.g.evalPairs(z, t.Pairs, l.o.at, l.o.Reduce, grad)
}

// at returns the term of a pair at squared distance s; the slope is dvalue/ds.
func (o ContrastiveOptions) at(similar bool, s float64) pairTerm {
	d := math.Sqrt(s)
	if similar {
		return pairTerm{s, 1, d, s > 0}
	}
	smooth := d
	if o.Eps > 0 {
		smooth = math.Sqrt(s + float64(o.Eps*o.Eps))
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
