package adversary

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
)

// Implementation names one of the readings of a defense.
type Implementation string

const (
	Paper   Implementation = "paper"   // as the paper describes it
	Robrank Implementation = "robrank" // as the authors' code computes it
	// Robrank2021 is ACT as the code was before 2021-07-10 (commit d20df3a), when the
	// numbers of its README were made: the anchor's embedding is not normalized.
	Robrank2021 Implementation = "robrank-2021"
)

// HMOptions configures hardness manipulation HM[H_S, H_D]. HMDefaults fills the
// fields in which the paper and its code differ.
type HMOptions struct {
	// Source is the sampler of the triplets that are made harder. A batch that
	// carries tuples is taken to be mined by it; for a batch without, HM mines
	// itself. "" needs tuples.
	Source      string
	Destination hardness.Destination
	Mine        mine.Options // of samplers that HM runs itself
	// PGD is the budget: 77/255 in steps of 3/255 on images of 28 x 28, 8/255 in
	// steps of 1/255 on larger ones.
	PGD PGD
	ICS ICSOptions
	// Eps is added to every coordinate difference inside distances.
	Eps float64
	// First stands for the loss before the first step.
	First float64
	// Narrow leaves triplets that are as hard as their destination out of further
	// passes. The images are the same; the cost counts the rows that were passed.
	Narrow bool
	// Tolerance ends the crafting after a step whose objective differs by less
	// from that of the step before; 0 takes all steps.
	Tolerance float64
}

// HMDefaults returns HM[softhard, g_LGA] for a triplet loss of margin gamma, PGD
// without a budget and no ICS. The implementations differ in this:
//
//   - paper: plain distances, g_LGA = -gamma min(u, l)/u with u = gamma, first loss
//     2 + gamma (the largest one, supplement eq. 14), all PGD steps;
//   - robrank: distances with 1e-6 in every coordinate, g_LGA = -0.2 l/0.2 for
//     any margin, first loss 2, and crafting ends when the objective changes by
//     less than 1e-7.
//
// In both a single PGD step has length eps.
func HMDefaults(v Implementation, gamma float64) (HMOptions, error) {
	o := HMOptions{
		Source:      "softhard",
		Destination: hardness.Destination{Name: "lga", Xi: 0.1, Gamma: gamma, U: gamma},
		Mine:        mine.Options{Layout: mine.Pairs, Margin: gamma, AnyRow: true},
		PGD:         Training(),
	}
	switch v {
	case Paper:
		o.First = 2 + gamma
	case Robrank:
		o.Destination.Gamma, o.Destination.U = 0.2, 0.2
		o.Eps, o.First, o.Tolerance = 1e-6, 2, 1e-7
	default:
		return o, fmt.Errorf("hm: unknown implementation %q (valid: paper, robrank)", string(v))
	}
	return o, nil
}

// validate returns an error naming the first option that is wrong, samplers and ICS
// apart.
func (o *HMOptions) validate() error {
	if err := o.Destination.Validate(); err != nil {
		return err
	}
	if err := checkOptions("hm", &o.PGD, o.Eps, o.Tolerance); err != nil {
		return err
	}
	if !(o.First >= 0) || math.IsInf(o.First, 0) {
		return fmt.Errorf("hm: first loss is %v, want a finite number >= 0", o.First)
	}
	if o.Narrow && !(o.PGD.SkipFinal && o.PGD.Mode == nn.Eval) {
		return errors.New("hm: narrow works in eval mode and without the final pass, that is with one run, fixed steps and the last iterate")
	}
	return nil
}
