package mahalanobis

// anchor is the work of one anchor: its distances, the sums over its triplets and
// the room that these need.
type anchor struct {
	p      []float64 // (n-1, or n of a population) h of the other positives
	q      []float64 // (m) h of the negatives
	a      []float64 // (as p) sum over negatives of phi'
	b      []float64 // (m) sum over the other positives of phi'
	p2     []float64 // (as p) and (m): room
	q2     []float64
	room   room
	ps     panels
	qs     panels
	second *second // where second derivatives are wanted
}

func (a *anchor) init(n, m int) {
	a.p, a.a, a.p2 = make([]float64, n), make([]float64, n), make([]float64, n)
	a.q, a.b, a.q2 = make([]float64, m), make([]float64, m), make([]float64, m)
}

// distances fills p and q of anchor i. Each is a product of differences, so that
// equal points have exactly 0.
func (a *anchor) distances(t *part, i int) {
	t.forms(i, 0, a.p[:i])
	t.forms(i, t.after(i), a.p[i:])
	t.forms(i, t.n, a.q)
}

// after is the positive that follows those before i: i itself, or the next one.
func (t *part) after(i int) int {
	if t.self {
		return i
	}
	return i + 1
}

// forms sets out to h between point i and the points from the given one on.
func (t *part) forms(i, from int, out []float64) {
	d := t.d
	x, wx := t.points[i*d:(i+1)*d], t.image[i*d:(i+1)*d]
	for k := range out {
		at := (from + k) * d
		y, wy := t.points[at:at+d], t.image[at:at+d]
		sum := 0.0
		for c, v := range y {
			sum += float64((v - x[c]) * (wy[c] - wx[c]))
		}
		out[k] = sum
	}
}

// sum returns the sum of phi over the anchor's triplets, and with slopes fills a and b.
func (a *anchor) sum(t *part, slopes bool) float64 {
	if slopes {
		clear(a.a)
		clear(a.b)
	}
	z := t.loss.Zeta
	switch t.loss.Name {
	case Logistic:
		return a.logistic(t.sums, a.p, a.q, z, a.a, a.b, a.p2, a.q2, slopes)
	case LogisticPrinted:
		// softplus(-u) is softplus(q - p - zeta), with slopes of the other sign.
		value := a.logistic(t.sums, a.q, a.p, -z, a.b, a.a, a.q2, a.p2, slopes)
		if slopes {
			negate(a.a)
			negate(a.b)
		}
		return value
	case LeastSquares:
		return a.squares(z, slopes)
	}
	return a.sorted(t.loss, slopes)
}

func negate(x []float64) {
	for i, v := range x {
		x[i] = -v
	}
}

// spread adds the anchor's column sums to weight, positives then negatives (these
// with -b), and sets v to sum_j a_j x_j - sum_k b_k y_k.
func (a *anchor) spread(t *part, i int, weight, v []float64) {
	clear(v)
	d := t.d
	add := func(from int, s []float64, sign float64) {
		for k, f := range s {
			f *= sign
			weight[from+k] += f
			at := (from + k) * d
			for c, x := range t.points[at : at+d] {
				v[c] += float64(f * x)
			}
		}
	}
	add(0, a.a[:i], 1)
	add(t.after(i), a.a[i:], 1)
	add(t.n, a.b, -1)
}
