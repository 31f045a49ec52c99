package mine

import (
	"fmt"
	"slices"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "batch-all", Doc: "every valid triplet", Defaults: BatchAllKeys{}})
}

// BatchAllKeys are the keys of batch-all.
type BatchAllKeys struct {
	Cap int `yaml:"cap" check:">=0,<=100000000" doc:"maximum number of triplets, drawn at random; 0: all"`
}

// Set implements Setter.
func (k BatchAllKeys) Set(o *Options) { o.Cap = k.Cap }

// Many implements the interface of that name.
func (BatchAllKeys) Many() {}

func (BatchAllKeys) make(o Options) Miner { return &batchAll{batch: batch{o: o}} }

// maxTriplets bounds what batch-all lists without a cap: 1.6 GB of them.
const maxTriplets = 1 << 27

// batchAll lists every triplet (a, p, n) of the batch with p != a of a's label and
// n of another (Hermans et al. 2017, "Batch All"), whatever the layout, ordered by
// a, p, n. With B rows and two classes that is about B^3/4.
//
// Under Cap it keeps a uniform sample without replacement of that size (Floyd's
// algorithm), in the same order, drawn from the stream.
type batchAll struct {
	batch
	keep      []uint64 // bit t: triplet t of the full list is kept
	negatives []int32  // rows of another label than the anchor's
}

// Mine implements Miner. A batch of one class is an error, AnyRow or not: every
// row as a negative of every other would be no batch-all.
func (m *batchAll) Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (Stats, error) {
	out.Triplets, out.Pairs = out.Triplets[:0], out.Pairs[:0]
	b := &m.batch
	b.o.AnyRow = false
	b.o.Layout = General
	if err := b.load(z, labels); err != nil {
		return Stats{}, err
	}
	total := uint64(0)
	for _, a := range b.anchors {
		same := b.size(a)
		total += uint64(same-1) * uint64(b.rows-same)
	}
	limit := uint64(b.o.Cap)
	sampled := limit > 0 && total > limit
	if err := m.bound(total, b.rows); err != nil {
		return Stats{}, err
	}
	if sampled {
		m.sample(total, limit, r)
		out.Triplets = slices.Grow(out.Triplets, int(limit))
	} else {
		out.Triplets = slices.Grow(out.Triplets, int(total))
	}
	b.survey()
	var s Stats
	t := uint64(0) // number of the next triplet in the full list
	for i, a := range b.anchors {
		b.look(i)
		m.negatives = m.negatives[:0]
		for n := range b.rows {
			if b.other(a, n) {
				m.negatives = append(m.negatives, int32(n))
			}
		}
		for p := range b.rows {
			if p == a || b.other(a, p) {
				continue
			}
			border := b.borders(a, p)
			if !sampled {
				list := out.Triplets[len(out.Triplets):][:len(m.negatives)]
				for k, n := range m.negatives {
					list[k] = loss.Triplet{A: int32(a), P: int32(p), N: n}
					border.count(b, n, &s)
				}
				out.Triplets = out.Triplets[:len(out.Triplets)+len(list)]
				continue
			}
			for _, n := range m.negatives {
				if m.keep[t/64]>>(t%64)&1 == 1 {
					border.count(b, n, &s)
					out.Triplets = append(out.Triplets, loss.Triplet{A: int32(a), P: int32(p), N: n})
				}
				t++
			}
		}
	}
	return s, nil
}

// Bound implements Bounded.
func (m *batchAll) Bound(count map[int32]int) error {
	rows, total := 0, uint64(0)
	for _, n := range count {
		rows += n
	}
	for _, n := range count {
		total += uint64(n) * uint64(max(n-1, 0)) * uint64(rows-n)
	}
	return m.bound(total, rows)
}

// bound refuses to list so many triplets, or to choose from so many.
func (m *batchAll) bound(total uint64, rows int) error {
	if total > 64*maxTriplets || m.batch.o.Cap == 0 && total > maxTriplets {
		return fmt.Errorf("mine: batch-all would list %d triplets of %d rows; use smaller batches or set cap (up to %d triplets to choose from)", total, rows, 64*uint64(maxTriplets))
	}
	return nil
}

// borders are the gaps at which a negative of (a, p) turns from hard to semihard
// and to easy, as squared distances with room for rounding.
type borders struct {
	ap                                   float64 // gap of the positive
	hard, notHard, semihard, notSemihard float64 // hard below the first, not from above the second; and so on
}

func (b *batch) borders(a, p int) borders {
	ap := b.gap(a, p)
	near, far := ap, ap+b.o.Margin
	if !b.o.Squared {
		near, far = near*near, far*far
	}
	return borders{ap, near - float64(ulps*near), near + float64(ulps*near), far - float64(ulps*far), far + float64(ulps*far)}
}

// count files the triplet of negative n, as seen from the anchor looked from.
func (c *borders) count(b *batch, n int32, s *Stats) {
	lo, hi := b.view.lo[n], b.view.hi[n]
	switch {
	case lo > c.notSemihard:
		s.Easy++
	case hi < c.hard:
		s.Hard++
	case lo > c.notHard && hi < c.semihard:
		s.Semihard++
	default:
		s.count(c.ap, b.gap(b.view.a, int(n)), b.o.Margin)
	}
}

// size returns the number of rows with the label of row a.
func (b *batch) size(a int) int {
	n := 0
	for j := range b.rows {
		if b.same(a, j) {
			n++
		}
	}
	return n
}

// sample marks `limit` of `total` numbers in keep.
func (m *batchAll) sample(total, limit uint64, r *rng.Stream) {
	words := int((total + 63) / 64)
	if cap(m.keep) < words {
		m.keep = make([]uint64, words)
	}
	m.keep = m.keep[:words]
	clear(m.keep)
	for j := total - limit; j < total; j++ {
		t := r.Uint64N(j + 1)
		if m.keep[t/64]>>(t%64)&1 == 1 {
			t = j
		}
		m.keep[t/64] |= 1 << (t % 64)
	}
}
