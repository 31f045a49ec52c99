package multicut

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// Nearest returns a sparse graph of the n rows of x, d numbers each: an edge from
// each row to its k nearest neighbors by Euclidean distance and to random others,
// drawn by seed, each pair once, at cost(squared distance). Counts above n-1 mean
// all. Neighbors are found by distances in float32 of the centered rows, equal ones
// by number; the distances that are passed to cost are exact.
//
// Neighbors attract, and most of what repels is left out: such a graph merges
// classes that the complete graph keeps apart. Every result on it carries a warning
// that says so; random edges weaken the effect.
//
// It takes O(n^2 d) time. cost is called from several goroutines. Errors: sizes that
// do not fit, NaN or infinity (by row and column), neither neighbors nor random
// pairs, a cost that is not finite (by rows), a canceled ctx.
func Nearest(ctx context.Context, x []float32, n, d, k, random int, seed uint64, cost func(d2 float64) float64) (*Graph, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if k < 0 || random < 0 || k+random < 1 {
		return nil, fmt.Errorf("%w: %d neighbors and %d random pairs of each row make no graph", ErrInput, k, random)
	}
	k = min(k, n-1)
	near, err := nearest(ctx, x, n, d, k)
	if err != nil {
		return nil, err
	}
	return sparse(x, n, d, k, near, random, seed, cost)
}

// Listed is Nearest with neighbors that are known: k numbers of rows for each row, in any
// order, -1 for none. A row in its own list is passed over.
func Listed(x []float32, n, d, k int, lists []int32, random int, seed uint64, cost func(d2 float64) float64) (*Graph, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if k < 1 || len(lists) != n*k || random < 0 {
		return nil, fmt.Errorf("%w: lists of %d neighbors of %d rows have %d numbers", ErrInput, k, n, len(lists))
	}
	for at, j := range lists {
		if j < -1 || int(j) >= n {
			return nil, fmt.Errorf("%w: list %d names row %d of %d", ErrInput, at/k, j, n)
		}
	}
	return sparse(x, n, d, k, lists, random, seed, cost)
}

// sparse makes the graph of lists of k neighbors and random others.
func sparse(x []float32, n, d, k int, near []int32, random int, seed uint64, cost func(d2 float64) float64) (*Graph, error) {
	random = min(random, n-1)
	pairs := make([]uint64, 0, n*(k+random))
	for i := range n {
		for _, j := range near[i*k : (i+1)*k] {
			if j >= 0 && int(j) != i {
				pairs = append(pairs, pairKey(int32(i), j))
			}
		}
	}
	pairs = randomPairs(pairs, n, random, seed)
	slices.Sort(pairs)
	pairs = slices.Compact(pairs)
	edges := make([]Edge, len(pairs))
	par.For(len(pairs), 1024, func(lo, hi int) {
		for e, key := range pairs[lo:hi] {
			i, j := int(key>>32), int(key&math.MaxUint32)
			d2 := kernel.SquaredDistance(x[i*d:(i+1)*d], x[j*d:(j+1)*d])
			edges[lo+e] = Edge{int32(i), int32(j), cost(d2)}
		}
	})
	for _, e := range edges {
		if e.Cost-e.Cost != 0 {
			return nil, fmt.Errorf("%w: rows %d and %d cost %v", ErrInput, e.I, e.J, e.Cost)
		}
	}
	g, err := NewGraph(n, edges)
	if err != nil {
		return nil, err
	}
	if all := int64(n) * int64(n-1) / 2; int64(len(edges)) < all {
		g.warning = fmt.Sprintf("only %d of %d pairs have an edge, %d nearest neighbors and %d random others of each row: what is left out repels more than it attracts, so that classes may be merged; the complete graph (factored solver) has no such bias", len(edges), all, k, random)
	}
	return g, nil
}

// randomPairs appends pairs of each of n rows with different others.
func randomPairs(pairs []uint64, n, count int, seed uint64) []uint64 {
	if count == 0 {
		return pairs
	}
	r := rng.New(seed, "multicut/nearest")
	drawn := map[int32]bool{}
	for i := range int32(n) {
		clear(drawn)
		// Floyd's algorithm: count different numbers below n-1.
		for top := n - 1 - count; top < n-1; top++ {
			j := int32(r.IntN(top + 1))
			if drawn[j] {
				j = int32(top)
			}
			drawn[j] = true
			if j >= i {
				j++
			}
			pairs = append(pairs, pairKey(i, j))
		}
	}
	return pairs
}

// nearest returns (n, k) the neighbors of each row, nearest first.
func nearest(ctx context.Context, x []float32, n, d, k int) ([]int32, error) {
	if k == 0 {
		return nil, nil
	}
	const rows, columns = 256, 2048
	x = centeredRows(x, n, d)
	index, value := make([]int32, n*k), make([]float32, n*k)
	for i := range value {
		value[i] = float32(math.Inf(1))
	}
	block := make([]float32, rows*columns)
	for top := 0; top < n; top += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := min(rows, n-top)
		for left := 0; left < n; left += columns {
			w := min(columns, n-left)
			kernel.PairwiseSquared(m, w, d, x[top*d:(top+m)*d], x[left*d:(left+w)*d], block[:m*w])
			par.Each(m, 16, func(i int) {
				row := top + i
				keep(index[row*k:(row+1)*k], value[row*k:(row+1)*k], block[i*w:(i+1)*w], left, row)
			})
		}
	}
	return index, nil
}

// keep enters the distances of row own to rows left, left+1, ... into its sorted
// list.
func keep(index []int32, value, distance []float32, left, own int) {
	last := len(value) - 1
	for j, v := range distance {
		if v >= value[last] || left+j == own {
			continue
		}
		at := last
		for ; at > 0 && value[at-1] > v; at-- {
			value[at], index[at] = value[at-1], index[at-1]
		}
		value[at], index[at] = v, int32(left+j)
	}
}

// centeredRows returns the rows less their mean, times a power of two: distances of
// float32 products keep more digits and do not overflow.
func centeredRows(x []float32, n, d int) []float32 {
	mean := kernel.MeanRow(x, n, d)
	scale := 1.0
	if most := 2 * float64(kernel.MaxAbs(x)); most > 0 { // no difference from the mean is larger
		_, e := math.Frexp(most)
		scale = math.Ldexp(1, -e)
	}
	out := make([]float32, n*d)
	par.Each(n, 256, func(i int) {
		kernel.ShiftRow(x[i*d:(i+1)*d], mean, scale, out[i*d:(i+1)*d])
	})
	return out
}
