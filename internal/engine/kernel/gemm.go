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
// k and the level: the bits do not depend on threads, m, n, or strides. At level AMX, sums
// over 64 or more are made of products of bfloat16: their errors are those of float32 sums,
// except that a number below 2^-102 in magnitude loses digits, one below 2^-126 counts as 0,
// and infinities give NaN.
func Gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !checkGemm(m, n, k, c, ldc) {
		return
	}
	if k == 0 || alpha == 0 {
		scaleMatrix(beta, m, n, c, ldc)
		return
	}
	gemm(Current(), product{
		m: m, n: n, k: k, alpha: alpha, a: operand("A", transA, m, k, a, lda), b: operand("B", transB, k, n, b, ldb),
		beta: beta, c: c, ldc: ldc,
	})
}

// GemmAddsOnce reports whether Gemm with alpha 1 and beta 1 over k adds each sum to its
// element of C when it is complete: then it gives the bits of a product with beta 0 that
// is added to C afterwards.
func GemmAddsOnce(k int) bool { return k <= blockK || Current().splits(k) }

// GemmBias computes C = op(A)*op(B), adds bias (n numbers; nil: none) to every
// row and, where relu, replaces what is below 0 by 0 as ReLU does. Otherwise it
// is Gemm, and its bits are those of Gemm, the sum with bias and ReLU one after the other.
func GemmBias(transA, transB bool, m, n, k int, a []float32, lda int, b []float32, ldb int, bias []float32, relu bool, c []float32, ldc int) {
	if bias != nil && len(bias) != n {
		panic(fmt.Sprintf("kernel: GemmBias: %d columns, bias of %d", n, len(bias)))
	}
	if !checkGemm(m, n, k, c, ldc) {
		return
	}
	if k == 0 {
		for i := range m {
			row := c[i*ldc : i*ldc+n]
			clear(row)
			finishRow(row, bias, relu)
		}
		return
	}
	gemm(Current(), product{
		m: m, n: n, k: k, alpha: 1, a: operand("A", transA, m, k, a, lda), b: operand("B", transB, k, n, b, ldb),
		c: c, ldc: ldc, bias: bias, relu: relu,
	})
}

// finishRow adds bias (nil: none) to a row of C and applies ReLU where asked.
func finishRow(row, bias []float32, relu bool) {
	for j, v := range row {
		if bias != nil {
			v += bias[j]
		}
		if relu && v <= 0 {
			v = 0
		}
		row[j] = v
	}
}

// checkGemm checks the sizes and C, and reports whether there is anything to do.
func checkGemm(m, n, k int, c []float32, ldc int) bool {
	if m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel: Gemm of (%d, %d) by (%d, %d)", m, k, k, n))
	}
	if m == 0 || n == 0 {
		return false
	}
	checkMatrix("C", c, m, n, ldc)
	return true
}

// operand returns a view of op(x), (rows, cols), after checking its storage.
func operand(name string, trans bool, rows, cols int, x []float32, ld int) view {
	if trans {
		checkMatrix(name, x, cols, rows, ld)
		return view{x, 1, ld}
	}
	checkMatrix(name, x, rows, cols, ld)
	return view{x, ld, 1}
}

// checkMatrix panics unless x holds rows rows of cols numbers, ld apart.
func checkMatrix(name string, x []float32, rows, cols, ld int) {
	if ld < max(cols, 1) {
		panic(fmt.Sprintf("kernel: Gemm: %s has rows of %d, stride %d", name, cols, ld))
	}
	if need := (rows-1)*ld + cols; len(x) < need {
		panic(fmt.Sprintf("kernel: Gemm: %s (%d, %d) with stride %d needs %d numbers, got %d", name, rows, cols, ld, need, len(x)))
	}
}

// scaleMatrix computes C = beta*C; beta == 0 overwrites.
func scaleMatrix(beta float32, m, n int, c []float32, ldc int) {
	for i := range m {
		scaleRow(beta, c[i*ldc:i*ldc+n])
	}
}

func scaleRow(beta float32, row []float32) {
	if beta == 0 {
		clear(row)
		return
	}
	for j := range row {
		row[j] *= beta
	}
}
