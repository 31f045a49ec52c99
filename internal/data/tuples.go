package data

// Pair is two items of a dataset and whether they are said to be of one class.
type Pair struct {
	I, J    int32
	Similar bool
}

// Triplet is an anchor and two items of a dataset, of which P is said to be the
// nearer to the anchor.
type Triplet struct{ A, P, N int32 }
