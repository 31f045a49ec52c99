package mahalanobis

import "math"

// Svec returns the coordinates of a symmetric matrix w (d, d) in which inner
// products are those of matrices: its upper triangle row by row, (0,0), (0,1), ...,
// (0,d-1), (1,1), ..., with the numbers off the diagonal times sqrt 2. Of a w that is
// not symmetric they are those of (w + w^T)/2, the part that h_w depends on.
func Svec(w []float64, d int) []float64 {
	theta := make([]float64, d*(d+1)/2)
	toSvec(w, d, theta)
	return theta
}

// toSvec is Svec into theta.
func toSvec(w []float64, d int, theta []float64) {
	at := 0
	for r := range d {
		theta[at] = w[r*d+r]
		at++
		for c := r + 1; c < d; c++ {
			theta[at] = (w[r*d+c] + w[c*d+r]) * (math.Sqrt2 / 2)
			at++
		}
	}
}

// Smat returns the symmetric matrix (d, d) of theta: the inverse of Svec.
func Smat(theta []float64, d int) []float64 {
	w := make([]float64, d*d)
	toSmat(theta, d, w)
	return w
}

// toSmat is Smat into w.
func toSmat(theta []float64, d int, w []float64) {
	at := 0
	for r := range d {
		w[r*d+r] = theta[at]
		at++
		for c := r + 1; c < d; c++ {
			v := theta[at] * (math.Sqrt2 / 2)
			w[r*d+c], w[c*d+r] = v, v
			at++
		}
	}
}

// Identity returns svec of the identity: h_w is the squared Euclidean distance.
func Identity(d int) []float64 {
	theta := make([]float64, d*(d+1)/2)
	at := 0
	for r := range d {
		theta[at] = 1
		at += d - r
	}
	return theta
}

// addSquare adds scale * svec(aa^T) for a = x - y to theta.
func addSquare(theta []float64, x, y []float64, scale float64) {
	at := 0
	for r, v := range x {
		a := (v - y[r]) * scale
		theta[at] += float64(a * (v - y[r]))
		at++
		a *= math.Sqrt2
		for c := r + 1; c < len(x); c++ {
			theta[at] += float64(a * (x[c] - y[c]))
			at++
		}
	}
}

// form returns h_w(x, y) for w = smat(theta).
func form(theta []float64, x, y []float64) float64 {
	at, sum := 0, 0.0
	for r, v := range x {
		a := v - y[r]
		row := 0.0
		for c := r + 1; c < len(x); c++ {
			row += float64(theta[at+c-r] * (x[c] - y[c]))
		}
		sum += float64(a * (float64(theta[at]*a) + float64(math.Sqrt2*row)))
		at += len(x) - r
	}
	return sum
}
