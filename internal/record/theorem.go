package record

// DIBSBounds is what Theorem 1 of Fonseca & Guidetti ("DIBS", arXiv 2201.12803) says
// about the training error that no network can go below. All are shares of the
// pairs, expected over graphs.
type DIBSBounds struct {
	ESim  float64 `json:"e_sim"`  // E_sim: closed chains of similar pairs with one label wrong
	Lower float64 `json:"lower"`  // of the error less E_sim
	EDiff float64 `json:"e_diff"` // E_diff: the error less E_sim is said to be below it
	// AbsoluteLower and AbsoluteUpper are the bounds of the error itself: E_sim is added.
	AbsoluteLower float64 `json:"absolute_lower"`
	AbsoluteUpper float64 `json:"absolute_upper"`
	// Corollary is the error less E_sim for two classes (Corollary 1.1); nil for more.
	Corollary *float64 `json:"corollary,omitempty"`
	// FloorDuplicates is the expected error of node pairs that carry both labels: all
	// that is unavoidable for a threshold on a distance.
	FloorDuplicates float64 `json:"floor_duplicates"`
}
