package bound

import (
	"errors"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/theory"
	"tercet/internal/theory/stability"
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "bound",
		Short: "Compute bounds from theorems, and compare them with simulations",
		Long: `
Computes the smallest training error that noisy pairs allow, converts one kind of noise
into another, and evaluates bounds on the generalization gap of triplet learning. No data
and no run are needed, except for partition, which stores its result with runs.`,
		Examples: []base.Example{
			{Why: "the lowest training error with 10 % pair noise", Line: "tercet bound dibs --classes 10 --noise 0.1 --per-class 300"},
			{Why: "which noise on labels is equivalent to q~ = 0.2 on pairs?", Line: "tercet bound noise --classes 10 --pln 0.2"},
			{Why: "is the bound for stability 0.001 and 1,000 points of each class vacuous?", Line: "tercet bound stability --theorem 1 --gamma 0.001 --M 1 --delta 0.01 --n-pos 1000 --n-neg 1000 --sup 1"},
		},
		Subs: []*cobra.Command{newDIBS(s), newPartition(s), newNoise(s), newAmbiguous(s), newStability(s)},
	}.Build()
}

// boundError is err, as a mistake of usage where it is about the numbers given.
func boundError(err error) error {
	if errors.Is(err, theory.ErrInput) || errors.Is(err, stability.ErrInput) {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	return err
}
