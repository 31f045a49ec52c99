package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
)

// Similarity names how the cosine c of two embeddings becomes the number s that
// a CosineLoss judges a pair by.
type Similarity string

const (
	// Cosine is s = c, as every implementation has it.
	Cosine Similarity = "cosine"
	// CosineOfCosine is s = cos(c), DIBS eq. 21 as printed: s then lies between
	// cos(1) = 0.54 and 1, so that with the paper's margin all different pairs
	// stay active, and opposite embeddings count as similar as equal ones.
	CosineOfCosine Similarity = "paper"
)

// CosineOptions configures a CosineLoss.
type CosineOptions struct {
	Similarity Similarity
	Margin     float64 // cos(alpha), from -1 to below 1
	Reduce     Reduction
	// Eps is added to both squared lengths under the root of the cosine. 1e-12 is
	// what PyTorch's CosineEmbeddingLoss uses; it bounds the gradient at an
	// embedding of 0 by 1e6. With 0 the cosine of a zero vector is 0 and so is
	// its gradient.
	Eps float64
}

// CosineDefaults returns the loss of the DIBS paper: alpha = pi/3, that is margin
// 0.5, mean, with PyTorch's eps.
func CosineDefaults() CosineOptions {
	return CosineOptions{Similarity: Cosine, Margin: 0.5, Reduce: Mean, Eps: 1e-12}
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
	if err := o.Reduce.validate(); err != nil {
		return nil, err
	}
	if o.Similarity != Cosine && o.Similarity != CosineOfCosine {
		return nil, fmt.Errorf("loss: cosine: unknown similarity %q (valid: cosine, paper)", string(o.Similarity))
	}
	if !(o.Margin >= -1 && o.Margin < 1) {
		return nil, fmt.Errorf("loss: cosine: margin is %v, want a cosine from -1 to below 1 (0.5 for an angle of 60 degrees)", o.Margin)
	}
	if !(o.Eps >= 0) || o.Eps > 1e-4 {
		return nil, fmt.Errorf("loss: cosine: eps is %v, want a number from 0 to 0.0001", o.Eps)
	}
	return &CosineLoss{o: o, g: angles{eps: o.Eps}}, nil
}

// Margin returns the cosine above which a different pair costs.
func (l *CosineLoss) Margin() float64 { return l.o.Margin }

// ThresholdCosine returns the s above which a pair is predicted similar: cos(alpha/2),
// alpha the angle of the margin (DIBS, eq. 23). It is no distance, so that the loss
// is no Thresholder.
func (l *CosineLoss) ThresholdCosine() float64 { return math.Sqrt((1 + l.o.Margin) / 2) }

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
