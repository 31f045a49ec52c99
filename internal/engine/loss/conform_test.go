package loss_test

import (
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/engine/loss/losstest"
)

// Every loss that is registered, with every word of its keys.
func TestEveryLoss(t *testing.T) {
	for _, c := range loss.Family.All() {
		t.Run(c.Name, func(t *testing.T) {
			for name, o := range losstest.Variants(c.Defaults) {
				t.Run(name, func(t *testing.T) { losstest.Check(t, o) })
			}
		})
	}
}
