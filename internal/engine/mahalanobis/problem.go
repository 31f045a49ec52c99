package mahalanobis

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is wrapped by every error about points, losses and options that nothing
// can be learned from.
var ErrInput = errors.New("cannot learn a metric")

// Problem is a sample: positives, which count as one class, and negatives. Labels
// play no other part.
type Problem struct {
	Positive, Negative []float64 // (n+, D) and (n-, D), row-major
	D                  int
}

// NewProblem returns the problem of those points, whose slices it keeps. With a
// radius B above 0 all points must lie in the ball of that radius around 0, as the
// paper's constants assume; 0 leaves that unchecked.
//
// Errors: fewer than two positives or one negative, numbers that are not finite,
// points outside the ball; each names the side, the row and what is broken.
func NewProblem(positive, negative []float64, d int, radius float64) (*Problem, error) {
	switch {
	case d < 1:
		return nil, fmt.Errorf("%w: points have %d dimensions", ErrInput, d)
	case !(radius >= 0) || math.IsInf(radius, 1):
		return nil, fmt.Errorf("%w: radius is %v, want a finite number above 0, or 0 for none", ErrInput, radius)
	case len(positive)%d != 0 || len(negative)%d != 0:
		return nil, fmt.Errorf("%w: %d and %d numbers are not whole rows of %d", ErrInput, len(positive), len(negative), d)
	case len(positive)/d > math.MaxInt32 || len(negative)/d > math.MaxInt32:
		return nil, fmt.Errorf("%w: %d positives and %d negatives; at most %d of either", ErrInput, len(positive)/d, len(negative)/d, math.MaxInt32)
	case len(positive)/d < 2:
		return nil, fmt.Errorf("%w: n+ = %d, number of positives; triplets need n+ >= 2", ErrInput, len(positive)/d)
	case len(negative) < d:
		return nil, fmt.Errorf("%w: n- = 0, number of negatives; triplets need n- >= 1", ErrInput)
	}
	for _, side := range []struct {
		name string
		x    []float64
	}{{"positives", positive}, {"negatives", negative}} {
		if err := checkPoints(side.name, side.x, d, radius); err != nil {
			return nil, err
		}
	}
	return &Problem{positive, negative, d}, nil
}

// inBall is how far beyond the radius a point may be: the rounding of a scaling.
const inBall = 1 + 1e-9

func checkPoints(side string, x []float64, d int, radius float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: %s row %d column %d is %v: drop the row or look where it comes from", ErrInput, side, i/d, i%d, v)
		}
	}
	for i := 0; radius > 0 && i < len(x); i += d {
		if n := norm(x[i : i+d]); n > radius*inBall {
			return fmt.Errorf("%w: %s row %d has length %.6g, outside the ball of radius B = %g that is assumed (||x|| <= B): scale the points or raise the radius", ErrInput, side, i/d, n, radius)
		}
	}
	return nil
}

// NPos returns n+, the number of positives.
func (p *Problem) NPos() int { return len(p.Positive) / p.D }

// NNeg returns n-, the number of negatives.
func (p *Problem) NNeg() int { return len(p.Negative) / p.D }

// Triplets returns n+ (n+ - 1) n-, the number of triplets (i, j, k) with i != j.
func (p *Problem) Triplets() float64 {
	n := float64(p.NPos())
	return float64(n * (n - 1) * float64(p.NNeg()))
}

// Radius returns the largest length of a point.
func (p *Problem) Radius() float64 {
	most := 0.0
	for _, x := range [][]float64{p.Positive, p.Negative} {
		for i := 0; i < len(x); i += p.D {
			most = max(most, norm(x[i:i+p.D]))
		}
	}
	return most
}

func (p *Problem) pos(i int) []float64 { return p.Positive[i*p.D : (i+1)*p.D] }
func (p *Problem) neg(k int) []float64 { return p.Negative[k*p.D : (k+1)*p.D] }

// norm is the Euclidean length, of numbers of any size.
func norm(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	if most == 0 || math.IsInf(most, 1) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for _, v := range x {
		v /= most
		sum += float64(v * v)
	}
	return most * math.Sqrt(sum)
}
