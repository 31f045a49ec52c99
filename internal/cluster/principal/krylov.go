package principal

import (
	"context"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"tercet/internal/rng"
)

const (
	krylovDepth    = 6    // powers of the matrix in one basis
	krylovRestarts = 30   // bases tried
	krylovResidual = 1e-8 // of each eigenpair, relative to the largest eigenvalue
)

// krylov finds the k largest eigenvalues of the positive semidefinite c and
// their eigenvectors (as rows) by a restarted block Krylov method: the basis of
// V, CV, C^2 V, ... is made orthonormal block by block, the eigenproblem is
// solved within it (Rayleigh-Ritz), and the best vectors start the next basis
// (Musco and Musco 2015; Saad, Numerical Methods for Large Eigenvalue Problems,
// 2011, ch. 6). ok is false where the residuals stay too large, or ctx has ended.
func krylov(ctx context.Context, c *mat.Dense, k int) (values, vectors []float64, ok bool) {
	d, _ := c.Dims()
	width := k + min(k, 8) + 2
	if width*krylovDepth > d {
		return nil, nil, false
	}
	r := rng.New(0, "cluster/pca")
	block := mat.NewDense(d, width, nil)
	for i := range d {
		for j := range width {
			block.Set(i, j, r.NormFloat64())
		}
	}
	for range krylovRestarts {
		if ctx.Err() != nil {
			return nil, nil, false
		}
		basis := krylovBasis(c, block)
		var image, small mat.Dense
		image.Mul(c, basis)
		small.Mul(basis.T(), &image)
		m := width * krylovDepth
		sym := mat.NewSymDense(m, nil)
		for i := range m {
			for j := i; j < m; j++ {
				sym.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
			}
		}
		var e mat.EigenSym
		if !e.Factorize(sym, true) {
			return nil, nil, false
		}
		all := e.Values(nil)
		var ritz mat.Dense
		e.VectorsTo(&ritz)
		top := ritz.Slice(0, m, m-width, m) // ascending: the last are the largest
		block.Mul(basis, top)
		var mapped mat.Dense
		mapped.Mul(&image, top)
		values, vectors, ok = make([]float64, k), make([]float64, k*d), true
		for i := range k {
			column := width - 1 - i
			values[i] = all[m-1-i]
			residual := mat.NewVecDense(d, nil)
			residual.AddScaledVec(mapped.ColView(column), -values[i], block.ColView(column))
			if mat.Norm(residual, 2) > krylovResidual*all[m-1] {
				ok = false
				break
			}
			mat.Col(vectors[i*d:(i+1)*d], column, block)
		}
		if ok {
			return values, vectors, true
		}
	}
	return nil, nil, false
}

// krylovBasis returns orthonormal columns that span block, C block, C^2 block...
func krylovBasis(c *mat.Dense, block *mat.Dense) *mat.Dense {
	d, width := block.Dims()
	basis := mat.NewDense(d, width*krylovDepth, nil)
	next := mat.DenseCopyOf(block)
	for step := range krylovDepth {
		if step > 0 {
			next.Mul(c, basis.Slice(0, d, (step-1)*width, step*width))
			before := basis.Slice(0, d, 0, step*width)
			for range 2 { // once more removes what rounding left
				var part, known mat.Dense
				part.Mul(before.T(), next)
				known.Mul(before, &part)
				next.Sub(next, &known)
				orthonormal(next)
			}
		} else {
			orthonormal(next)
		}
		basis.Slice(0, d, step*width, (step+1)*width).(*mat.Dense).Copy(next)
	}
	return basis
}

// orthonormal replaces the columns of m by an orthonormal basis of their span;
// columns that depend on others become further orthonormal directions.
func orthonormal(m *mat.Dense) {
	a := m.RawMatrix()
	tau := make([]float64, a.Cols)
	work := make([]float64, 1)
	lapack64.Geqrf(a, tau, work, -1) // asks for the size of work
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(a, tau, work, len(work))
	lapack64.Orgqr(a, tau, work, len(work))
}
