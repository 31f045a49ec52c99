package mine

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// pick chooses the positive and the negative of anchor a, which the batch looks
// from where the miner looks at distances; p is the default
// positive of the layout. fell says that a target set was empty, so that a wider
// one was drawn from.
type pick func(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool)

// byAnchor mines one triplet for each anchor, in ascending order of anchors.
type byAnchor struct {
	batch
	looks bool // pick looks at the distances of all rows
	pick  pick
}

func newByAnchor(o Options, looks bool, f pick) *byAnchor {
	return &byAnchor{batch: batch{o: o}, looks: looks, pick: f}
}

// Mine implements Miner.
func (m *byAnchor) Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (Stats, error) {
	out.Triplets, out.Pairs = out.Triplets[:0], out.Pairs[:0]
	b := &m.batch
	if err := b.load(z, labels); err != nil {
		return Stats{}, err
	}
	if m.looks {
		b.survey()
	}
	var s Stats
	for i, a := range b.anchors {
		if m.looks {
			b.look(i)
		}
		p := a + 1
		if b.o.Layout == General {
			p = b.draw(r, a, (*batch).otherOfClass)
		}
		pos, neg, fell := m.pick(b, a, p, r)
		if fell {
			s.Fallback++
		}
		s.count(b.gap(a, pos), b.gap(a, neg), b.o.Margin)
		out.Triplets = append(out.Triplets, loss.Triplet{A: int32(a), P: int32(pos), N: int32(neg)})
	}
	return s, nil
}

// draw returns a row uniformly from { j : in(b, a, j) }, or -1 from an empty set.
func (b *batch) draw(r *rng.Stream, a int, in func(b *batch, a, j int) bool) int {
	b.set = b.set[:0]
	for j := range b.rows {
		if in(b, a, j) {
			b.set = append(b.set, j)
		}
	}
	return b.drawn(r)
}

// drawn returns an element of set uniformly, or -1 when it is empty.
func (b *batch) drawn(r *rng.Stream) int {
	if len(b.set) == 0 {
		return -1
	}
	return b.set[r.IntN(len(b.set))]
}

func (b *batch) otherOfClass(a, j int) bool { return j != a && b.same(a, j) }

// anyNegative draws from the rows of another label; where there are none (a batch
// of one class, which load lets through under AnyRow alone) from all rows, with
// fell true.
func (b *batch) anyNegative(a int, r *rng.Stream) (neg int, fell bool) {
	if n := b.draw(r, a, (*batch).other); n >= 0 {
		return n, false
	}
	return r.IntN(b.rows), true
}
