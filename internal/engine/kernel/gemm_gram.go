package kernel

import (
	"fmt"

	"tercet/internal/par"
)

// Gram computes C = X*Xᵀ for X (n, k), rows ldx apart: all inner products of the
// rows of X, in C (n, n), rows ldc apart. Only the blocks on and above the
// diagonal are multiplied, the others are copied: C is exactly symmetric, and
// its elements have the bits that Gemm gives them; at level AMX, where the product
// of x and y has other bits than that of y and x, those on and above the diagonal.
func Gram(n, k int, x []float32, ldx int, c []float32, ldc int) {
	Syrk(false, false, n, k, 1, x, ldx, 0, c, ldc)
	Mirror(n, c, ldc)
}

// Mirror copies what is above the diagonal of C (n, n), rows ldc apart, to below it.
func Mirror(n int, c []float32, ldc int) {
	if n < 2 {
		return
	}
	par.Once(&mirrorJobs, ceilDiv(n, mirrorBlock), 1, mirrorJob{Current(), n, c, ldc})
}

// Syrk computes C = alpha*X*Xᵀ + beta*C for X (n, k), on and above the diagonal
// of C (n, n), or where low on and below it; the rest of C is not touched. With
// trans, X is stored transposed, as k rows of n numbers. Otherwise it is Gemm.
func Syrk(low, trans bool, n, k int, alpha float32, x []float32, ldx int, beta float32, c []float32, ldc int) {
	if n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel: Syrk of (%d, %d)", n, k))
	}
	if n == 0 {
		return
	}
	checkMatrix("C", c, n, n, ldc)
	part := upper
	if low {
		part = lower
	}
	if k == 0 || alpha == 0 {
		for i := range n {
			from, to := i, n
			if low {
				from, to = 0, i+1
			}
			scaleRow(beta, c[i*ldc+from:i*ldc+to])
		}
		return
	}
	a := operand("X", trans, n, k, x, ldx)
	gemm(Current(), product{m: n, n: n, k: k, alpha: alpha, a: a, b: a.transposed(), beta: beta, c: c, ldc: ldc, part: part})
}

// mirrorJob copies what is above the diagonal to below it, block by block.
type mirrorJob struct {
	level Level
	n     int
	c     []float32
	ldc   int
}

var mirrorJobs par.Free[mirrorJob]

// mirrorBlock is the extent of the blocks: both sides stay in the first cache.
const mirrorBlock = 32

// Run writes below the diagonal of block rows [lo, hi).
func (j *mirrorJob) Run(lo, hi int) {
	for v := lo; v < hi; v++ {
		i0 := v * mirrorBlock
		i1 := min(i0+mirrorBlock, j.n)
		for j0 := 0; j0 < i0; j0 += mirrorBlock {
			j.level.transpose(mirrorBlock, i1-i0, j.c[j0*j.ldc+i0:], j.ldc, j.c[i0*j.ldc+j0:], j.ldc)
		}
		for i := i0; i < i1; i++ {
			for p := i0; p < i; p++ {
				j.c[i*j.ldc+p] = j.c[p*j.ldc+i]
			}
		}
	}
}

// Fold adds to each element of A (n, n) the one across the diagonal, and leaves the diagonal.
func Fold(n int, a []float32) {
	par.Once(&foldJobs, ceilDiv(n, mirrorBlock), 1, foldJob{Current(), n, a[:n*n]})
}

// foldJob adds a square matrix and its transpose, block by block.
type foldJob struct {
	level Level
	n     int
	a     []float32
}

var foldJobs par.Free[foldJob]

// Run folds the blocks of block rows [lo, hi) on and below the diagonal.
func (j *foldJob) Run(lo, hi int) {
	n := j.n
	var across [mirrorBlock * mirrorBlock]float32
	for v := lo; v < hi; v++ {
		i0 := v * mirrorBlock
		rows := min(mirrorBlock, n-i0)
		for j0 := 0; j0 < i0; j0 += mirrorBlock {
			below, above := j.a[i0*n+j0:], j.a[j0*n+i0:]
			j.level.transpose(mirrorBlock, rows, above, n, across[:], mirrorBlock)
			for r := range rows {
				row := below[r*n:][:mirrorBlock]
				j.level.add(row, across[r*mirrorBlock:][:mirrorBlock], row)
			}
			j.level.transpose(rows, mirrorBlock, below, n, above, n)
		}
		for i := i0; i < i0+rows; i++ {
			for p := i0; p < i; p++ {
				both := j.a[i*n+p] + j.a[p*n+i]
				j.a[i*n+p], j.a[p*n+i] = both, both
			}
		}
	}
}
