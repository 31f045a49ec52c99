package noise

import "fmt"

// The kinds of noise.
const (
	Symmetric   = "sln"          // labels become any other class: Labels
	Confusion   = "confusion"    // labels change by a matrix: ByConfusion
	PairFlip    = "pair-flip"    // labels become the next class: Next
	PairLabel   = "pln"          // pairs change their label: Graph
	TripletFlip = "triplet-flip" // positives and negatives change places: Triplets
)

// Report says what noise did to a set. Items are labels, pairs or triplets.
type Report struct {
	Kind    string  `json:"kind"`
	Wanted  float64 `json:"wanted"`  // the rate asked for; that of a matrix is its mean over the items
	Found   float64 `json:"found"`   // flipped/items
	Flipped int     `json:"flipped"` // that differ from the truth
	Items   int     `json:"items"`
	Q       float64 `json:"q,omitempty"` // sln, pln: the probability of being drawn anew that gives the rate

	// The share of pairs that labels of this noise get wrong, half of the pairs being
	// similar: as expected, and for the labels that were drawn (of pair-label noise,
	// for the pairs). 0 for noise on triplets.
	Effective      float64 `json:"effective"`
	EffectiveFound float64 `json:"effective_found"`
}

// String is the report in one line.
func (r Report) String() string {
	what := "labels are another class's"
	switch r.Kind {
	case PairLabel:
		what = "pairs have the other label"
	case TripletFlip:
		what = "triplets have positive and negative exchanged"
	}
	s := fmt.Sprintf("%s: %d of %d %s, rate %.4f (wanted %.6g)", r.Kind, r.Flipped, r.Items, what, r.Found, r.Wanted)
	if r.Kind == TripletFlip {
		return s
	}
	return s + fmt.Sprintf("; of balanced pairs %.4f are wrong (wanted %.6g)", r.EffectiveFound, r.Effective)
}

// count fills what the labels out, drawn for truth, tell.
func (r *Report) count(truth, out []int32) {
	r.Items, r.Flipped = len(out), 0
	for i := range out {
		if out[i] != truth[i] {
			r.Flipped++
		}
	}
	if r.Items > 0 {
		r.Found = float64(r.Flipped) / float64(r.Items)
	}
	r.EffectiveFound = wrongPairs(truth, out)
}
