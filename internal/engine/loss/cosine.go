package loss

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
)

// Similarity names how the cosine c of two embeddings becomes the number s that
// a CosineLoss compares pairs by.
type Similarity string

const (
	// Cosine is s = c, as every implementation has it.
	Cosine Similarity = "cosine"
	// CosineOfCosine is s = cos(c), DIBS eq. 21 as printed: s then lies between
	// cos(1) = 0.54 and 1, so that with the paper's margin all different pairs
	// stay active, and opposite embeddings count as similar as equal ones.
	CosineOfCosine Similarity = "paper"
)

func init() {
	Family.Register(component.Component[Options]{Name: "cosine", Doc: "pairs: cosine embedding loss (DIBS)", Defaults: CosineDefaults()})
}

// CosineOptions are the keys of a CosineLoss.
type CosineOptions struct {
	Margin     float64    `yaml:"margin" check:">=-1,<1" doc:"cosine that different pairs are pushed below, cos(alpha); pairs of a cosine above cos(alpha/2) are called similar"`
	Similarity Similarity `yaml:"similarity" enum:"cosine|paper" doc:"the cosine, or the cosine of it, as eq. 21 is printed"`
	Reduce     Reduction  `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of pairs become one number"`
	// 1e-12 is what PyTorch's CosineEmbeddingLoss uses; it bounds the gradient at an
	// embedding of 0 by 1e6. With 0 the cosine of a zero vector is 0 and so is its
	// gradient.
	Eps float64 `yaml:"eps" check:">=0,<=0.01" doc:"added to the squared lengths inside the root"`
}

// CosineDefaults returns the loss of the DIBS paper: alpha = pi/3, that is margin
// 0.5, mean, with PyTorch's eps.
func CosineDefaults() CosineOptions {
	return CosineOptions{Similarity: Cosine, Margin: 0.5, Reduce: Mean, Eps: 1e-12}
}

// Check implements component.Checker.
func (o CosineOptions) Check() []component.Fault { return checkEps(o.Eps, 1e-4) }

// New implements Options.
func (o CosineOptions) New() (Objective, error) { return NewCosine(o) }

// Takes implements Options.
func (CosineOptions) Takes() Kind { return Pairs }

// Summed implements Decomposable.
func (o CosineOptions) Summed() Options {
	o.Reduce = Sum
	return o
}

// Supremum implements Bounded: cosines are bounded for embeddings of any length.
func (o CosineOptions) Supremum(bool) (float64, bool) {
	return 2 + 1 - o.Margin, o.Similarity == Cosine
}

// PairRule implements PairPredictor: similar above cos(alpha/2), alpha the angle of
// the margin (DIBS, eq. 23).
func (o CosineOptions) PairRule() PairRule {
	return PairRule{Cosine: true, At: math.Sqrt((1 + o.Margin) / 2), Paper: o.Similarity == CosineOfCosine}
}

// CosineLoss is the cosine embedding loss: the reduced sum over pairs of
//
//	y (1 - s) + (1-y) max(0, s - margin)
//
// with y = 1 for similar pairs (DIBS, eq. 22). It serves one goroutine at a time.
type CosineLoss struct {
	o CosineOptions
	g angles
}

// NewCosine returns the loss, or an error naming the option that is wrong.
func NewCosine(o CosineOptions) (*CosineLoss, error) {
	return Checked("cosine", o, &CosineLoss{o: o, g: angles{eps: o.Eps}})
}

// Margin returns the cosine above which a different pair costs.
func (l *CosineLoss) Margin() float64 { return l.o.Margin }

// Eval implements Objective on t.Pairs. Positive and Negative of the result are
// means of 1 - s.
func (l *CosineLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	g := &l.g
	if err := g.load(z, t.Pairs, grad); err != nil {
		return Result{}, err
	}
	var sums pairSums
	for i, p := range t.Pairs {
		term := l.o.at(p.Similar, g.cos[i])
		term.active = term.slope != 0 && g.turns(p, g.cos[i])
		g.coef[i] = term.slope
		sums.add(p, term)
	}
	res, scale := sums.finish(l.o.Reduce)
	if grad != nil {
		for e := range g.coef {
			g.coef[e] *= scale
		}
		g.pull(grad)
	}
	return res, nil
}

// at returns the term of a pair of cosine c; the slope is dvalue/dc.
func (o CosineOptions) at(similar bool, c float64) pairTerm {
	s, turn := c, 1.0 // turn is ds/dc
	if o.Similarity == CosineOfCosine {
		sin, cos := math.Sincos(c)
		s, turn = cos, -sin
	}
	if similar {
		return pairTerm{value: 1 - s, slope: -turn, distance: 1 - s}
	}
	if s > o.Margin {
		return pairTerm{value: s - o.Margin, slope: turn, distance: 1 - s}
	}
	return pairTerm{distance: 1 - s}
}
