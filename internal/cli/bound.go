package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"tercet/internal/theory"
)

func newBound(s *Streams) *cobra.Command {
	return command{
		use:   "bound",
		short: "Calculate what theorems allow, and hold it against drawn examples",
		long: `
Calculators for the theory of learning from wrong labels: the training error that no
network can go below, and what one kind of noise amounts to in another. No data and
no run are needed.`,
		examples: []example{
			{why: "the error that pair noise of 10 % leaves", line: "tercet bound dibs --classes 10 --noise 0.1 --per-class 300"},
			{why: "which noise on labels is as bad as q~ = 0.2 on pairs?", line: "tercet bound noise --classes 10 --pln 0.2"},
		},
		subs: []*cobra.Command{newBoundDIBS(s), newBoundNoise(s)},
	}.build()
}

// boundSchema is the schema of both calculators' documents; kind tells them apart.
const boundSchema = "tercet.bound/1"

// boundError is err, as a mistake of usage where it is about the numbers given.
func boundError(err error) error {
	if errors.Is(err, theory.ErrInput) {
		return &ExitError{ExitUsage, err}
	}
	return err
}
