package kernel

import (
	"fmt"

	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// Dot returns the inner product of a and b, of equal length, with products and
// sum in float64, in 32 interleaved sums, the same on all levels.
func Dot(a, b []float32) float64 { return Current().dot(a, b[:len(a)]) }

// SquaredDistance returns ||a - b||^2 for a and b of equal length, with
// differences and sum in float64, in 32 interleaved sums, the same on all levels.
func SquaredDistance(a, b []float32) float64 { return Current().squaredDistance(a, b[:len(a)]) }

// distanceJob finishes the rows of a distance matrix; squareJob takes norms.
type distanceJob struct {
	level   Level
	m       int
	out     []float32
	x2, y2  []float64
	same    bool
	squares squareJob
}

type squareJob struct {
	level Level
	d     int
	x     []float32
	out   []float64
}

var distanceJobs par.Free[distanceJob]

// PairwiseSquared sets out[i*m+j] = ||x_i - y_j||^2 for x (n, d) and y (m, d).
//
// It computes ||x_i||^2 + ||y_j||^2 - 2 x_i.y_j with float64 norms and a float32
// product, clamped at 0. The absolute error is at most about
// (d+2)*2^-24*(||x_i||^2 + ||y_j||^2), in practice sqrt(d) in place of d: the
// distances of near-equal points have few or no correct digits, and
// SquaredDistance is the choice for them. Where x and y are the same slice the
// diagonal is exactly 0 and the result exactly symmetric. A NaN or an infinity
// in a point makes its distances NaN or infinite, except that the diagonal is 0
// all the same.
func PairwiseSquared(n, m, d int, x, y, out []float32) {
	if n < 0 || m < 0 || d < 0 || len(x) != n*d || len(y) != m*d || len(out) != n*m {
		panic(fmt.Sprintf("kernel: pairwise distances of (%d, %d) and (%d, %d): got %d, %d and %d numbers", n, d, m, d, len(x), len(y), len(out)))
	}
	if n == 0 || m == 0 {
		return
	}
	if d == 0 {
		clear(out)
		return
	}
	j := distanceJobs.Get()
	j.level, j.m, j.out, j.same = Current(), m, out, n == m && &x[0] == &y[0]
	if j.same {
		Gram(n, d, x, d, out, m)
	} else {
		Gemm(false, true, n, m, d, 1, x, d, y, d, 0, out, m)
	}
	j.norms(n, d, x, &j.x2)
	if j.same {
		j.y2 = append(j.y2[:0], j.x2...)
	} else {
		j.norms(m, d, y, &j.y2)
	}
	par.Do(n, max(1, 16384/m), j)
	j.out = nil
	distanceJobs.Put(j)
}

func (j *distanceJob) norms(n, d int, x []float32, out *[]float64) {
	if cap(*out) < n {
		*out = pages.Make[float64](n + n/4)
	}
	*out = (*out)[:n]
	j.squares = squareJob{j.level, d, x, *out}
	par.Do(n, max(1, 16384/d), &j.squares)
	j.squares = squareJob{}
}

// Run does points [lo, hi).
func (j *squareJob) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.x[i*j.d : (i+1)*j.d]
		j.out[i] = j.level.dot(row, row)
	}
}

// Run does rows [lo, hi).
func (j *distanceJob) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.out[i*j.m : (i+1)*j.m]
		j.level.finishDistances(j.x2[i], j.y2, row)
		if j.same {
			row[i] = 0
		}
	}
}
