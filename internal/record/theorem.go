package record

// DIBSBounds is what Theorem 1 of Fonseca & Guidetti ("DIBS", arXiv 2201.12803) says
// about the training error that no network can go below. All are shares of the
// pairs, expected over graphs.
type DIBSBounds struct {
	ESim            float64  `json:"e_sim" doc:"E_sim: expected error from cycles of similar pairs with one wrong label"`
	Lower           float64  `json:"lower" doc:"lower bound of the error minus E_sim"`
	EDiff           float64  `json:"e_diff" doc:"E_diff: upper bound of the error minus E_sim"`
	AbsoluteLower   float64  `json:"absolute_lower" doc:"lower bound of the error"`
	AbsoluteUpper   float64  `json:"absolute_upper" doc:"upper bound of the error"`
	Corollary       *float64 `json:"corollary,omitempty" doc:"error minus E_sim for two classes (Corollary 1.1)"`
	FloorDuplicates float64  `json:"floor_duplicates" doc:"expected error from image pairs labeled both similar and different"`
}

// GraphFloor says what is unavoidable on one graph of labeled pairs, in pairs.
type GraphFloor struct {
	// Duplicates is the errors of node pairs that carry both labels, the rarer one of
	// each. No rule that looks at two images can do better, and a threshold on a
	// distance can do as well.
	Duplicates int `json:"duplicate_errors" doc:"unavoidable errors of duplicate pairs"`
	// Errors is those of the best partition found: of the least wrong relation that
	// is transitive. Lower is what no partition goes below.
	Errors   int  `json:"multicut_errors" doc:"number of wrong pairs of the best partition"`
	Lower    int  `json:"multicut_errors_lower" doc:"lower bound of that number"`
	Proven   bool `json:"proven" doc:"whether the two are equal, so that the partition is optimal"`
	Clusters int  `json:"clusters" doc:"clusters of the partition"`
}

// BoundValue is a bound that was calculated.
type BoundValue struct {
	Source string `json:"source" doc:"place in the paper"`
	Bounds string `json:"bounds" doc:"quantity that is at most 'value'"`
	Holds  string `json:"holds" doc:"when the bound holds: 'always', 'with probability 1 - delta' or 'in expectation'"`
	Form   string `json:"-"` // BoundForm has it
	// Value is in units of the loss (of Lemma 10, in steps).
	Value   float64  `json:"value" doc:"the bound"`
	Terms   []Term   `json:"terms,omitempty" doc:"terms that add up to it; absent if it is one product"`
	With    []Term   `json:"with,omitempty" doc:"intermediate values, such as L, gamma, M, the best eps"`
	Rate    *Term    `json:"rate,omitempty" doc:"the order of magnitude that a corollary states, which is not a bound"`
	Vacuous *bool    `json:"vacuous,omitempty" doc:"whether it is above the largest value of the loss, if that is known"`
	Sup     float64  `json:"sup,omitempty" doc:"largest value of the loss, if known"`
	Notes   []string `json:"notes,omitempty" doc:"ids of the errors in the paper that apply"`
}

// Term is a named number.
type Term struct {
	Name  string  `json:"name" doc:"name"`
	Value float64 `json:"value" doc:"value"`
}
