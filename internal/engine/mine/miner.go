package mine

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// Miner picks tuples from a batch's embeddings z (B, D) and labels (B).
type Miner interface {
	// Mine overwrites out (reusing its slices) and returns what it saw. The
	// choice depends on z, labels and the stream's state alone.
	Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (Stats, error)
}

// Bounded is implemented by miners that refuse batches in which they would find too many
// tuples. Bound is given how many rows each label has; its error is that of Mine.
type Bounded interface {
	Bound(count map[int32]int) error
}

// Stats counts the batch's triplets by kind, as far as the miner looked, and how
// often a fallback was taken.
type Stats struct {
	Easy, Semihard, Hard int // d_an >= d_ap+margin; between; d_an <= d_ap
	Fallback             int // anchors whose target set was empty
}
