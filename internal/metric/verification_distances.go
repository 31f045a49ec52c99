package metric

import (
	"context"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/stat"
)

// Distances describe the Euclidean distances of pairs of one kind. A quantile is the
// smallest distance that the share of pairs does not exceed.
type Distances struct {
	Mean, P5, P25, Median, P75, P95 float64
}

// ClassDistances describe the mean distance within a class over all classes of two or
// more items: its mean, least and greatest value, and its standard deviation (of all
// classes, not of a sample) as a part of its mean, 0 where all items coincide.
type ClassDistances struct {
	Mean, Least, Greatest, RelativeSD float64
}

// distancesOf describes the pairs that count picks out of rungs by ascending distance,
// of which there are n. Of bins it has their upper ends.
func distancesOf(curve []rung, n int64, count func(rung) int64) Distances {
	var d Distances
	quantiles := []struct {
		percent int64
		at      *float64
	}{{5, &d.P5}, {25, &d.P25}, {50, &d.Median}, {75, &d.P75}, {95, &d.P95}}
	sum, below := 0.0, int64(0)
	for _, r := range curve {
		k := count(r)
		sum += float64(float64(k) * r.distance)
		below += k
		for k > 0 && len(quantiles) > 0 && below >= (n*quantiles[0].percent+99)/100 {
			*quantiles[0].at = r.distance
			quantiles = quantiles[1:]
		}
	}
	d.Mean = sum / float64(n)
	return d
}

// mostOfClass is the number of items of a class up to which all its pairs are measured;
// of larger ones so many items count, evenly spread.
const mostOfClass = 2000

// classDistances are those of x (n, d). Bits do not depend on threads.
func classDistances(ctx context.Context, x []float32, d int, c *classes) (ClassDistances, error) {
	g := c.groups()
	var means []float64
	for k := range c.size {
		if err := ctx.Err(); err != nil {
			return ClassDistances{}, err
		}
		if c.size[k] > 1 {
			means = append(means, meanDistance(x, d, spread(g.of(k), mostOfClass)))
		}
	}
	mean := stat.Mean(means)
	out := ClassDistances{Mean: mean, Least: slices.Min(means), Greatest: slices.Max(means)}
	if mean > 0 {
		out.RelativeSD = math.Sqrt(stat.Squares(means, mean)/float64(len(means))) / mean
	}
	return out, nil
}

// spread are at most n items, evenly spread over the list.
func spread(items []int32, n int) []int32 {
	if len(items) <= n {
		return items
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = items[i*len(items)/n]
	}
	return out
}

// meanDistance is that of all pairs of two or more rows of x, summed row by row.
func meanDistance(x []float32, d int, rows []int32) float64 {
	at := func(i int) []float32 { return x[int(rows[i])*d : (int(rows[i])+1)*d] }
	sums := make([]float64, len(rows))
	par.Each(len(rows), 16, func(i int) {
		for j := range i {
			sums[i] += math.Sqrt(kernel.SquaredDistance(at(i), at(j)))
		}
	})
	sum := 0.0
	for _, s := range sums {
		sum += s
	}
	return sum / (float64(len(rows)) * float64(len(rows)-1) / 2)
}
