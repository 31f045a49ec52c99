package tsne

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
)

// trustRows is the number of rows whose distances are held at a time.
const trustRows = 64

// Trustworthiness says how many of the k nearest neighbors on the map y (n, dy) are
// near in the data x (n, d): 1 - 2/(nk(2n-3k-1)) times the sum over points i and
// their neighbors j on the map of max(0, r(i,j) - k), where j is the r-th nearest of
// i in the data (Venna and Kaski 2001). 1 is best; a map by chance has about 1/2.
// Euclidean distances are compared in float64, equal ones by index. It takes O(n^2 d)
// time and 256 n bytes.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), k outside
// 1..(n-1)/2, a canceled ctx.
func Trustworthiness(ctx context.Context, x []float32, n, d int, y []float32, dy, k int) (float64, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return 0, err
	}
	if err := metric.CheckMatrix(ErrInput, "rows", y, n, dy); err != nil {
		return 0, fmt.Errorf("map: %w", err)
	}
	if k < 1 || 2*k >= n {
		return 0, fmt.Errorf("%w: trustworthiness among %d neighbors of %d points: choose 1 to %d", ErrInput, k, n, (n-1)/2)
	}
	near, err := metric.Neighbors(ctx, y, n, dy, metric.NeighborOptions{K: k})
	if err != nil {
		return 0, err
	}
	r := newRanks(x, n, d, k, near.Index)
	var beyond int64
	for lo := 0; lo < n; lo += trustRows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		beyond += r.block(lo, min(lo+trustRows, n))
	}
	all := float64(n) * float64(k) * (float64(2*float64(n)) - float64(3*float64(k)) - 1)
	return 1 - float64(2/all*float64(beyond)), nil
}

// ranks finds how near in the data the neighbors on a map are.
type ranks struct {
	x     []float32
	n, d  int
	k     int
	near  []int32 // (n, k)
	rough []float32
	norms []float64 // of the rows of rough
	lo    int
	keys  []float32 // (trustRows, n) squared distances of rough
	sums  []int64   // by row of the block
}

func newRanks(x []float32, n, d, k int, near []int32) *ranks {
	r := &ranks{x: x, n: n, d: d, k: k, near: near, norms: make([]float64, n), keys: make([]float32, trustRows*n), sums: make([]int64, trustRows)}
	mean := kernel.MeanRow(x, n, d)
	r.rough = make([]float32, n*d)
	for i := range n {
		row := r.rough[i*d : (i+1)*d]
		kernel.ShiftRow(x[i*d:(i+1)*d], mean, 1, row)
		r.norms[i] = kernel.SumSquares(row)
	}
	return r
}

// block sums max(0, rank - k) over rows [lo, hi).
func (r *ranks) block(lo, hi int) int64 {
	r.lo = lo
	kernel.PairwiseSquared(hi-lo, r.n, r.d, r.rough[lo*r.d:hi*r.d], r.rough, r.keys[:(hi-lo)*r.n])
	par.Do(hi-lo, 4, r)
	var sum int64
	for _, s := range r.sums[:hi-lo] {
		sum += s
	}
	return sum
}

func (r *ranks) distance(i, j int) float64 {
	return kernel.SquaredDistance(r.x[i*r.d:(i+1)*r.d], r.x[j*r.d:(j+1)*r.d])
}

// Run does rows [lo, hi) of the block.
func (r *ranks) Run(lo, hi int) {
	own, rank := make([]float64, r.k), make([]int64, r.k)
	for b := lo; b < hi; b++ {
		i := r.lo + b
		near := r.near[i*r.k : (i+1)*r.k]
		far := 0.0
		for a, j := range near {
			own[a], rank[a] = r.distance(i, int(j)), 1
			far = max(far, own[a])
		}
		for j, v := range r.keys[b*r.n : (b+1)*r.n] {
			// Products in float32 only exclude what is certainly farther, also
			// where they underflow or overflow.
			slack := float64(float64(r.d+4)*0x1p-22*(r.norms[i]+r.norms[j])) + 0x1p-120
			if j == i || float64(v) > far+slack && v <= math.MaxFloat32 {
				continue
			}
			d2 := r.distance(i, j)
			for a, v := range own {
				if d2 < v || d2 == v && int32(j) < near[a] {
					rank[a]++
				}
			}
		}
		r.sums[b] = 0
		for _, v := range rank {
			r.sums[b] += max(0, v-int64(r.k))
		}
	}
}
