package data

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/record/printed"
)

// moments are sums over one item's pixels.
type moments struct {
	sum, square []float64 // per channel
	min, max    float32
}

// Summary reads all of ds. It returns an error if an item cannot be read or ctx ends.
func Summary(ctx context.Context, ds Dataset) (*printed.SetStats, error) {
	s := &printed.SetStats{Items: ds.Len()}
	s.Height, s.Width, s.Channels = ds.Shape()
	countClasses(s, ds)
	var err error
	if s.Fingerprint, err = ds.Fingerprint(ctx); err != nil {
		return nil, err
	}
	if err := duplicates(ctx, s, ds); err != nil {
		return nil, err
	}
	return s, pixels(ctx, s, ds)
}

// countClasses fills the numbers about classes.
func countClasses(s *printed.SetStats, ds Dataset) {
	sizes := make([]int, len(ds.Classes()))
	for _, y := range ds.Labels() {
		sizes[y]++
	}
	for _, n := range sizes {
		switch n {
		case 0:
			s.EmptyClasses++
		case 1:
			s.Singles++
		}
	}
	slices.Sort(sizes)
	sizes = sizes[s.EmptyClasses:]
	if s.Classes = len(sizes); s.Classes > 0 {
		s.PerClassMin, s.PerClassMax = sizes[0], sizes[len(sizes)-1]
		s.PerClassMed = float64(sizes[len(sizes)/2]+sizes[(len(sizes)-1)/2]) / 2
	}
}

// pixels fills the numbers about pixels. Sums are made item by item and then
// added in order, so that threads do not matter.
func pixels(ctx context.Context, s *printed.SetStats, ds Dataset) error {
	if s.Items == 0 {
		return nil
	}
	c := s.Channels
	sum, square := make([]float64, c), make([]float64, c)
	s.Min, s.Max = math.Inf(1), math.Inf(-1)
	const block = 4096 // items whose sums are held at a time
	for lo := 0; lo < s.Items; lo += block {
		all, err := momentsOf(ctx, ds, lo, min(lo+block, s.Items))
		if err != nil {
			return err
		}
		for _, m := range all {
			for k := range c {
				sum[k] += m.sum[k]
				square[k] += m.square[k]
			}
			s.Min, s.Max = min(s.Min, float64(m.min)), max(s.Max, float64(m.max))
			if m.min == m.max {
				s.Constant++
			}
		}
	}
	n := float64(s.Items) * float64(s.Height) * float64(s.Width)
	total, totalSquare := 0.0, 0.0
	for k := range c {
		total += sum[k]
		totalSquare += square[k]
		if c <= 4 {
			mean, std := meanStd(sum[k], square[k], n)
			s.ChannelMean = append(s.ChannelMean, mean)
			s.ChannelStd = append(s.ChannelStd, std)
		}
	}
	s.Mean, s.Std = meanStd(total, totalSquare, n*float64(c))
	return nil
}

// momentsOf are those of items [lo, hi).
func momentsOf(ctx context.Context, ds Dataset, lo, hi int) ([]moments, error) {
	h, w, c := ds.Shape()
	all := make([]moments, hi-lo)
	err := each(ctx, hi-lo, 64, func(i int) error {
		x := make([]float32, h*w*c)
		if err := ds.Read(lo+i, x); err != nil {
			return fmt.Errorf("%s: %w", ItemName(ds, lo+i), err)
		}
		m := moments{sum: make([]float64, c), square: make([]float64, c), min: x[0], max: x[0]}
		for j, v := range x {
			m.sum[j%c] += float64(v)
			m.square[j%c] += float64(float64(v) * float64(v))
			m.min, m.max = min(m.min, v), max(m.max, v)
		}
		all[i] = m
		return nil
	})
	return all, err
}

func meanStd(sum, square, n float64) (mean, std float64) {
	mean = sum / n
	return mean, math.Sqrt(max(square/n-float64(mean*mean), 0))
}
