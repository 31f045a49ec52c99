package mine

import "tercet/internal/rng"

// pickHardest: the nearest negative whose distance is not 0, the lowest row among
// equals; the positive is the default one, not the farthest. If all negatives
// coincide with the anchor, the first of them.
func pickHardest(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	neg = -1
	zero := -1
	for j := range b.rows {
		if b.same(a, j) {
			continue
		}
		switch d := b.d(a, j); {
		case d == 0:
			if zero < 0 {
				zero = j
			}
		case neg < 0 || d < b.d(a, neg):
			neg = j
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
