package tsne

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tercet/internal/metric"
	"tercet/internal/par"
)

// affinities are p_ij > 0 by rows: symmetric, of sum 1.
type affinities struct {
	n     int
	start []int   // (n+1)
	to    []int32 // ascending in each row
	p     []float32
}

// nearAffinities finds the floor(3 perplexity + 1) nearest neighbors of each point
// and joins p_ij = (p(j|i) + p(i|j)) / 2n.
func nearAffinities(ctx context.Context, x []float32, n, d int, perplexity float64) (*affinities, error) {
	k := min(n-1, int(float64(3*perplexity)+1))
	near, err := metric.Neighbors(ctx, x, n, d, metric.NeighborOptions{K: k})
	if err != nil {
		return nil, err
	}
	p := make([]float32, n*k)
	par.For(n, 64, func(lo, hi int) {
		own, by := make([]float64, k), make([]int, k)
		index, share := make([]int32, k), make([]float64, k)
		for i := lo; i < hi; i++ {
			d2 := near.Distance[i*k : (i+1)*k]
			for j, v := range d2 {
				d2[j] = v * v
			}
			conditional(d2, perplexity, own)
			// By ascending neighbor, for the merge.
			row := near.Index[i*k : (i+1)*k]
			for j := range by {
				by[j] = j
			}
			slices.SortFunc(by, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
			for j, a := range by {
				index[j], share[j] = row[a], own[a]
			}
			copy(row, index)
			for j, v := range share {
				p[i*k+j] = float32(v / float64(2*n))
			}
		}
	})
	return symmetric(n, k, near.Index, p), nil
}

// symmetric adds the transpose to n rows of k entries, each row by ascending column.
func symmetric(n, k int, to []int32, p []float32) *affinities {
	// The transpose.
	back := make([]int, n+1)
	for _, j := range to {
		back[j+1]++
	}
	for i := range n {
		back[i+1] += back[i]
	}
	from, value := make([]int32, n*k), make([]float32, n*k)
	next := slices.Clone(back[:n])
	for e, j := range to {
		from[next[j]], value[next[j]] = int32(e/k), p[e]
		next[j]++
	}
	a := &affinities{n: n, start: make([]int, n+1)}
	merge := func(i int, put func(j int32, p float32)) {
		x, y := i*k, back[i]
		for x < (i+1)*k || y < back[i+1] {
			switch {
			case y == back[i+1] || x < (i+1)*k && to[x] < from[y]:
				put(to[x], p[x])
				x++
			case x == (i+1)*k || from[y] < to[x]:
				put(from[y], value[y])
				y++
			default:
				put(to[x], p[x]+value[y])
				x++
				y++
			}
		}
	}
	for i := range n {
		count := 0
		merge(i, func(int32, float32) { count++ })
		a.start[i+1] = a.start[i] + count
	}
	a.to, a.p = make([]int32, a.start[n]), make([]float32, a.start[n])
	par.Each(n, 256, func(i int) {
		e := a.start[i]
		merge(i, func(j int32, p float32) {
			a.to[e], a.p[e] = j, p
			e++
		})
	})
	return a
}

// negentropy returns the sum of p log p.
func negentropy(p []float32) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum += float64(float64(v) * math.Log(float64(v)))
		}
	}
	return sum
}
