package mahalanobis

import "slices"

// panelCurvatures fills r, c and t of second for the logistic losses by sums over
// panels, as interpolated does for slopes: T_j = sum_m T_m(x_j) sum_n c_mn sum_k T_n(y_k)
// Q_k. base is the least of p + zeta and q.
func (a *anchor) panelCurvatures(zeta, base float64) {
	s, ps, qs := a.second, &a.ps, &a.qs
	ps.fill(a.p, zeta, base)
	qs.fill(a.q, 0, base)
	t := &kernels().curvature
	for i, k := range ps.number {
		for j, o := range qs.number {
			if o -= k; o >= 0 && o <= reach {
				add(&t[o], &ps.moment[i], &qs.moment[j], &ps.out[i], &qs.out[j])
			} else if o < 0 && o >= -reach {
				add(&t[-o], &qs.moment[j], &ps.moment[i], &qs.out[j], &ps.out[i])
			}
		}
	}
	ps.gather(s.r)
	qs.gather(s.c)

	m := s.m
	size := order * m
	s.moment = slices.Grow(s.moment[:0], len(qs.number)*size)[:len(qs.number)*size]
	clear(s.moment)
	var b basis
	for k, slot := range qs.slot {
		chebyshev(qs.place[k], &b)
		expand(&b, row(s.q, k), s.moment[int(slot)*size:])
	}
	s.node = slices.Grow(s.node[:0], len(ps.number)*size)[:len(ps.number)*size]
	clear(s.node)
	for i, k := range ps.number {
		node := s.node[i*size : (i+1)*size]
		for j, o := range qs.number {
			moment := s.moment[j*size : (j+1)*size]
			if o -= k; o >= 0 && o <= reach {
				for n := range order {
					for l := range order {
						axpy(t[o][n][l], moment[l*m:(l+1)*m], node[n*m:])
					}
				}
			} else if o < 0 && o >= -reach {
				for n := range order {
					for l := range order {
						axpy(t[-o][l][n], moment[l*m:(l+1)*m], node[n*m:])
					}
				}
			}
		}
	}
	clear(s.t.Data)
	for j, slot := range ps.slot {
		chebyshev(ps.place[j], &b)
		to := row(s.t, j)
		for n, f := range b {
			axpy(f, s.node[int(slot)*size+n*m:][:m], to)
		}
	}
}

// expand adds b_n x to row n of to.
func expand(b *basis, x, to []float64) {
	for n, f := range b {
		axpy(f, x, to[n*len(x):])
	}
}

// axpy adds f x to the beginning of y.
func axpy(f float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(f * v)
	}
}
