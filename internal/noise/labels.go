package noise

import (
	"fmt"

	"tercet/internal/rng"
)

// Symmetric is the kind of noise of Labels.
const Symmetric = "sln"

// Report says what noise did to a set.
type Report struct {
	Kind    string  `json:"kind"`
	Wanted  float64 `json:"wanted"`  // the rate asked for
	Found   float64 `json:"found"`   // flipped/items
	Flipped int     `json:"flipped"` // labels that differ from the truth
	Items   int     `json:"items"`
}

// String is the report in one line.
func (r Report) String() string {
	return fmt.Sprintf("%s: %d of %d labels are another class's, rate %.4f (wanted %g)", r.Kind, r.Flipped, r.Items, r.Found, r.Wanted)
}

// Labels returns truth, labels from 0 to classes-1, with symmetric noise: each label
// becomes another one with probability rate, independently, all others being equally
// likely. (Noise that draws from all classes, the own one too, with probability q has
// rate q (classes-1)/classes.) truth stays as it is.
//
// An item's draws do not depend on the rate: with one seed, what is flipped at a rate
// is flipped to the same class at every higher one.
func Labels(truth []int32, classes int, rate float64, seed uint64) ([]int32, Report, error) {
	if !(rate >= 0 && rate < 1) {
		return nil, Report{}, fmt.Errorf("noise: rate is %v, want a number from 0 to below 1", rate)
	}
	if classes < 2 && rate > 0 {
		return nil, Report{}, fmt.Errorf("noise: %d class: there is no other one that a label could become", classes)
	}
	out := make([]int32, len(truth))
	r := Report{Kind: Symmetric, Wanted: rate, Items: len(truth)}
	s := rng.New(seed, "noise/labels")
	for i, y := range truth {
		if y < 0 || int(y) >= classes {
			return nil, Report{}, fmt.Errorf("noise: item %d has label %d; there are %d classes", i, y, classes)
		}
		out[i] = y
		u, step := s.Float64(), int32(1)
		if classes > 1 {
			step += int32(s.IntN(classes - 1))
		}
		if u < rate {
			out[i] = int32((int64(y) + int64(step)) % int64(classes))
			r.Flipped++
		}
	}
	if r.Items > 0 {
		r.Found = float64(r.Flipped) / float64(r.Items)
	}
	return out, r, nil
}
