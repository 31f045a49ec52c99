package mine

import "tercet/internal/rng"

// pickSemihard: the negative is uniform over { n : d_ap < d_an < d_ap + margin }
// (Schroff et al., FaceNet, section 3.2, there on squared distances; here drawn,
// as robrank does), else over all negatives.
func pickSemihard(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	ap := b.gap(a, p)
	b.set = b.set[:0]
	for j := range b.rows {
		if b.other(a, j) && b.gapTo(j, ap) > 0 && b.gapTo(j, ap+b.o.Margin) < 0 {
			b.set = append(b.set, j)
		}
	}
	if n := b.drawn(r); n >= 0 {
		return p, n, false
	}
	neg, _ = b.anyNegative(a, r)
	return p, neg, true
}
