package mahalanobis

import (
	"math"
	"sync"
)

// The line is cut into panels of this width. On a pair of panels a function of u =
// p - q is sum_mn c_mn T_m(x) T_n(y), with x and y in [-1, 1] the places in them. The
// functions have their poles at distance pi from the line, so that coefficients fall
// as 25.2^-n: what order 11 leaves out is some 10^-15.
const (
	width = 0.5
	order = 11
	// reach panels apart, sigmoid(-|u|) is below 10^-17 and left out.
	reach = 80
)

// basis is T_0 to T_10 of one place.
type basis = [order]float64

// at fills b with T_n(x), by products of lower ones: that is quicker than the
// recurrence, whose steps wait for each other.
func chebyshev(x float64, b *basis) {
	y := 2 * x
	t2 := float64(y*x) - 1
	t3 := float64(y*t2) - x
	d2, d3 := 2*t2, 2*t3
	t4, t5 := float64(d2*t2)-1, float64(d2*t3)-x
	t6, t7 := float64(d3*t3)-1, float64(d3*t4)-x
	d4, d5 := 2*t4, 2*t5
	b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = 1, x, t2, t3, t4, t5, t6, t7
	b[8], b[9], b[10] = float64(d4*t4)-1, float64(d4*t5)-x, float64(d5*t5)-1
}

// block is c_mn of one pair of panels.
type block = [order][order]float64

// tables are the coefficients for u at and below 0, by how many panels q lies above
// p: of softplus(u), sigmoid(u) and its slope. For q below p they serve -u with p and
// q in each other's place.
type tables struct {
	value, slope, curvature [reach + 1]block
}

var kernels = sync.OnceValue(func() *tables {
	t := new(tables)
	for o := range reach + 1 {
		t.fill(o)
	}
	return t
})

// fill computes the blocks of panels o apart: values at more nodes than there are
// coefficients, and their sums with cosines.
func (t *tables) fill(o int) {
	const nodes = 2 * order
	var x [nodes]float64
	var b [nodes]basis
	for i := range x {
		angle := math.Pi * (float64(i) + 0.5) / nodes
		x[i] = math.Cos(angle)
		for n := range order {
			b[i][n] = math.Cos(float64(n)*angle) * 2 / nodes
		}
		b[i][0] /= 2
	}
	for i := range nodes {
		var inner [3]basis
		for j := range nodes {
			f := [3]float64{}
			f[0], f[1], f[2] = softplus(width * (float64((x[i]-x[j])/2) - float64(o)))
			for k, v := range f {
				for n, c := range b[j] {
					inner[k][n] += float64(v * c)
				}
			}
		}
		for m, c := range b[i] {
			for n := range order {
				t.value[o][m][n] += float64(c * inner[0][n])
				t.slope[o][m][n] += float64(c * inner[1][n])
				t.curvature[o][m][n] += float64(c * inner[2][n])
			}
		}
	}
}
