package generalize

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/record"
	bounds "tercet/internal/theory/stability"
)

// GapDelta is the probability that Theorem 1 is allowed to fail with by default.
const GapDelta = 0.01

// boundGap calculates Theorem 1 beside a measured gap. train is the training set; gamma
// is nil where it is not known; delta is in (0, 1/e).
func boundGap(d *record.LossGap, train data.Dataset, gamma *float64, delta float64) (*record.GapBound, error) {
	b := &record.GapBound{Source: "Theorem 1", Delta: delta, M: max(d.Largest, -d.Smallest), Sup: d.Largest, SupFrom: "seen"}
	if b.M == 0 {
		return nil, nil // no loss: nothing to bound
	}
	switch {
	case d.Sup != nil:
		b.Sup, b.SupFrom = *d.Sup, "length 1"
	case d.Smallest < 0:
		b.Sup, b.SupFrom = d.Largest-d.Smallest, "range"
	}
	count := make([]int, len(train.Classes()))
	for _, y := range train.Labels() {
		count[y]++
	}
	anchors := 0
	for _, n := range count {
		if n < 2 {
			continue
		}
		b.Classes++
		anchors += n
		if rest := train.Len() - n; b.Classes == 1 || rest < b.NNeg {
			b.NNeg = rest
		}
		if b.Classes == 1 || n < b.NPos {
			b.NPos = n
		}
	}
	at := func(gamma float64) (*record.BoundAt, error) {
		sum := 0.0
		for _, n := range count {
			if n < 2 {
				continue
			}
			r, err := bounds.Theorem1(bounds.Theorem1Input{
				NPos: n, NNeg: train.Len() - n, Gamma: gamma, M: b.M, Delta: delta / float64(b.Classes),
			}, bounds.Options{})
			if err != nil {
				return nil, fmt.Errorf("bound of the gap: %w", err)
			}
			sum += r.Value * float64(n) / float64(anchors)
		}
		gap := max(d.Gap.Value, -d.Gap.Value)
		return &record.BoundAt{Gamma: gamma, Value: sum, Vacuous: sum > b.Sup, Crossed: gap > sum}, nil
	}
	least, err := at(0)
	if err != nil {
		return nil, err
	}
	b.Least = *least
	if gamma != nil {
		b.At, err = at(*gamma)
	}
	return b, err
}

// BoundWords is the bound in words.
func BoundWords(b *record.GapBound) string {
	say := func(v record.BoundAt) string {
		s := fmt.Sprintf("%.4g", v.Value)
		switch {
		case v.Crossed:
			s += ", which the gap exceeds"
		case v.Vacuous:
			switch b.SupFrom {
			case "seen":
				s += fmt.Sprintf(", vacuous: no measured loss is above %.4g", b.Sup)
			case "range":
				s += fmt.Sprintf(", vacuous: the measured losses differ by at most %.4g", b.Sup)
			default:
				s += fmt.Sprintf(", vacuous: no loss is above %.4g", b.Sup)
			}
		}
		return s
	}
	s := fmt.Sprintf("Theorem 1 (each class against the rest, n+ from %d, n- from %d, M %.4g, delta %g): at gamma 0 already %s", b.NPos, b.NNeg, b.M, b.Delta, say(b.Least))
	if b.At == nil {
		return s + "; tercet stability measures gamma"
	}
	return s + fmt.Sprintf("; at the gamma that was measured, %.4g, %s", b.At.Gamma, say(*b.At))
}
