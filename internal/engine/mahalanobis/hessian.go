package mahalanobis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"tercet/internal/par"
)

// Hessian puts the second derivative of the risk with respect to theta into h, (m, m)
// with m = d(d+1)/2, row-major: the mean over triplets of c v v^T with v = svec(aa^T -
// bb^T) and c the second derivative of phi at u. (The supplement's eq. 16 squares the
// matrix where it means that outer product.) Of the hinge it is 0.
func (r *Risk) Hessian(theta, h []float64) {
	toSmat(theta, r.d, r.w)
	m := r.Dim()
	clear(h[:m*m])
	for _, p := range r.parts {
		p.hessian(r.w, h, m)
	}
	scale := 1 / float64(len(r.parts))
	for i := range m {
		for j := range i + 1 {
			v := (h[i*m+j] + h[j*m+i]) * scale
			h[i*m+j], h[j*m+i] = v, v
		}
	}
}

// hessian adds to h a matrix whose sum with its transpose is the Hessian in m numbers.
// With P_j = svec((x_j-x_i)(x_j-x_i)^T), Q_k likewise and w_jk the second
// derivative of phi at u_ijk, anchor i adds
//
//	sum_jk w_jk (P_j - Q_k)(P_j - Q_k)^T = S + S^T,
//	S = sum_j P_j (r_j/2 P_j - T_j)^T + sum_k Q_k (c_k/2 Q_k)^T,  T_j = sum_k w_jk Q_k,
//
// where r and c are the sums of w over k and over j.
func (t *part) hessian(w, h []float64, m int) {
	if t.loss.Name == Hinge {
		return
	}
	t.transform(w)
	// So many chunks that their matrices stay small beside the points' distances.
	chunks := max(1, min(mostChunks, (1<<22)/(m*m)))
	size := (t.n + chunks - 1) / chunks
	sums := make([][]float64, (t.n+size-1)/size)
	par.For(t.n, size, func(lo, hi int) {
		s := make([]float64, m*m)
		a := t.borrow()
		if a.second == nil {
			a.second = newSecond(t.others(), t.m, m)
		}
		for i := lo; i < hi; i++ {
			a.distances(t, i)
			a.second.features(t, i)
			a.curvatures(t)
			a.second.add(s)
		}
		t.spare.Put(a)
		sums[lo/size] = s
	})
	for _, s := range sums {
		for i, v := range s {
			h[i] += float64(v * t.scale)
		}
	}
}

// second is the room for one anchor's second derivatives.
type second struct {
	m      int
	p, q   blas64.General // (n, m), (k, m) features P and Q
	t      blas64.General // (n, m) T
	r, c   []float64      // sums of w over negatives and over positives
	w      []float64      // a row of w
	prefix []float64      // (k+1, m) sums of sorted Q
	moment []float64      // of each panel in use of q: (order, m) sums of T_n Q
	node   []float64      // of a panel of p: (order, m) coefficients of T
}

func newSecond(n, k, m int) *second {
	matrix := func(rows int) blas64.General {
		return blas64.General{Rows: rows, Cols: m, Stride: m, Data: make([]float64, rows*m)}
	}
	return &second{m: m, p: matrix(n), q: matrix(k), t: matrix(n), r: make([]float64, n), c: make([]float64, k), w: make([]float64, k)}
}

func row(g blas64.General, i int) []float64 { return g.Data[i*g.Stride : i*g.Stride+g.Cols] }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// features fills p and q of anchor i.
func (s *second) features(t *part, i int) {
	clear(s.p.Data)
	clear(s.q.Data)
	x := t.points[i*t.d : (i+1)*t.d]
	for j := range s.p.Rows {
		at := j
		if j >= i {
			at += t.after(i) - i
		}
		addSquare(row(s.p, j), t.points[at*t.d:(at+1)*t.d], x, 1)
	}
	for k := range s.q.Rows {
		at := t.n + k
		addSquare(row(s.q, k), t.points[at*t.d:(at+1)*t.d], x, 1)
	}
}

