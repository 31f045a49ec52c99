package mahalanobis

import (
	"cmp"
	"slices"

	"tercet/internal/stat"
)

// room is what sorting needs.
type room struct {
	p, q []ranked
	sums []float64 // of q or p, from the lowest: sum and sum of squares by turns
	// steps counts the ranges of q that begin (+) and end at each place.
	steps []float64
}

// ranked is a number and where it stood.
type ranked struct {
	v float64
	i int32
}

func rank(x []float64, out []ranked) []ranked {
	out = out[:0]
	for i, v := range x {
		out = append(out, ranked{v, int32(i)})
	}
	slices.SortFunc(out, func(a, b ranked) int { return cmp.Compare(a.v, b.v) })
	return out
}

// moments puts the sums of v - c and of their squares over the first k of x into
// r.sums, for k from 0 to all.
func (r *room) moments(x []ranked, c float64) {
	r.sums = append(r.sums[:0], 0, 0)
	s, ss := 0.0, 0.0
	for _, y := range x {
		v := y.v - c
		s += v
		ss += float64(v * v)
		r.sums = append(r.sums, s, ss)
	}
}

// sorted is the sum of the loss over the anchor's triplets for losses that are
// polynomials between kinks: between kinks all sums come from those of sorted q. It
// takes O(n log n).
func (a *anchor) sorted(l Loss, slopes bool) float64 {
	a.room.p, a.room.q = rank(a.p, a.room.p), rank(a.q, a.room.q)
	if l.Name == Hinge {
		return a.hinge(l.Zeta, slopes)
	}
	delta := l.Delta
	if l.Name == softHinge {
		delta /= 2
	}
	value := a.room.huber(a.room.p, a.room.q, l.Zeta, delta, a.a, slopes)
	if slopes { // phi' is odd: -phi'(-u), with p and q in each other's place
		a.room.huber(a.room.q, a.room.p, -l.Zeta, delta, a.b, true)
		negate(a.b)
	}
	if l.Name == softHinge {
		return a.soften(value, l, slopes)
	}
	return value
}

// soften makes sums of the soft hinge from those of Huber's loss.
func (a *anchor) soften(value float64, l Loss, slopes bool) float64 {
	n, m, tau := float64(len(a.p)), float64(len(a.q)), l.Delta
	if slopes {
		for j, v := range a.a {
			a.a[j] = v/tau + float64(m/2)
		}
		for k, v := range a.b {
			a.b[k] = v/tau + float64(n/2)
		}
	}
	sum := n * m * (stat.Mean(a.p) + l.Zeta - stat.Mean(a.q))
	return float64(sum/2) + value/tau + float64(n*m*tau/8)
}

// hinge sums max(0, u). With p ascending, the q that are below p + zeta grow in
// number.
func (a *anchor) hinge(zeta float64, slopes bool) float64 {
	r := &a.room
	c := stat.Mean(a.q)
	r.moments(r.q, c)
	r.steps = append(r.steps[:0], make([]float64, len(r.q)+1)...)
	value, k := 0.0, 0
	for _, x := range r.p {
		for k < len(r.q) && x.v-r.q[k].v+zeta > 0 {
			k++
		}
		value += float64(float64(k)*(x.v+zeta-c)) - r.sums[2*k]
		r.steps[k]--
		if slopes {
			a.a[x.i] = float64(k)
		}
	}
	if slopes { // b counts the p whose range goes beyond q's rank
		above := 0.0
		for k := len(r.q) - 1; k >= 0; k-- {
			above -= r.steps[k+1]
			a.b[r.q[k].i] = above
		}
	}
	return value
}

// huber sums Huber's loss of u = x - y + shift over all pairs, and with slopes sets a
// at the places of x to the sums of its slope over y.
func (r *room) huber(x, y []ranked, shift, delta float64, a []float64, slopes bool) float64 {
	c := y[len(y)/2].v
	r.moments(y, c)
	value, lo, hi, all := 0.0, 0, 0, len(y)
	for _, e := range x {
		for lo < all && e.v-y[lo].v+shift > delta {
			lo++
		}
		for hi = max(hi, lo); hi < all && e.v-y[hi].v+shift >= -delta; {
			hi++
		}
		// u is v less y - c.
		v := e.v + shift - c
		n := float64(hi - lo)
		s, ss := r.sums[2*hi]-r.sums[2*lo], r.sums[2*hi+1]-r.sums[2*lo+1]
		below, above := float64(lo), float64(all-hi)
		tail := float64((below-above)*v) - r.sums[2*lo] + (r.sums[2*all] - r.sums[2*hi])
		value += float64(n*v*v/2) - float64(v*s) + float64(ss/2) + float64(delta*(tail-float64((below+above)*delta/2)))
		if slopes {
			a[e.i] = float64(n*v) - s + float64(delta*(below-above))
		}
	}
	return value
}
