package loss_test

import (
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/engine/loss/labeled"
	"tercet/internal/engine/loss/losstest"
)

// gentle are options of losses whose gradients change too sharply at the defaults to be
// compared with finite differences of 2^-10. All else is tested with them, too.
var gentle = map[string]loss.Options{
	"smooth-ap": labeled.SmoothAPOptions{Temperature: 0.3, Variant: labeled.Paper},
}

// Every loss that is registered, with every word of its keys.
func TestEveryLoss(t *testing.T) {
	for _, c := range loss.Family.All() {
		if o, ok := gentle[c.Name]; ok {
			c.Defaults = o
		}
		t.Run(c.Name, func(t *testing.T) {
			for name, o := range losstest.Variants(c.Defaults) {
				t.Run(name, func(t *testing.T) { losstest.Check(t, o) })
			}
		})
	}
}
