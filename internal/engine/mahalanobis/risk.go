package mahalanobis

import (
	"fmt"

	"tercet/internal/par"
)

// Sums says how the sums over all triplets are done.
type Sums string

// The ways. Only the logistic losses know both: the others are exact by sorting.
const (
	Exact        Sums = "exact"        // each triplet
	Interpolated Sums = "interpolated" // piecewise Chebyshev, for many points
	Auto         Sums = "auto"         // the cheaper one for each anchor
)

// Risk is the mean over problems of the empirical risk
//
//	R_S(w) = 1/(n+ (n+ - 1) n-) sum_{i != j, k} phi(u_ijk)
//
// over all triplets of each, with its derivatives in svec(w). One problem is one
// class against the rest. It serves one goroutine at a time.
type Risk struct {
	loss  Loss
	d     int
	parts []*part
	w     []float64 // (d, d)
	g     []float64 // (d, d)
}

// NewRisk returns the risk over the problems, which have one dimension and are not
// empty.
func NewRisk(problems []*Problem, l Loss, s Sums) (*Risk, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	d, err := dimension(problems)
	if err != nil {
		return nil, err
	}
	switch s {
	case Exact, Interpolated, Auto:
	case "":
		s = Auto
	default:
		return nil, fmt.Errorf("%w: unknown sums %q (valid: exact, interpolated, auto)", ErrInput, s)
	}
	r := &Risk{loss: l, d: d, w: make([]float64, d*d), g: make([]float64, d*d)}
	for _, p := range problems {
		t := newPart(p, l, s)
		center(t.points, d)
		r.parts = append(r.parts, t)
	}
	return r, nil
}

// NewPopulation returns the risk of the uniform distribution on the problem's points: the
// mean loss of three independent draws, of which the two positives may be one point,
//
//	R(w) = 1/(n+^2 n-) sum_{i, j, k} phi(u_ijk).
//
// Its mean over samples that are drawn from the points with replacement is what R_S
// estimates without bias. Errors: those of NewRisk.
func NewPopulation(p *Problem, l Loss, s Sums) (*Risk, error) {
	r, err := NewRisk([]*Problem{p}, l, s)
	if err != nil {
		return nil, err
	}
	t := r.parts[0]
	n := float64(t.n)
	t.self, t.scale = true, 1/(n*n*float64(t.m))
	return r, nil
}

// Dim returns d(d+1)/2, the length of theta.
func (r *Risk) Dim() int { return r.d * (r.d + 1) / 2 }

// Value returns the risk at w = smat(theta).
func (r *Risk) Value(theta []float64) float64 {
	toSmat(theta, r.d, r.w)
	value := 0.0
	for _, p := range r.parts {
		value += p.eval(r.w, nil)
	}
	return value / float64(len(r.parts))
}

// ValueGrad returns the risk, and puts its gradient with respect to theta into grad,
// of the same length.
func (r *Risk) ValueGrad(theta, grad []float64) float64 {
	toSmat(theta, r.d, r.w)
	clear(r.g)
	value := 0.0
	for _, p := range r.parts {
		value += p.eval(r.w, r.g)
	}
	toSvec(r.g, r.d, grad)
	scale := 1 / float64(len(r.parts))
	for i := range grad {
		grad[i] *= scale
	}
	return value * scale
}

// part is the risk of one problem. With p_j = h(i, j), q_k = h(i, k) and the sums
// a_ij = sum_k phi'(u_ijk), b_ik = sum_j phi'(u_ijk) of anchor i, the gradient in w is
//
//	1/Z [ sum_ij a_ij (x_i-x_j)(x_i-x_j)^T - sum_ik b_ik (x_i-y_k)(x_i-y_k)^T ]
//	= 1/Z [ X^T diag(a_+) X - Y^T diag(b_+) Y - V^T X - X^T V ],
//	  V_i = sum_j a_ij x_j - sum_k b_ik y_k,
//
// where a_+ and b_+ are the column sums; the row sums of a and b are both sum_jk
// phi' and cancel. That is the form with products of the section on the exact
// gradient, without its n+ x n matrices.
type part struct {
	loss   Loss
	sums   Sums
	n, m   int // n+, n-
	d      int
	self   bool      // triplets with i = j count, as of independent draws
	scale  float64   // 1/Z
	points []float64 // (n+m, d) positives, then negatives; a Risk takes their mean off
	image  []float64 // (n+m, d) points times w
	v      []float64 // (n, d)
	weight []float64 // (n+m) a_+, then -b_+
	chunks []chunk
	size   int // anchors in a chunk
	spare  par.Free[anchor]
}

