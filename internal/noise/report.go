package noise

import (
	"fmt"

	"tercet/internal/record"
)

// The kinds of noise.
const (
	Symmetric   = "sln"          // labels become any other class: Labels
	Confusion   = "confusion"    // labels change by a matrix: ByConfusion
	PairFlip    = "pair-flip"    // labels become the next class: Next
	PairLabel   = "pln"          // pairs change their label: Graph
	TripletFlip = "triplet-flip" // positives and negatives change places: Triplets
)

// Words is the report in one line.
func Words(r record.Noise) string {
	what := "labels are another class's"
	switch r.Kind {
	case PairLabel:
		what = "pairs have the other label"
	case TripletFlip:
		what = "triplets have positive and negative exchanged"
	}
	s := fmt.Sprintf("%s: %d of %d %s, rate %.4f (target %.6g)", r.Kind, r.Flipped, r.Items, what, r.Found, r.Wanted)
	if r.Kind == TripletFlip {
		return s
	}
	return s + fmt.Sprintf("; of balanced pairs %.4f are wrong (target %.6g)", r.EffectiveFound, r.Effective)
}

// count fills what the labels out, drawn for truth, tell.
func count(r *record.Noise, truth, out []int32) {
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
