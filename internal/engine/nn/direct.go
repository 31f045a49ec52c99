package nn

import "tercet/internal/engine/kernel"

// ComputeDirectly makes m take the direct kernels for all convolutions, as with
// TERCET_WINOGRAD=off: other last bits of the same embeddings.
func (m *Model) ComputeDirectly() {
	walk(m.net, func(l Layer) {
		if c, ok := l.(*Conv2D); ok {
			c.plan = kernel.ConvPlan{Conv: c.plan.Conv}
		}
	})
}