// chunk is what some anchors add.
type chunk struct {
	value  float64
	weight []float64
}

// mostChunks bounds the memory of the chunks' sums; it is more than the threads of
// most machines, so that the work is spread evenly.
const mostChunks = 64

func newPart(p *Problem, l Loss, s Sums) *part {
	n, m, d := p.NPos(), p.NNeg(), p.D
	t := &part{loss: l, sums: s, n: n, m: m, d: d, scale: 1 / p.Triplets()}
	t.points = append(append(make([]float64, 0, (n+m)*d), p.Positive...), p.Negative...)
	t.image, t.v = make([]float64, len(t.points)), make([]float64, n*d)
	t.weight = make([]float64, n+m)
	t.size = (n + mostChunks - 1) / mostChunks
	t.chunks = make([]chunk, (n+t.size-1)/t.size)
	for c := range t.chunks {
		t.chunks[c].weight = make([]float64, n+m)
	}
	return t
}

// center takes the mean off. Differences of points are all that counts, and the
// products of small numbers lose fewer digits.
func center(x []float64, d int) {
	n := len(x) / d
	for c := range d {
		sum := 0.0
		for i := c; i < len(x); i += d {
			sum += x[i] / float64(n)
		}
		for i := c; i < len(x); i += d {
			x[i] -= sum
		}
	}
}

// eval returns the risk at w, and adds its gradient (d, d) to g, unless that is nil.
func (t *part) eval(w, g []float64) float64 {
	t.transform(w)
	par.For(t.n, t.size, func(lo, hi int) {
		c := &t.chunks[lo/t.size]
		a := t.borrow()
		clear(c.weight)
		c.value = 0
		for i := lo; i < hi; i++ {
			a.distances(t, i)
			if g == nil {
				c.value += a.sum(t, false)
			} else {
				c.value += a.sum(t, true)
				a.spread(t, i, c.weight, t.v[i*t.d:(i+1)*t.d])
			}
		}
		t.spare.Put(a)
	})
	value := 0.0
	for c := range t.chunks {
		value += t.chunks[c].value
	}
	if g != nil {
		t.gradient(g)
	}
	return value * t.scale
}

// transform sets image to points times w.
func (t *part) transform(w []float64) {
	d := t.d
	par.Each(t.n+t.m, 64, func(i int) {
		x, y := t.points[i*d:(i+1)*d], t.image[i*d:(i+1)*d]
		clear(y)
		for c, v := range x {
			for k, u := range w[c*d : (c+1)*d] {
				y[k] += float64(v * u)
			}
		}
	})
}

// gradient adds the gradient to g from v and the chunks' weights.
func (t *part) gradient(g []float64) {
	clear(t.weight)
	for c := range t.chunks {
		for i, v := range t.chunks[c].weight {
			t.weight[i] += v
		}
	}
	d, n := t.d, t.n
	par.Each(d, max(1, d/16), func(r int) {
		row := g[r*d : (r+1)*d]
		for i, weight := range t.weight {
			x := t.points[i*d : (i+1)*d]
			f := float64(weight * x[r] * t.scale)
			if i >= n {
				for c, xc := range x {
					row[c] += float64(f * xc)
				}
				continue
			}
			v := t.v[i*d : (i+1)*d]
			f -= float64(v[r] * t.scale)
			h := x[r] * t.scale
			for c, xc := range x {
				row[c] += float64(f*xc) - float64(h*v[c])
			}
		}
	})
}

// others is the number of positives that an anchor meets.
func (t *part) others() int {
	if t.self {
		return t.n
	}
	return t.n - 1
}

func (t *part) borrow() *anchor {
	a := t.spare.Get()
	if a.p == nil {
		a.init(t.others(), t.m)
	}
	return a
}
