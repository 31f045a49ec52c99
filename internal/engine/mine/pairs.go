package mine

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// AllPairs lists every unordered pair of the batch once, similar if their labels are
// equal, in the order of i, then j, with i < j. It is for objectives that sum over all
// pairs. It uses neither distances nor random numbers, so its Stats are empty. A batch of
// one class, or of one row per class, has pairs of one kind only.
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
