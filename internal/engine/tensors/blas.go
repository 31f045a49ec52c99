package tensors

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/tensor"

	"tercet/internal/engine/kernel"
)

// BLAS is gonum's implementation with the float32 matrix products replaced by
// kernel.Gemm and kernel.Syrk. It satisfies both blas.Float32 and tensor.BLAS.
// Unlike gonum's products they never skip zeros, so a NaN or an infinity is not
// hidden.
type BLAS struct{ gonum.Implementation }

var (
	_ blas.Float32 = BLAS{}
	_ tensor.BLAS  = BLAS{}
)

// Sgemm computes C = alpha*op(A)*op(B) + beta*C on row-major matrices. As in
// gonum, it panics on a transpose value, a size or a stride that is wrong.
func (BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	kernel.Gemm(transposed("Sgemm", tA), transposed("Sgemm", tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Ssyrk computes C = alpha*A*Aᵀ + beta*C, or with tA alpha*Aᵀ*A + beta*C, on the
// triangle ul of C, and leaves the other as it is.
func (BLAS) Ssyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if ul != blas.Upper && ul != blas.Lower {
		panic("tensors: Ssyrk: bad triangle value")
	}
	kernel.Syrk(ul == blas.Lower, transposed("Ssyrk", tA), n, k, alpha, a, lda, beta, c, ldc)
}

func transposed(function string, t blas.Transpose) bool {
	switch t {
	case blas.NoTrans:
		return false
	case blas.Trans, blas.ConjTrans:
		return true
	}
	panic("tensors: " + function + ": bad transpose value")
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
