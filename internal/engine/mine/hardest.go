package mine

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "hardest", Doc: "the closest negative", Defaults: HardestKeys{}})
}

// HardestKeys are the keys of hardest: none.
type HardestKeys struct{}

func (HardestKeys) make(o Options) Miner { return newByAnchor(o, true, pickHardest) }

// pickHardest: the nearest negative whose distance is not 0, the lowest row among
// equals; the positive is the default one, not the farthest. If all negatives
// coincide with the anchor, the first of them.
func pickHardest(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	v := &b.view
	sure := math.Inf(1) // squared distance within which a non-zero one lies
	for j, h := range v.hi {
		if h < sure && v.lo[j] > 0 && b.other(a, j) {
			sure = h
		}
	}
	neg = -1
	zero, best := -1, 0.0
	for j, l := range v.lo {
		if l > sure || b.same(a, j) {
			continue
		}
		switch d := b.measure(a, j); {
		case d == 0:
			if zero < 0 {
				zero = j
			}
		case neg < 0 || d < best:
			neg, best = j, d
		}
	}
	switch {
	case neg >= 0:
		return p, neg, false
	case zero >= 0:
		return p, zero, true
	}
	neg, _ = b.anyNegative(a, r)
	return p, neg, true
}
