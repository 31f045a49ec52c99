package array

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/tensor"

	"tercet/internal/engine/kernel"
)

// BLAS is gonum's implementation with the float32 matrix product replaced by
// kernel.Gemm. It satisfies both blas.Float32 and tensor.BLAS. Unlike gonum's
// product it never skips zeros, so a NaN or an infinity is not hidden.
type BLAS struct{ gonum.Implementation }

var (
	_ blas.Float32 = BLAS{}
	_ tensor.BLAS  = BLAS{}
)

// Sgemm computes C = alpha*op(A)*op(B) + beta*C on row-major matrices. As in
// gonum, it panics on a transpose value, a size or a stride that is wrong.
func (BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	kernel.Gemm(transposed(tA), transposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func transposed(t blas.Transpose) bool {
	switch t {
	case blas.NoTrans:
		return false
	case blas.Trans, blas.ConjTrans:
		return true
	}
	panic("array: Sgemm: bad transpose value")
}

var install sync.Once

// Install makes gonum's blas32 and gorgonia use BLAS, once per process: call it
// before other goroutines use either library. MatMul calls it itself.
func Install() {
	install.Do(func() {
		blas32.Use(BLAS{})
		tensor.Use(BLAS{})
	})
}
