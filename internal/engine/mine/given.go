package mine

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// Layouts of batches whose tuples are given by the sampler. The rows contain the tuples
// one after the other; labels only say which rows of a tuple belong together.
const (
	// GivenPairs: rows 2r and 2r+1 are a pair, similar where their labels are equal.
	GivenPairs Layout = "given-pairs"
	// GivenTriplets: rows 3r, 3r+1 and 3r+2 are a triplet's anchor, positive and
	// negative; the first two carry one label, the third another.
	GivenTriplets Layout = "given-triplets"
)

// NewGiven returns the miner of a layout of given tuples. It lists the tuples in the
// order of the rows. It uses neither distances nor random numbers, so its Stats are
// empty.
func NewGiven(layout Layout) (Miner, error) {
	switch layout {
	case GivenPairs, GivenTriplets:
		return given(layout), nil
	}
	return nil, fmt.Errorf("mine: unknown layout of given tuples %q (valid: given-pairs, given-triplets)", string(layout))
}

type given Layout

// Mine implements Miner.
func (g given) Mine(z *array.Array, labels []int32, _ *rng.Stream, out *loss.Tuples) (Stats, error) {
	out.Triplets, out.Pairs = out.Triplets[:0], out.Pairs[:0]
	if len(z.Shape) != 2 {
		return Stats{}, fmt.Errorf("mine: %w", z.SameShape("embeddings", -1, -1))
	}
	rows := z.Shape[0]
	if len(labels) != rows {
		return Stats{}, fmt.Errorf("mine: %d labels for %d embeddings", len(labels), rows)
	}
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return Stats{}, fmt.Errorf("mine: %w: row %d, coordinate %d is %v", ErrNonFinite, i/z.Shape[1], i%z.Shape[1], z.Data[i])
	}
	each := 2
	if Layout(g) == GivenTriplets {
		each = 3
	}
	if rows == 0 || rows%each != 0 {
		return Stats{}, fmt.Errorf("mine: layout %s needs whole tuples of %d rows, got a batch of %d", string(g), each, rows)
	}
	for r := 0; r < rows; r += each {
		i, l := int32(r), labels[r:r+each]
		if each == 2 {
			out.Pairs = append(out.Pairs, loss.Pair{I: i, J: i + 1, Similar: l[0] == l[1]})
			continue
		}
		if l[0] != l[1] || l[0] == l[2] {
			out.Triplets = out.Triplets[:0]
			return Stats{}, fmt.Errorf("mine: layout given-triplets: rows %d to %d carry labels %d, %d and %d, want one label, the same and another; labels must be the tuples', not the items'", r, r+2, l[0], l[1], l[2])
		}
		out.Triplets = append(out.Triplets, loss.Triplet{A: i, P: i + 1, N: i + 2})
	}
	return Stats{}, nil
}
