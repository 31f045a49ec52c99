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
		Short: "Calculate what theorems allow, and compare it with drawn examples",
		Long: `
Calculates the smallest training error that noisy pairs allow, converts one kind of
noise into another, and evaluates bounds on the generalization gap of triplet learning.
They need no data and no run, except partition, which stores its result with runs.`,
		Examples: []base.Example{
			{Why: "the error that pair noise of 10 % leaves", Line: "tercet bound dibs --classes 10 --noise 0.1 --per-class 300"},
			{Why: "which noise on labels is as bad as q~ = 0.2 on pairs?", Line: "tercet bound noise --classes 10 --pln 0.2"},
			{Why: "is a stability of 0.001 enough with 1,000 points of each kind?", Line: "tercet bound stability --theorem 1 --gamma 0.001 --M 1 --delta 0.01 --n-pos 1000 --n-neg 1000 --sup 1"},
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
