package adversary

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
)

// ICSOptions adds to the loss of a defense Lambda times the mean over triplets of
// max(0, d(x, y) - d(x, z) + Margin), where x, y, z are three of the benign a, p, n
// and the perturbed a~, p~, n~ (supplement of Zhou & Patel, CVPR 2022, B.4-III). A
// Lambda of 0 leaves it out.
//
// The default, Structure, is the intra-class structure loss: the perturbed anchor
// shall stay nearer to its own image than the positive is. The paper has Lambda 0.5
// (0.05 on Stanford Online Products) and Margin 0.
type ICSOptions struct {
	Triplet string // one of the names below; "" is Structure
	Lambda  float64
	Margin  float64
}

// The triplets that ICSOptions can name.
const (
	Structure       = "structure"        // (a, a~, p)
	CraftedPositive = "crafted-positive" // (a, a~, p~)
	Positive        = "positive"         // (p, p~, a), the mirror image of Structure
	CraftedNegative = "crafted-negative" // (a, a~, n~), between classes
	Benign          = "benign"           // (a, p, n), which mixes in regular training
	BenignPair      = "benign-pair"      // (a, p, n~)
)

// sextuplet is where the rows of the six images of n triplets are, in multiples of n.
const (
	craftedA = iota
	craftedP
	craftedN
	benignA
	benignP
	benignN
)

// icsTriplets gives the roles of each triplet.
var icsTriplets = map[string][3]int{
	Structure:       {benignA, craftedA, benignP},
	CraftedPositive: {benignA, craftedA, craftedP},
	Positive:        {benignP, craftedP, benignA},
	CraftedNegative: {benignA, craftedA, craftedN},
	Benign:          {benignA, benignP, benignN},
	BenignPair:      {benignA, benignP, craftedN},
}

type ics struct {
	o      ICSOptions
	of     [3]int // roles
	roles  int    // of the batch
	loss   *loss.TripletLoss
	tuples loss.Tuples
	grad   *array.Array
}

// newICS returns the loss for a defense that has those triplets, nil without one.
func newICS(who string, o ICSOptions, eps float64, has []string) (*ics, error) {
	if o.Triplet == "" {
		o.Triplet = Structure
	}
	if !slices.Contains(has, o.Triplet) && o.Lambda != 0 {
		return nil, fmt.Errorf("%s: ics: unknown triplet %q (valid: %s)", who, o.Triplet, strings.Join(has, ", "))
	}
	if !(o.Lambda >= 0 && o.Lambda <= 1e6) {
		return nil, fmt.Errorf("%s: ics: lambda is %v, want a number from 0 to 1e6", who, o.Lambda)
	}
	if o.Lambda == 0 {
		return nil, nil
	}
	l, err := loss.NewTriplet(loss.TripletOptions{Distance: loss.Euclidean, Form: loss.Hinge, Margin: o.Margin, Reduce: loss.Mean, Eps: eps})
	if err != nil {
		return nil, fmt.Errorf("%s: ics: %w", who, err)
	}
	s := &ics{o: o, of: icsTriplets[o.Triplet], roles: benignP + 1, loss: l}
	if slices.Contains(s.of[:], benignN) {
		s.roles = benignN + 1
	}
	return s, nil
}

// batchRoles is the number of rows that a batch has for each triplet.
func (s *ics) batchRoles() int {
	if s == nil {
		return 3
	}
	return s.roles
}

// penalty returns the weighted loss of z (roles n, D), rows as the sextuplet's, and
// adds its gradient to dz.
func (s *ics) penalty(n int, z, dz *array.Array) (float64, error) {
	if s == nil {
		return 0, nil
	}
	if z.Shape[0] != s.roles*n {
		return 0, fmt.Errorf("ics: %w: %d embeddings, want %d for each of the %d triplets", array.ErrShape, z.Shape[0], s.roles, n)
	}
	s.tuples.Triplets = s.tuples.Triplets[:0]
	row := func(k, i int) int32 { return int32(s.of[k]*n + i) }
	for i := range n {
		s.tuples.Triplets = append(s.tuples.Triplets, loss.Triplet{A: row(0, i), P: row(1, i), N: row(2, i)})
	}
	s.grad = fitMatrix(s.grad, z.Shape[0], z.Shape[1])
	r, err := s.loss.Eval(z, &s.tuples, s.grad)
	if err != nil {
		return 0, fmt.Errorf("ics: %w", err)
	}
	if err := dz.SameShape("gradient", z.Shape...); err != nil {
		return 0, fmt.Errorf("ics: %w", err)
	}
	lambda := float32(s.o.Lambda)
	for i, v := range s.grad.Data {
		dz.Data[i] += float32(lambda * v)
	}
	return s.o.Lambda * r.Loss, nil
}
