package noise

import (
	"fmt"

	"tercet/internal/record"
	"tercet/internal/rng"
)

// Labels returns truth, labels from 0 to classes-1, with symmetric noise: each label
// becomes another one with probability rate, independently, all others being equally
// likely. (Noise that draws from all classes, the own one too, with probability q has
// rate SLNRate(q, classes).) truth stays as it is.
//
// An item's draws do not depend on the rate: with one seed, what is flipped at a rate
// is flipped to the same class at every higher one.
func Labels(truth []int32, classes int, rate float64, seed uint64) ([]int32, record.Noise, error) {
	if !(rate >= 0 && rate < 1) {
		return nil, record.Noise{}, fmt.Errorf("noise: rate is %v, want a number from 0 to below 1", rate)
	}
	if classes < 2 && rate > 0 {
		return nil, record.Noise{}, fmt.Errorf("noise: %d class: there is no other one that a label could become", classes)
	}
	if err := checkLabels("truth", truth, classes); err != nil {
		return nil, record.Noise{}, err
	}
	out := make([]int32, len(truth))
	s := rng.New(seed, "noise/labels")
	for i, y := range truth {
		out[i] = y
		u, step := s.Float64(), int32(1)
		if classes > 1 {
			step += int32(s.IntN(classes - 1))
		}
		if u < rate {
			out[i] = int32((int64(y) + int64(step)) % int64(classes))
		}
	}
	r := record.Noise{Kind: Symmetric, Wanted: rate}
	if rate > 0 {
		r.Q = SLNFromRate(rate, classes)
		r.Effective = SLNEffective(r.Q)
	}
	count(&r, truth, out)
	return out, r, nil
}

// checkLabels refuses labels outside 0 to classes-1.
func checkLabels(name string, labels []int32, classes int) error {
	for i, y := range labels {
		if y < 0 || int(y) >= classes {
			return fmt.Errorf("noise: %s: item %d has label %d; there are %d classes", name, i, y, classes)
		}
	}
	return nil
}
