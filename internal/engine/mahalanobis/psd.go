package mahalanobis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// eigen decomposes matrices of one size.
type eigen struct {
	d       int
	w       []float64
	values  []float64 // ascending
	vectors mat.Dense // (d, d) by column
	solver  mat.EigenSym
}

func newEigen(d int) *eigen {
	return &eigen{d: d, w: make([]float64, d*d), values: make([]float64, d)}
}

// decompose fills values and vectors of smat(theta). It panics on numbers that are
// not finite.
func (e *eigen) decompose(theta []float64) {
	toSmat(theta, e.d, e.w)
	if !e.solver.Factorize(mat.NewSymDense(e.d, e.w), true) {
		panic("mahalanobis: the eigenvalues of w do not converge: are its numbers finite?")
	}
	e.solver.Values(e.values)
	e.solver.VectorsTo(&e.vectors)
}

// negative returns the sums of |eigenvalues| below 0 and of all.
func (e *eigen) negative() (mass, all float64) {
	for _, v := range e.values {
		if v < 0 {
			mass -= v
		}
		all += math.Abs(v)
	}
	return mass, all
}

// project takes the negative eigenvalues out of theta, which stays as it is where
// there are none, and returns their sum of sizes.
func (e *eigen) project(theta []float64) float64 {
	e.decompose(theta)
	mass, _ := e.negative()
	if mass == 0 {
		return 0
	}
	d := e.d
	for r := range d {
		for c := range r + 1 {
			sum := 0.0
			for k := d - 1; k >= 0 && e.values[k] > 0; k-- {
				sum += float64(e.values[k] * e.vectors.At(r, k) * e.vectors.At(c, k))
			}
			e.w[r*d+c], e.w[c*d+r] = sum, sum
		}
	}
	toSvec(e.w, d, theta)
	return mass
}

// ProjectPSD moves theta = svec(w) to the nearest positive semidefinite matrix in
// the Frobenius norm: negative eigenvalues become 0. It returns the sum of their
// sizes. theta has to be finite.
func ProjectPSD(theta []float64, d int) float64 { return newEigen(d).project(theta) }

// Factor returns l (d, d), row-major, with l^T l = w_+, the positive semidefinite part
// of w = smat(theta): |l x - l y|^2 = h_{w_+}(x, y). Row r is the eigenvector of the
// r-th largest eigenvalue times its root, its largest number above 0; rows of
// eigenvalues at or below 0 are 0. negative is the share of the eigenvalues' sum of
// sizes that was below 0 and is lost; of w = 0 it is 0.
//
// Errors: numbers that are not finite; a w without an eigenvalue above 0, which
// would put all points into one.
func Factor(theta []float64, d int) (l []float64, negative float64, err error) {
	if len(theta) != d*(d+1)/2 {
		return nil, 0, fmt.Errorf("%w: svec of a %d x %d matrix has %d numbers, got %d", ErrInput, d, d, d*(d+1)/2, len(theta))
	}
	for i, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, 0, fmt.Errorf("%w: number %d of svec(w) is %v", ErrInput, i, v)
		}
	}
	e := newEigen(d)
	e.decompose(theta)
	mass, all := e.negative()
	if all > 0 {
		negative = mass / all
	}
	if e.values[d-1] <= 0 {
		return nil, negative, fmt.Errorf("%w: no eigenvalue of w is above 0: all points would fall into one; w rewards far positives or was not learned", ErrInput)
	}
	l = make([]float64, d*d)
	for r := range d {
		k := d - 1 - r
		if e.values[k] <= 0 {
			break
		}
		root, largest := math.Sqrt(e.values[k]), 0.0
		for c := range d {
			if v := e.vectors.At(c, k); math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		for c := range d {
			l[r*d+c] = math.Copysign(root, largest) * e.vectors.At(c, k)
		}
	}
	return l, negative, nil
}