// add adds S of the anchor to sum; it spoils t and q.
func (s *second) add(sum []float64) {
	out := blas64.General{Rows: s.m, Cols: s.m, Stride: s.m, Data: sum}
	for j, r := range s.r {
		p, t := row(s.p, j), row(s.t, j)
		for f, v := range p {
			t[f] = float64(r/2*v) - t[f]
		}
		blas64.Ger(1, vector(p), vector(t), out)
	}
	for k, c := range s.c {
		q := vector(row(s.q, k))
		blas64.Ger(c/2, q, q, out)
	}
}

// curvatures fills r, c and t of second.
func (a *anchor) curvatures(t *part) {
	z, delta := t.loss.Zeta, t.loss.Delta
	switch t.loss.Name {
	case LeastSquares:
		a.between(z, math.Inf(1))
		return
	case Huber:
		a.between(z, delta)
		return
	case softHinge:
		a.between(z, delta/2)
		blas64.Scal(1/delta, vector(a.second.r))
		blas64.Scal(1/delta, vector(a.second.c))
		blas64.Scal(1/delta, vector(a.second.t.Data))
		return
	}
	// Both logistic losses have the same curvature, which is even.
	low, high := min(slices.Min(a.p)+z, slices.Min(a.q)), max(slices.Max(a.p)+z, slices.Max(a.q))
	s := a.second
	if t.sums != Exact && high-low < width*mostPanels && (t.sums == Interpolated || panelHessian(t.n, t.m, s.m) < tripleHessian(t.n, t.m, s.m)) {
		clear(s.r)
		clear(s.c)
		a.panelCurvatures(z, low)
		return
	}
	clear(s.c)
	c := low + float64((high-low)/2)
	if high-low <= widest {
		for k, v := range a.q {
			a.q2[k] = math.Exp(c - v)
		}
	}
	for j, v := range a.p {
		sum := 0.0
		if high-low <= widest {
			e := math.Exp(v + z - c)
			for k, f := range a.q2 {
				f = float64(f * e)
				g := 1 / (1 + f)
				f = float64(f * (g * g))
				s.w[k] = f
				s.c[k] += f
				sum += f
			}
		} else {
			for k, y := range a.q {
				_, _, f := softplus(v - y + z)
				s.w[k] = f
				s.c[k] += f
				sum += f
			}
		}
		s.r[j] = sum
		blas64.Gemv(blas.Trans, 1, s.q, vector(s.w), 0, vector(row(s.t, j)))
	}
}

// between is w = 1 where |u| <= delta and 0 elsewhere: with p and q sorted, each p has
// a range of q, and T is a difference of sums over sorted Q.
func (a *anchor) between(zeta, delta float64) {
	s := a.second
	a.room.p, a.room.q = rank(a.p, a.room.p), rank(a.q, a.room.q)
	m, all := s.m, len(a.room.q)
	s.prefix = slices.Grow(s.prefix[:0], (all+1)*m)[:(all+1)*m]
	clear(s.prefix[:m])
	for k, e := range a.room.q {
		for f, v := range row(s.q, int(e.i)) {
			s.prefix[(k+1)*m+f] = s.prefix[k*m+f] + v
		}
	}
	a.room.steps = append(a.room.steps[:0], make([]float64, all+1)...)
	steps := a.room.steps // where ranges begin and end
	lo, hi := 0, 0
	for _, e := range a.room.p {
		for lo < all && e.v-a.room.q[lo].v+zeta > delta {
			lo++
		}
		for hi = max(hi, lo); hi < all && e.v-a.room.q[hi].v+zeta >= -delta; {
			hi++
		}
		s.r[e.i] = float64(hi - lo)
		steps[lo]++
		steps[hi]--
		for f := range m {
			s.t.Data[int(e.i)*m+f] = s.prefix[hi*m+f] - s.prefix[lo*m+f]
		}
	}
	open := 0.0
	for k, e := range a.room.q {
		open += steps[k]
		s.c[e.i] = open
	}
}
