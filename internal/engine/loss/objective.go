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
	Loss float64 // reduced value
	// Tuples counts the terms that were evaluated: triplets or pairs. A loss whose terms
	// compare more rows counts what the comment of its Eval names, such as each pair of a
	// class (with all its negatives), each row that is an anchor, or each class.
	Tuples int
	Active int // tuples with a non-zero gradient, at most Tuples
	// Positive and Negative are mean distances: of anchor and positive or of similar pairs,
	// and of anchor and negative or of different pairs. The comment of Eval names the
	// distance: Euclidean, squared Euclidean, or 1 - cosine. Both are 0 without tuples.
	Positive, Negative float64
}

// Objective is a loss on embeddings. It may keep scratch memory from call to call: it
// serves one goroutine at a time.
type Objective interface {
	// Eval returns the loss of z (B, D) on the tuples. When grad is not nil, it overwrites
	// grad (B, D) with dLoss/dz. Rows are checked: an index outside the batch is an error.
	// No tuples give Loss 0 and a zero gradient.
	Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error)
	// Margin returns the objective's margin, 0 where there is none. Miners compare the
	// margin of a loss on triplets with differences of distances, so it is in the unit of
	// that distance: Euclidean, or squared where OnSquares says so. Of other losses it is
	// their key in its own unit, such as a cosine or an angle in radians; messages show it.
	Margin() float64
}
