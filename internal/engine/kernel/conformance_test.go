package kernel_test

import (
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/testutil"
)

// suiteLevels are those that the long suites run at. In a build with assembly plain Go is left
// to make noasm, which takes the same functions through them, and to the night.
func suiteLevels() []kernel.Level {
	all := kernel.Levels()
	if len(all) == 1 || testutil.Trials(0, 1) == 1 {
		return all
	}
	return slices.DeleteFunc(all, func(l kernel.Level) bool { return l == kernel.Generic })
}

func TestConformance(t *testing.T) {
	for _, l := range suiteLevels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			Run(t, Implementation{
				Gemm:                kernel.Gemm,
				GemmBias:            kernel.GemmBias,
				Gram:                kernel.Gram,
				Syrk:                kernel.Syrk,
				ConvForward:         kernel.Conv.Forward,
				ConvBackwardInput:   kernel.Conv.BackwardInput,
				ConvBackwardWeights: kernel.Conv.BackwardWeights,
				PairwiseSquared:     kernel.PairwiseSquared,
			})
		})
	}
}
