package mine

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// Miner picks tuples from a batch's embeddings z (B, D) and labels (B).
type Miner interface {
	// Mine overwrites out, reusing its slices, and returns counts of what it found. The
	// choice depends only on z, labels and the state of the stream.
	Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (Stats, error)
}

// Bounded is implemented by miners that refuse batches with too many tuples. Bound takes
// the number of rows of each label and returns the error that Mine would return.
type Bounded interface {
	Bound(count map[int32]int) error
}

// Stats counts the triplets that the miner examined by kind, and how often it took a
// fallback.
type Stats struct {
	Easy, Semihard, Hard int // d_an >= d_ap+margin; between; d_an <= d_ap
	Fallback             int // anchors whose target set was empty
}
