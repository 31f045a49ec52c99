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
		pp += v * v
	}
	for _, v := range a.q {
		v -= c
		sq += v
		qq += v * v
	}
	if slopes {
		for j, v := range a.p {
			a.a[j] = m*(v+zeta-c) - sq
		}
		for k, v := range a.q {
			a.b[k] = sp - n*(v-c)
		}
	}
	return (m*pp+n*qq)/2 - sp*sq
}
