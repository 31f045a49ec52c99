package mahalanobis

import "tercet/internal/stat"

// squares is the sum of u^2/2 over the anchor's triplets, from the moments of p + zeta
// and q: u is their difference, and phi' is u.
func (a *anchor) squares(zeta float64, slopes bool) float64 {
	n, m := float64(len(a.p)), float64(len(a.q))
	// Moments about a point amid the numbers: their squares stay small.
	c := stat.Mean(a.q)
	sp, sq, pp, qq := 0.0, 0.0, 0.0, 0.0
	for _, v := range a.p {
		v += zeta - c
		sp += v
		pp += float64(v * v)
	}
	for _, v := range a.q {
		v -= c
		sq += v
		qq += float64(v * v)
	}
	if slopes {
		for j, v := range a.p {
			a.a[j] = float64(m*(v+zeta-c)) - sq
		}
		for k, v := range a.q {
			a.b[k] = sp - float64(n*(v-c))
		}
	}
	return float64((float64(m*pp)+float64(n*qq))/2) - float64(sp*sq)
}
