package mahalanobis

import (
	"math"
	"slices"
)

// widest is how far apart p + zeta and q of an anchor may lie for the form without
// an exponential of each triplet: e^u stays below 10^131, and its square is finite.
const widest = 300

// logistic returns sum_jk softplus(p_j - q_k + zeta). With slopes it adds sum_k
// sigmoid to to_j and sum_j sigmoid to from_k. e and f are room for as many numbers
// as p and q.
func (a *anchor) logistic(s Sums, p, q []float64, zeta float64, to, from, e, f []float64, slopes bool) float64 {
	low, high := min(slices.Min(p)+zeta, slices.Min(q)), max(slices.Max(p)+zeta, slices.Max(q))
	spread := high - low
	switch {
	case s != Exact && spread < width*mostPanels && (s == Interpolated || panelSums(len(p), len(q), spread) < tripleSums(len(p), len(q))):
		return a.interpolated(p, q, zeta, low, to, from, slopes)
	case spread <= widest:
		return pairwise(p, q, zeta, low+float64(spread/2), to, from, e, f, slopes)
	}
	return eachPair(p, q, zeta, to, from, slopes)
}

// pairwise is logistic for numbers that lie within widest around c.
//
// e^u is e^(p_j+zeta-c) e^(c-q_k), so that there are n+m exponentials and not n m; one
// division serves two triplets, and one logarithm the product of many factors 1 +
// e^u. Sigmoids have a relative error of some 2^-52 (4 + widest), as u itself has by
// rounding for terms of that size; each softplus has an absolute error of some 2^-52
// (1 + u). Where u spreads wider, each triplet is done by itself.
func pairwise(p, q []float64, zeta, c float64, a, b, e, f []float64, slopes bool) float64 {
	for j, v := range p {
		e[j] = math.Exp(v + zeta - c)
	}
	largest := 0.0
	for k, v := range q {
		f[k] = math.Exp(c - v)
		largest = max(largest, f[k])
	}
	value := 0.0
	for j, x := range e {
		// The product of so many factors, each below 1 + x largest, is finite.
		block := 2 * int(min(64, max(1, 350/math.Log1p(x*largest))))
		row := 0.0
		for lo := 0; lo < len(f); lo += block {
			fs := f[lo:min(lo+block, len(f))]
			product, sum := 1.0, 0.0
			if slopes {
				product, sum = sigmoids(x, fs, b[lo:lo+len(fs)])
			} else {
				for _, y := range fs {
					product *= 1 + float64(x*y)
				}
			}
			row += sum
			value += math.Log(product)
		}
		if slopes {
			a[j] += row
		}
	}
	return value
}

// sigmoids adds x f/(1 + x f) to b for each f, and returns their sum and the product
// of the 1 + x f.
func sigmoids(x float64, f, b []float64) (product, sum float64) {
	product = 1
	b = b[:len(f)]
	k := 0
	for ; k+1 < len(f); k += 2 {
		u, v := float64(x*f[k]), float64(x*f[k+1])
		u1, v1 := 1+u, 1+v
		both := u1 * v1
		r := 1 / both
		u = float64(u * (v1 * r))
		v = float64(v * (u1 * r))
		b[k] += u
		b[k+1] += v
		sum += u + v
		product *= both
	}
	if k < len(f) {
		u := float64(x * f[k])
		product *= 1 + u
		u /= 1 + u
		b[k] += u
		sum += u
	}
	return product, sum
}

// eachPair is pairwise for numbers of any size.
func eachPair(p, q []float64, zeta float64, a, b []float64, slopes bool) float64 {
	value := 0.0
	for j, x := range p {
		for k, y := range q {
			v, s, _ := softplus(x - y + zeta)
			value += v
			if slopes {
				a[j] += s
				b[k] += s
			}
		}
	}
	return value
}
