package generalize

import (
	"slices"

	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// What a bootstrap draws again. Triplets share images, so they are not independent, and
// to draw triplets again would give intervals that are far too narrow. Drawn again are
// the images within each class, or whole classes where the test classes are others than
// those of training: then what changes from one test set to the next is which classes
// it has. A triplet counts as often as the product of how often its images (or its two
// classes) were drawn: the bootstrap of U-statistics by weights.
const (
	byImages  = "images"
	byClasses = "classes"
)

// resampled are the means of a set's triplets in resamples of its images or classes.
type resampled struct {
	unit   []int32   // of each item: what is drawn again as one
	strata [][]int32 // units that are drawn among themselves
	units  int
	whole  bool // units are classes: anchor and positive share one
}

func newResampled(labels []int32, by string) *resampled {
	r := &resampled{unit: make([]int32, len(labels)), whole: by == byClasses}
	index := map[int32]int32{}
	for i, y := range labels {
		c, ok := index[y]
		if !ok {
			c = int32(len(index))
			index[y] = c
			r.strata = append(r.strata, nil)
		}
		r.unit[i] = int32(i)
		if r.whole {
			r.unit[i] = c
		}
		r.strata[c] = append(r.strata[c], int32(i))
	}
	r.units = len(labels)
	if r.whole {
		all := make([]int32, len(index))
		for c := range all {
			all[c] = int32(c)
		}
		r.units, r.strata = len(all), [][]int32{all}
	}
	return r
}

// redraws bounds how often a resample without a triplet is drawn again.
const redraws = 1000

// count draws units again: count[u] is how often u was drawn.
func (r *resampled) count(count []uint32, s *rng.Stream) {
	clear(count)
	for _, units := range r.strata {
		for range units {
			count[units[s.IntN(len(units))]]++
		}
	}
}

// weight is how often a triplet counts.
func (r *resampled) weight(t loss.Triplet, count []uint32) float64 {
	w := float64(count[r.unit[t.A]]) * float64(count[r.unit[t.N]])
	if !r.whole {
		w *= float64(count[r.unit[t.P]])
	}
	return w
}

// means are those of columns of values in resamples [0, n): (len(columns), n).
// ok is false where a resample has no triplet, as of two images alone.
func (r *resampled) means(ts []loss.Triplet, columns [][]float64, n int, seed uint64, stream string) (means [][]float64, ok bool) {
	means = make([][]float64, len(columns))
	for c := range means {
		means[c] = make([]float64, n)
	}
	bad := make([]bool, n)
	par.For(n, 4, func(lo, hi int) {
		count := make([]uint32, r.units)
		for k := lo; k < hi; k++ {
			s := rng.New(seed, stream, uint64(k))
			total := 0.0
			sums := make([]float64, len(columns))
			for try := 0; total == 0 && try < redraws; try++ {
				r.count(count, s)
				for i, t := range ts {
					w := r.weight(t, count)
					if w == 0 {
						continue
					}
					total += w
					for c, v := range columns {
						sums[c] += float64(w * v[i])
					}
				}
			}
			bad[k] = total == 0
			for c := range columns {
				means[c][k] = sums[c] / max(total, 1)
			}
		}
	})
	return means, !slices.Contains(bad, true)
}

// interval is stat.Interval95 as documents hold it.
func interval(values []float64) *[2]float64 {
	ci := stat.Interval95(values)
	return &ci
}

// intervals fills in the intervals and the coefficients. Each resample is one of the
// images, whatever is evaluated of them: both networks are evaluated on the same.
func (g *gapSides) intervals(out *[2]record.Sides) {
	n := g.options.Bootstrap
	means := func(s *gapSide, stream string) ([][]float64, bool) {
		g.say("intervals", 0, 0)
		return newResampled(s.items.Labels(), g.by).means(s.triplets, s.columns, n, g.options.Seed, stream)
	}
	train, ok := means(&g.train, "gap/bootstrap train")
	test, fine := means(&g.test, "gap/bootstrap test")
	if !ok || !fine {
		return
	}
	difference := func(a, b []float64) []float64 {
		d := make([]float64, n)
		for k := range d {
			d[k] = a[k] - b[k]
		}
		return d
	}
	for c := range out {
		s := &out[c]
		gap := difference(test[c], train[c])
		if s.Control != nil {
			of := difference(train[2+c], test[2+c])
			*s.Coefficient = steadiest(gap, of)
			controlled := make([]float64, n)
			for k := range controlled {
				controlled[k] = gap[k] + float64(*s.Coefficient*of[k])
			}
			s.Control.CI95, s.Controlled.CI95 = interval(of), interval(controlled)
		}
		s.Gap.CI95, s.Train.CI95, s.Test.CI95 = interval(gap), interval(train[c]), interval(test[c])
	}
}

// steadiest returns the b that makes the variance of x + b y least, 1 where y does not
// vary.
func steadiest(x, y []float64) float64 {
	mx, my := stat.Mean(x), stat.Mean(y)
	covariance, variance := 0.0, 0.0
	for k := range x {
		covariance += float64((x[k] - mx) * (y[k] - my))
		variance += float64((y[k] - my) * (y[k] - my))
	}
	if variance == 0 {
		return 1
	}
	return -covariance / variance
}
