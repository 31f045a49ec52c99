package mine

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// AllPairs lists every unordered pair of the batch once, similar where the labels
// are equal, ordered by i, j with i < j, for objectives that sum over all pairs. It
// looks at no distance and draws nothing, so that its Stats are empty. Batches of one
// class and of one row a class have pairs too, of one kind.
type AllPairs struct {
	// Anchors is the number of rows, from the first, of which a pair has one or both; 0 are
	// all rows.
	Anchors int
}

// Mine implements Miner.
func (m AllPairs) Mine(z *array.Array, labels []int32, _ *rng.Stream, out *loss.Tuples) (Stats, error) {
	out.Triplets, out.Pairs = out.Triplets[:0], out.Pairs[:0]
	if len(z.Shape) != 2 {
		return Stats{}, fmt.Errorf("mine: %w", z.SameShape("embeddings", -1, -1))
	}
	if len(labels) != z.Shape[0] {
		return Stats{}, fmt.Errorf("mine: %d labels for %d embeddings", len(labels), z.Shape[0])
	}
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return Stats{}, fmt.Errorf("mine: %w: row %d, coordinate %d is %v", ErrNonFinite, i/z.Shape[1], i%z.Shape[1], z.Data[i])
	}
	anchors := labels
	if m.Anchors > 0 {
		anchors = labels[:min(m.Anchors, len(labels))]
	}
	for i, a := range anchors {
		for j, b := range labels[i+1:] {
			out.Pairs = append(out.Pairs, loss.Pair{I: int32(i), J: int32(i + 1 + j), Similar: a == b})
		}
	}
	return Stats{}, nil
}
