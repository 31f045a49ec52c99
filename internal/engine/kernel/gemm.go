package kernel

import "fmt"

//go:generate go run -C _generate ./gemm -out ../gemm_amd64.s -pkg kernel

// Gemm computes C = alpha*op(A)*op(B) + beta*C, row-major.
//
// op(A) is (m, k), op(B) is (k, n), C is (m, n). Without transA, A is stored as
// m rows of k numbers, lda apart; with transA as k rows of m numbers; likewise B.
// Elements between the rows of C (ldc > n) are not touched. C must not overlap A
// or B. It panics where a slice is too short for its shape and stride.
//
// With beta == 0, C is written without being read, so that a NaN in it does not
// survive. With alpha == 0 or k == 0, A and B are not read and C becomes beta*C.
// Otherwise no product is skipped: a NaN or an infinity in A or B reaches every
// element of C whose sum holds it (0*NaN is NaN).
//
// Each element of C is one float32 sum over k in an order that depends only on
// k and the level: the bits do not depend on threads, m, n, or strides.
func Gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel: Gemm of (%d, %d) by (%d, %d)", m, k, k, n))
	}
	if m == 0 || n == 0 {
		return
	}
	checkMatrix("C", c, m, n, ldc)
	if k == 0 || alpha == 0 {
		scaleMatrix(beta, m, n, c, ldc)
		return
	}
	if transA {
		checkMatrix("A", a, k, m, lda)
	} else {
		checkMatrix("A", a, m, k, lda)
	}
	if transB {
		checkMatrix("B", b, n, k, ldb)
	} else {
		checkMatrix("B", b, k, n, ldb)
	}
	va, vb := view{a, lda, 1}, view{b, ldb, 1}
	if transA {
		va = view{a, 1, lda}
	}
	if transB {
		vb = view{b, 1, ldb}
	}
	gemm(Current(), m, n, k, alpha, va, vb, beta, c, ldc)
}

// checkMatrix panics unless x holds rows rows of cols numbers, ld apart.
func checkMatrix(name string, x []float32, rows, cols, ld int) {
	if ld < max(cols, 1) {
		panic(fmt.Sprintf("kernel: Gemm: %s has rows of %d, stride %d", name, cols, ld))
	}
	if need := (rows-1)*ld + cols; len(x) < need {
		panic(fmt.Sprintf("kernel: Gemm: %s (%d, %d) with stride %d wants %d numbers, got %d", name, rows, cols, ld, need, len(x)))
	}
}

// scaleMatrix computes C = beta*C; beta == 0 overwrites.
func scaleMatrix(beta float32, m, n int, c []float32, ldc int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}
