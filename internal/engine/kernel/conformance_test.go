package kernel_test

import (
	"testing"

	"tercet/internal/engine/kernel"
)

func TestConformance(t *testing.T) {
	for _, l := range kernel.Levels() {
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
