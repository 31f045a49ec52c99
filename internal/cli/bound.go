package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"tercet/internal/theory"
	"tercet/internal/theory/stability"
)

func newBound(s *Streams) *cobra.Command {
	return command{
		use:   "bound",
		short: "Calculate what theorems allow, and hold it against drawn examples",
		long: `
Calculators for the theory: the training error that no network can go below where pairs
are wrong, what one kind of noise amounts to in another, and how far what a triplet
learner shows in training can be from the truth. No data and no run are needed, but for
partition, which stores its result with runs.`,
		examples: []example{
			{why: "the error that pair noise of 10 % leaves", line: "tercet bound dibs --classes 10 --noise 0.1 --per-class 300"},
			{why: "which noise on labels is as bad as q~ = 0.2 on pairs?", line: "tercet bound noise --classes 10 --pln 0.2"},
			{why: "is a stability of 0.001 enough with 1,000 points of each kind?", line: "tercet bound stability --theorem 1 --gamma 0.001 --M 1 --delta 0.01 --n-pos 1000 --n-neg 1000 --sup 1"},
		},
		subs: []*cobra.Command{newBoundDIBS(s), newBoundPartition(s), newBoundNoise(s), newBoundStability(s)},
	}.build()
}

// boundError is err, as a mistake of usage where it is about the numbers given.
func boundError(err error) error {
	if errors.Is(err, theory.ErrInput) || errors.Is(err, stability.ErrInput) {
		return &ExitError{ExitUsage, err}
	}
	return err
}
