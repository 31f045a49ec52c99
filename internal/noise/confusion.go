package noise

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/record"
	"tercet/internal/rng"
)

// ByConfusion returns truth with labels changed by the K x K matrix m: an item of class
// t becomes one of class c with probability m[t][c], independently. Rows sum to 1 within
// 1e-6; an entry outside [0, 1] or NaN, a row of another length or sum, and a label
// outside 0 to K-1 are errors. truth stays as it is.
//
// The report's rate wanted is the mean of 1 - m[t][t] over the items.
func ByConfusion(truth []int32, m [][]float64, seed uint64) ([]int32, record.Noise, error) {
	if err := checkConfusion(m); err != nil {
		return nil, record.Noise{}, fmt.Errorf("noise: %w", err)
	}
	if err := checkLabels("truth", truth, len(m)); err != nil {
		return nil, record.Noise{}, err
	}
	out := make([]int32, len(truth))
	prior := make([]float64, len(m))
	r := record.Noise{Kind: Confusion}
	s := rng.New(seed, "noise/confusion")
	for i, y := range truth {
		out[i] = draw(m[y], s.Float64())
		prior[y] += 1 / float64(len(truth))
		r.Wanted += (1 - m[y][y]) / float64(len(truth))
	}
	r.Effective = expectedWrongPairs(prior, func(t int, put func(int, float64)) {
		for c, p := range m[t] {
			put(c, p)
		}
	})
	count(&r, truth, out)
	return out, r, nil
}

// Next returns truth with each label y made (y+1) mod K with probability rate,
// independently: noise between two classes that follow each other, as if they looked
// alike. truth stays as it is. With one seed, what is flipped at a rate is flipped at
// every higher one.
func Next(truth []int32, classes int, rate float64, seed uint64) ([]int32, record.Noise, error) {
	if err := checkProbability("rate", rate); err != nil {
		return nil, record.Noise{}, err
	}
	if classes < 2 && rate > 0 {
		return nil, record.Noise{}, fmt.Errorf("noise: %d class: there is no next one that a label could become", classes)
	}
	if err := checkLabels("truth", truth, classes); err != nil {
		return nil, record.Noise{}, err
	}
	out := make([]int32, len(truth))
	prior := make([]float64, classes)
	s := rng.New(seed, "noise/next")
	for i, y := range truth {
		out[i] = y
		prior[y] += 1 / float64(len(truth))
		if s.Float64() < rate {
			out[i] = int32((int64(y) + 1) % int64(classes))
		}
	}
	r := record.Noise{Kind: PairFlip, Wanted: rate}
	r.Effective = expectedWrongPairs(prior, func(t int, put func(int, float64)) {
		put(t, 1-rate)
		if rate > 0 {
			put((t+1)%classes, rate)
		}
	})
	count(&r, truth, out)
	return out, r, nil
}

// draw returns the class at which the probabilities, summed, pass u in [0, 1).
func draw(row []float64, u float64) int32 {
	last := 0
	for c, p := range row {
		if p <= 0 {
			continue
		}
		if u < p {
			return int32(c)
		}
		u -= p
		last = c
	}
	return int32(last) // the sum fell short of 1 by rounding
}

// checkConfusion refuses what ByConfusion cannot use.
func checkConfusion(m [][]float64) error {
	if len(m) == 0 {
		return errors.New("the confusion matrix is empty")
	}
	for t, row := range m {
		if len(row) != len(m) {
			return fmt.Errorf("the confusion matrix has %d rows, and row %d has %d entries; want as many of both as there are classes", len(m), t, len(row))
		}
		sum := 0.0
		for c, p := range row {
			if !isProbability(p) {
				return fmt.Errorf("the confusion matrix has %v in row %d, column %d; want probabilities, from 0 to 1", p, t, c)
			}
			sum += p
		}
		if math.Abs(sum-1) > 1e-6 {
			return fmt.Errorf("row %d of the confusion matrix sums to %v; want 1: the row has the probabilities of each label for items of class %d", t, sum, t)
		}
	}
	return nil
}
