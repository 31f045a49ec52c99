package principal

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"tercet/internal/cluster"
	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
)

// Result holds the k directions of largest variance, largest first.
type Result struct {
	K          int
	Mean       []float64 // d
	Components []float64 // (k, d), orthonormal rows; the entry of largest magnitude of each is positive
	Variance   []float64 // along each, with n-1 below; of data with no more directions, 0
	Ratio      []float64 // of the total variance
	Projected  []float32 // (n, k): components times (row - mean)
}

// denseLimit is the dimension up to which all eigenvectors are computed at once.
const denseLimit = 256

// Components finds the first k principal components of the n rows of x, d numbers each,
// from the eigenvectors of their covariance. Products run in float32 over 256
// rows at a time and are summed in float64; eigenvectors are in float64, to a
// relative residual of 1e-8 of the largest eigenvalue. In more than 256
// dimensions, for k below d/8, they come from a block Krylov iteration that
// starts from fixed random vectors. The result has the same bits for any number
// of threads.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), k outside
// 1..d, constant data, which have no direction of variance; that of ctx if it ended, between
// two blocks of rows or two bases of the iteration.
func Components(ctx context.Context, x []float32, n, d, k int) (*Result, error) {
	if err := metric.CheckMatrix(cluster.ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if k < 1 || k > d {
		return nil, fmt.Errorf("%w: %d components of %d dimensions: choose 1..%d", cluster.ErrInput, k, d, d)
	}
	data := cluster.Center(x, n, d)
	if data.Variance == 0 {
		return nil, fmt.Errorf("%w: all %d rows are the same and have no principal components (a collapsed embedding?)", cluster.ErrInput, n)
	}
	c, err := covariance(ctx, data)
	if err != nil {
		return nil, err
	}
	values, vectors, err := leading(ctx, c, k)
	if err != nil {
		return nil, err
	}
	r := &Result{K: k, Mean: data.Mean, Components: vectors, Variance: make([]float64, k), Ratio: make([]float64, k)}
	total := mat.Trace(c)
	for i, v := range values {
		v = max(v, 0)
		r.Ratio[i] = v / total
		r.Variance[i] = v / data.Scale / data.Scale
		orient(vectors[i*d : (i+1)*d])
	}
	r.Projected = project(ctx, data, vectors, k)
	return r, ctx.Err()
}

// covariance returns that of data.X, with n-1 below.
func covariance(ctx context.Context, data *cluster.Centered) (*mat.Dense, error) {
	const rows = 256
	n, d := data.N, data.D
	sum := make([]float64, d*d)
	part := make([]float32, d*d)
	for lo := 0; lo < n; lo += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := min(rows, n-lo)
		block := data.X[lo*d : (lo+b)*d]
		kernel.Syrk(false, true, d, b, 1, block, d, 0, part, d)
		kernel.Mirror(d, part, d)
		par.For(d*d, 1<<14, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				sum[i] += float64(part[i])
			}
		})
	}
	// center rounded each row to float32, which leaves a mean of about 1e-8.
	for i := range sum {
		sum[i] /= float64(n - 1)
	}
	return mat.NewDense(d, d, sum), nil
}

// leading returns the k largest eigenvalues of c, largest first, and their
// eigenvectors as rows.
func leading(ctx context.Context, c *mat.Dense, k int) ([]float64, []float64, error) {
	d, _ := c.Dims()
	if d > denseLimit && k < d/8 {
		if values, vectors, ok := krylov(ctx, c, k); ok || ctx.Err() != nil {
			return values, vectors, ctx.Err()
		}
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(d, c.RawMatrix().Data), true) {
		return nil, nil, fmt.Errorf("%w: the eigenvectors of the covariance (%d dimensions) did not converge", cluster.ErrInput, d)
	}
	all := e.Values(nil) // ascending
	var v mat.Dense
	e.VectorsTo(&v)
	values, vectors := make([]float64, k), make([]float64, k*d)
	for i := range k {
		values[i] = all[d-1-i]
		mat.Col(vectors[i*d:(i+1)*d], d-1-i, &v)
	}
	return values, vectors, nil
}

// orient makes the entry of largest magnitude positive, the first of equals.
func orient(v []float64) {
	at := 0
	for j, a := range v {
		if math.Abs(a) > math.Abs(v[at]) {
			at = j
		}
	}
	if v[at] < 0 {
		for j := range v {
			v[j] = -v[j]
		}
	}
}

func project(ctx context.Context, data *cluster.Centered, vectors []float64, k int) []float32 {
	d := data.D
	out := make([]float32, data.N*k)
	par.Each(data.N, 64, func(i int) {
		if ctx.Err() != nil {
			return
		}
		for c := range k {
			var s float64
			for j, v := range data.Row(i) {
				s += float64(float64(v) * vectors[c*d+j])
			}
			out[i*k+c] = float32(s / data.Scale)
		}
	})
	return out
}
