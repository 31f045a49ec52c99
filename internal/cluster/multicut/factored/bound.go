package factored

import (
	"context"
	"fmt"

	"tercet/internal/cluster/multicut"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	boundExact = 20_000 // nodes up to which distances of the bound are float64
	boundRows  = 64
	boundCols  = 1024
)

// TrivialBound returns the sum of all negative costs, below which no objective can
// be: O(n^2 d) time, O(1) memory for each thread. Up to 20,000 points distances are
// float64; beyond that they come from products in float32, and the bound is lower by
// what these may be wrong, of the order of 1e-6 of the sum of the squared norms of
// the pairs. It is also lower by what sums in float64 may lose, here and in Objective,
// which is not below it either; where no cost is negative it is 0. Errors: a canceled
// ctx.
func (f *Graph) TrivialBound(ctx context.Context) (multicut.Bound, error) {
	tasks := (f.n + boundRows - 1) / boundRows
	sums := make([]float64, tasks)
	var free par.Free[[]float32]
	par.For(tasks, 1, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		room := free.Get()
		for k := lo; k < hi; k++ {
			first, end := k*boundRows, min((k+1)*boundRows, f.n)
			if f.n <= boundExact {
				sums[k] = f.negative(first, end)
			} else {
				sums[k] = f.negativeBlocks(first, end, room)
			}
		}
		free.Put(room)
	})
	if err := ctx.Err(); err != nil {
		return multicut.Bound{}, fmt.Errorf("trivial bound of %d points stopped: %w", f.n, err)
	}
	all := 0.0
	for _, v := range sums {
		all += v
	}
	b := multicut.Bound{Value: all, Method: "trivial"}
	if all < 0 {
		b.Margin = f.margin()
		b.Value -= b.Margin
	}
	return b, nil
}

// margin bounds what a sum of costs and Objective may be wrong: of n d products each,
// in float64.
func (f *Graph) margin() float64 {
	squares := 0.0
	for _, v := range f.square {
		squares += v
	}
	n := float64(f.n)
	size := float64(n*(n-1)/2*f.t) + float64(n*squares) // at least the sum of |cost|
	return 0x1p-52 * (float64(n*float64(f.d)) + 8) * size * f.scale / f.zoom / f.zoom
}

// negative returns the sum of the negative costs of rows [lo, hi) with later rows.
func (f *Graph) negative(lo, hi int) float64 {
	sum := 0.0
	for i := lo; i < hi; i++ {
		for j := i + 1; j < f.n; j++ {
			sum += min(0, f.Cost(int32(i), int32(j)))
		}
	}
	return sum
}

// negativeBlocks is at most negative.
func (f *Graph) negativeBlocks(lo, hi int, room *[]float32) float64 {
	*room = sized(*room, boundRows*boundCols)
	unit := f.scale / f.zoom / f.zoom
	wrong := kernel.DotError(f.d + 2)
	sum := 0.0
	for col := lo; col < f.n; col += boundCols {
		end := min(col+boundCols, f.n)
		kernel.PairwiseSquared(hi-lo, end-col, f.d, f.y[lo*f.d:hi*f.d], f.y[col*f.d:end*f.d], (*room)[:(hi-lo)*(end-col)])
		for i := lo; i < hi; i++ {
			row := (*room)[(i-lo)*(end-col):]
			for j := max(col, i+1); j < end; j++ {
				w := f.t - float64(row[j-col]) - float64(wrong*(f.square[i]+f.square[j]))
				sum += min(0, w)
			}
		}
	}
	return sum * unit
}
