package link

import (
	"context"
	"fmt"

	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
)

// MostPoints is the number of points up to which Costs makes a matrix, of 8 GiB then.
const MostPoints = 46_340

// Costs returns the (n, n) costs of all pairs of the n rows of x, d numbers each:
// symmetric, 0 on the diagonal. Squared distances come from float32 products of
// centered rows; where they are below a thousandth of the squared norms they are
// taken again in float64. It needs 4 n^2 bytes and a copy of x.
//
// Errors: a link that does not pass Check, sizes that do not fit, more than
// MostPoints rows, NaN or infinity (by row and column), costs that leave float32, a
// canceled ctx.
func Costs(ctx context.Context, l Link, x []float32, n, d int) ([]float32, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if n > MostPoints {
		return nil, fmt.Errorf("%w: the costs of all pairs of %d points need %.0f GB: use the factored solver or a sparse graph", ErrInput, n, 4*float64(n)*float64(n)/1e9)
	}
	x = centered(x, n, d)
	norms := make([]float64, n)
	for i := range norms {
		norms[i] = kernel.SumSquares(x[i*d : (i+1)*d])
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cost := make([]float32, n*n)
	kernel.PairwiseSquared(n, n, d, x, x, cost)
	wrong := make([]int, (n+costRows-1)/costRows) // the first cost of each chunk that is no number, or -1
	par.For(n, costRows, func(lo, hi int) {
		wrong[lo/costRows] = -1
		if ctx.Err() != nil {
			return
		}
		for i := lo; i < hi; i++ {
			row := cost[i*n : (i+1)*n]
			for j, q := range row {
				d2 := float64(q)
				if d2 < (norms[i]+norms[j])/1024 && i != j {
					d2 = kernel.SquaredDistance(x[i*d:(i+1)*d], x[j*d:(j+1)*d])
				}
				row[j] = float32(l.Cost(d2))
			}
			row[i] = 0
		}
		if at, ok := kernel.AllFinite(cost[lo*n : hi*n]); !ok {
			wrong[lo/costRows] = lo*n + at
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, at := range wrong {
		if at >= 0 {
			return nil, fmt.Errorf("%w: the cost of rows %d and %d is %v: scale the data, or lower the scale of the link", ErrInput, at/n, at%n, cost[at])
		}
	}
	return cost, nil
}

const costRows = 16

// centered returns x minus its mean, so that products keep their digits.
func centered(x []float32, n, d int) []float32 {
	mean := kernel.MeanRow(x, n, d)
	out := make([]float32, n*d)
	for i := range n {
		kernel.ShiftRow(x[i*d:(i+1)*d], mean, 1, out[i*d:(i+1)*d])
	}
	return out
}
