package loss

import "tercet/internal/engine/array"

// Triplet holds batch rows: anchor, positive, negative.
type Triplet struct{ A, P, N int32 }

// Pair holds batch rows and whether they are labeled similar.
type Pair struct {
	I, J    int32
	Similar bool
}

// Tuples are what a miner found in a batch; an objective reads the kind that it
// works on.
type Tuples struct {
	Triplets []Triplet
	Pairs    []Pair
	Labels   []int32  // (B) class of each row, from 0
	Items    []uint64 // (B) image of each row; views of an image have the same
}

// Result describes one evaluation of an objective. Sums are float64.
type Result struct {
	Loss     float64 // reduced value
	Tuples   int     // tuples seen
	Active   int     // tuples with a non-zero gradient
	Positive float64 // mean distance anchor to positive, or of similar pairs (in the objective's distance)
	Negative float64 // mean distance anchor to negative, or of different pairs
}

// Objective is a loss on embeddings.
type Objective interface {
	// Eval returns the loss of z (B, D) on the tuples and, when grad is not nil,
	// overwrites grad (B, D) with dLoss/dz. Rows are checked: an index outside
	// the batch is an error. No tuples give Loss 0 and a zero gradient.
	Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error)
	// Margin returns the objective's margin (for miners that need it), 0 where
	// there is none.
	Margin() float64
}
