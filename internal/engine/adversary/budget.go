package adversary

import (
	"fmt"
	"math"

	"tercet/internal/engine/nn"
)

// scaledStep returns the step 2.5 eps / steps, with which the whole ball can be
// reached in any number of steps (Madry et al., ICLR 2018, appendix). A fixed step
// mixes two things: few steps then also mean a smaller ball.
func scaledStep(eps float64, steps int) float64 { return 2.5 * eps / float64(max(steps, 1)) }

// Training returns the PGD that defenses craft with, without a budget: sign steps
// of a fixed length in the L-infinity ball, from the clean image, on running batch
// statistics, the last iterate taken without a pass of its own. A single step has
// length eps.
func Training() PGD {
	return PGD{
		Norm: Linf, Direction: Sign, Rule: Fixed, Start: FromClean, Restarts: 1,
		Keep: Last, FGSM: true, Mode: nn.Eval, SkipFinal: true,
	}
}

// implementationEps returns what v adds to every coordinate difference inside distances.
func implementationEps(who string, v Implementation) (float64, error) {
	switch v {
	case Paper:
		return 0, nil
	case Robrank:
		return 1e-6, nil
	}
	return 0, fmt.Errorf("%s: unknown implementation %q (valid: paper, robrank)", who, string(v))
}

// checkOptions returns an error naming the first option that is wrong.
func checkOptions(who string, p *PGD, eps, tolerance float64) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	if !(eps >= 0 && eps <= 1e-2) {
		return fmt.Errorf("%s: eps inside distances is %v, want a number from 0 to 0.01", who, eps)
	}
	if !(tolerance >= 0) || math.IsInf(tolerance, 0) {
		return fmt.Errorf("%s: tolerance is %v, want a finite number >= 0", who, tolerance)
	}
	return nil
}
