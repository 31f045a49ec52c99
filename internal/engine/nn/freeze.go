package nn

import "tercet/internal/engine/kernel"

// frozenLinear holds the weights of a Linear layer in the order in which products read
// them, for x W and for dy W^T. As they lie, rows of W are often a multiple of a page apart,
// which the caches of a processor cannot hold well.
type frozenLinear struct{ forward, backward *kernel.Packed }

// Freeze makes m faster for many small batches, with the same bits: its linear layers keep a
// packed copy of their weights, twice the memory that these take. From here on the weights
// must not change.
func (m *Model) Freeze() {
	walk(m.net, func(l Layer) {
		if d, ok := l.(*Linear); ok {
			w := d.weight.Value.Data
			d.frozen = &frozenLinear{kernel.Pack(false, d.ins, d.outs, w, d.outs), kernel.Pack(true, d.outs, d.ins, w, d.outs)}
		}
	})
}
