package adversary

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
)

// ICSOptions configures the intra-class structure loss of hardness manipulation:
// Lambda times the mean over triplets of
//
//	max(0, d(a, a~) - d(a, p) + Margin),
//
// a and p benign, a~ the perturbed anchor: it shall stay nearer to its own image
// than the positive is. The paper has Lambda 0.5 (0.05 on Stanford Online
// Products) and Margin 0; a Lambda of 0 leaves it out.
type ICSOptions struct {
	Lambda float64
	Margin float64
}

type ics struct {
	o      ICSOptions
	loss   *loss.TripletLoss
	tuples loss.Tuples
	grad   *array.Array
}

func newICS(o ICSOptions, eps float64) (*ics, error) {
	if !(o.Lambda > 0 && o.Lambda <= 1e6) {
		return nil, fmt.Errorf("hm: ics: lambda is %v, want a number from 0 to 1e6", o.Lambda)
	}
	l, err := loss.NewTriplet(loss.TripletOptions{Distance: loss.Euclidean, Form: loss.Hinge, Margin: o.Margin, Reduce: loss.Mean, Eps: eps})
	if err != nil {
		return nil, fmt.Errorf("hm: ics: %w", err)
	}
	return &ics{o: o, loss: l}, nil
}

// add returns the weighted loss of z (5n, D), rows a~, p~, n~, a, p, and adds its
// gradient to dz.
func (s *ics) add(n int, z, dz *array.Array) (float64, error) {
	if z.Shape[0] != 5*n {
		return 0, fmt.Errorf("hm: ics: %w: %d embeddings, want 5 for each of the %d triplets", array.ErrShape, z.Shape[0], n)
	}
	s.tuples.Triplets = s.tuples.Triplets[:0]
	for i := range int32(n) {
		s.tuples.Triplets = append(s.tuples.Triplets, loss.Triplet{A: 3*int32(n) + i, P: i, N: 4*int32(n) + i})
	}
	s.grad = fitMatrix(s.grad, z.Shape[0], z.Shape[1])
	r, err := s.loss.Eval(z, &s.tuples, s.grad)
	if err != nil {
		return 0, fmt.Errorf("hm: ics: %w", err)
	}
	if err := dz.SameShape("gradient", z.Shape...); err != nil {
		return 0, fmt.Errorf("hm: ics: %w", err)
	}
	lambda := float32(s.o.Lambda)
	for i, v := range s.grad.Data {
		dz.Data[i] += lambda * v
	}
	return s.o.Lambda * r.Loss, nil
}
