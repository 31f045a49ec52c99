package noise

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// minLosses is the least number of losses that a mixture is fitted to.
const minLosses = 100

// apart is the least separation of two groups. An Ashman's D of 2 parts two normal groups
// (Ashman, Bird & Zepf 1994); right items alone, many of them at a hinge's zero, come to
// 2.3 at times.
const apart = 2.5

// resamples is the number of bootstrap resamples of an interval.
const resamples = 200

// FromLosses estimates the share of items with a wrong label from the items' losses,
// finite and not negative, under a network that has learned what most items have in
// common but has not learned single ones exactly: right items then have small losses and
// wrong ones large losses. An item is whatever has a loss of its own: an image, a pair, a
// triplet.
//
// The losses are taken as a mixture of two gamma distributions, fitted by expectation
// maximization with moments in place of the likelihood's maximum (as Arazo et al., ICML
// 2019, with beta distributions of scaled losses), from the split of least variance
// within. P is the share of the group with the larger mean. Up to three losses, or one in
// 500, far above all others would be a group of their own: they are cut to the largest of
// the rest. The interval is from the 2.5th to the 97.5th percentile over 200 bootstrap
// resamples of the items, set by seed; it does not know how well the mixture fits, and
// that is the larger error: right items that are hard count as wrong ones, and wrong ones
// that are learned as right ones. Early in training P is near the truth up to about 0.1;
// later, and of more noise, it is too low.
//
// Fewer than minLosses losses, a NaN, infinite or negative one, and groups that are not
// apart are errors; the last is what clean labels give, and what training too little or
// too long gives.
func FromLosses(losses []float64, seed uint64) (record.NoiseEstimate, error) {
	if len(losses) < minLosses {
		return record.NoiseEstimate{}, fmt.Errorf("noise: %d losses; an estimate needs %d or more", len(losses), minLosses)
	}
	for i, v := range losses {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return record.NoiseEstimate{}, fmt.Errorf("noise: the loss of item %d is %v; want finite numbers, none negative", i, v)
		}
	}
	largest := slices.Max(losses)
	if largest == slices.Min(losses) {
		return record.NoiseEstimate{}, fmt.Errorf("noise: all %d losses are %v: they cannot separate right items from wrong ones", len(losses), largest)
	}
	m, x, unit := fitCut(losses, largest)
	e := record.NoiseEstimate{Method: LossMixture, N: len(losses), P: m.weight, Separation: m.separation()}
	low, high := m.low.mean()*unit, m.high.mean()*unit
	e.Means = &[2]float64{low, high}
	if !(e.Separation >= apart) {
		return record.NoiseEstimate{}, fmt.Errorf("noise: the losses are not of two groups: means %.3g and %.3g, %.2f standard deviations apart, want %v or more; the labels may be clean, the network may have learned too little, or it may have memorized the wrong labels: try an earlier or a later checkpoint", low, high, e.Separation, apart)
	}
	e.CI95 = x.interval(m, seed)
	return e, nil
}

// fitCut fits a mixture to the losses, cut to the largest that is no outlier, and returns
// it with its data and their unit.
func fitCut(losses []float64, cut float64) (mixture, bins, float64) {
	few := max(3, float64(len(losses))/500)
	for {
		x, unit := newBins(losses, cut)
		m := x.fit(x.split(), 1e-8)
		if m.weight*float64(len(losses)) > few {
			return m, x, unit
		}
		upper := m.upper()
		next := 0.0 // the largest loss that is not of the upper group
		for _, v := range losses {
			if u := max(v/unit, least); v < cut && upper(u, math.Log(u)) < 0.5 {
				next = max(next, v)
			}
		}
		if next == 0 {
			return m, x, unit
		}
		cut = next
	}
}

// interval returns the bootstrap interval of the upper group's share in m, fitted to b.
func (b bins) interval(m mixture, seed uint64) [2]float64 {
	shares := make([]float64, resamples)
	par.Each(resamples, 1, func(r int) {
		s := rng.New(seed, "noise/losses", uint64(r))
		again := b
		again.count = make([]float64, len(b.count))
		for range b.of {
			again.count[b.of[s.IntN(len(b.of))]]++
		}
		shares[r] = again.fit(m, 1e-6).weight
	})
	slices.Sort(shares)
	const out = resamples * 25 / 1000
	return [2]float64{min(m.weight, shares[out]), max(m.weight, shares[resamples-1-out])}
}
