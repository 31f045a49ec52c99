package kernel_test

import (
	"testing"

	"tercet/internal/engine/kernel"
)

func TestWinograd(t *testing.T) {
	for _, l := range suiteLevels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			RunWinograd(t, Winograd{
				Fits: kernel.WinogradFits, Forward: kernel.WinogradForward, Input: kernel.WinogradInput, Weights: kernel.WinogradWeights,
			})
		})
	}
}
