package mine

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "softhard", Doc: "hard positives and negatives, as published", Defaults: SofthardKeys{}})
	Family.Register(component.Component[Keys]{Name: "softhard-strict", Doc: "softhard whose positive is never the anchor", Defaults: StrictKeys{}})
}

// SofthardKeys are the keys of softhard: none.
type SofthardKeys struct{}

func (SofthardKeys) make(o Options) Miner { return newByAnchor(o, true, pickSofthard) }

// StrictKeys are the keys of softhard-strict: none.
type StrictKeys struct{}

func (StrictKeys) make(o Options) Miner { return newByAnchor(o, true, pickSofthardStrict) }

// pickSofthard: the negative is uniform over the negatives nearer than the
// farthest row of the anchor's label, else over all negatives; the positive is
// uniform over the rows of the anchor's label farther than the nearest negative,
// else over all rows of that label. As published, these include the anchor
// itself: it is then its own positive.
func pickSofthard(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	return b.softhard(a, p, r, (*batch).same)
}

// pickSofthardStrict is pickSofthard with the anchor excluded from its positives.
func pickSofthardStrict(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	return b.softhard(a, p, r, (*batch).otherOfClass)
}

func (b *batch) softhard(a, p int, r *rng.Stream, positive func(b *batch, a, j int) bool) (pos, neg int, fell bool) {
	farthest, nearest := b.farthest(), b.nearest()
	if math.IsInf(nearest, 1) { // one class, under AnyRow
		neg, _ = b.anyNegative(a, r)
		return p, neg, true
	}
	b.set = b.set[:0]
	for j := range b.rows {
		if b.other(a, j) && b.nearer(j, farthest) {
			b.set = append(b.set, j)
		}
	}
	if neg = b.drawn(r); neg < 0 {
		neg, _ = b.anyNegative(a, r)
		fell = true
	}
	b.set = b.set[:0]
	for j := range b.rows {
		if positive(b, a, j) && b.farther(j, nearest) {
			b.set = append(b.set, j)
		}
	}
	if pos = b.drawn(r); pos < 0 {
		pos = b.draw(r, a, positive)
		fell = true
	}
	return pos, neg, fell
}
