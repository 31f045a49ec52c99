package measure

import (
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// defaultTriplets is how many triplets of either kind are tried for the largest change.
const defaultTriplets = record.MetricTriplets

// probe holds triplets at which two solutions are compared.
type probe struct {
	d, m   int       // m = d(d+1)/2
	points []float64 // (triplets, 3, d): anchor, positive, negative
	marks  []float64 // (triplets, m): svec(aa^T - bb^T), so that u = theta . mark + zeta
	data   int       // the first so many are triplets of the sample
}

// sphere draws triplets for a probe from the ball: 70 % of the points of them on the
// sphere, where quadratic forms are largest, the others uniform inside.
func sphere(d int, radius float64, n int, r *rng.Stream) []float64 {
	out := make([]float64, 3*n*d)
	for i := 0; i < len(out); i += d {
		x := out[i : i+d]
		sum := 0.0
		for sum == 0 {
			sum = 0
			for j := range x {
				x[j] = r.NormFloat64()
				sum += float64(x[j] * x[j])
			}
		}
		scale := radius / math.Sqrt(sum)
		if r.Float64() >= 0.7 {
			scale *= math.Pow(r.Float64(), 1/float64(d))
		}
		for j := range x {
			x[j] *= scale
		}
	}
	return out
}

// newProbe joins triplets of the sample, all of them where there are no more than n, and
// those of a sphere.
func newProbe(p *mahalanobis.Problem, ball []float64, n int, r *rng.Stream) *probe {
	d := p.D
	pr := &probe{d: d, m: d * (d + 1) / 2}
	add := func(i, j, k int) {
		pr.points = append(pr.points, p.Positive[i*d:(i+1)*d]...)
		pr.points = append(pr.points, p.Positive[j*d:(j+1)*d]...)
		pr.points = append(pr.points, p.Negative[k*d:(k+1)*d]...)
	}
	nPos, nNeg := p.NPos(), p.NNeg()
	if p.Triplets() <= float64(n) {
		for i := range nPos {
			for j := range nPos {
				for k := 0; i != j && k < nNeg; k++ {
					add(i, j, k)
				}
			}
		}
	} else {
		for range n {
			i, j := r.IntN(nPos), r.IntN(nPos-1)
			if j >= i {
				j++
			}
			add(i, j, r.IntN(nNeg))
		}
	}
	pr.data = len(pr.points) / (3 * d)
	pr.points = append(pr.points, ball...)
	n = len(pr.points) / (3 * d)
	pr.marks = make([]float64, n*pr.m)
	for t := range n {
		x := pr.points[3*t*d : 3*(t+1)*d]
		mark(x[:d], x[d:2*d], x[2*d:], pr.marks[t*pr.m:(t+1)*pr.m])
	}
	return pr
}

// mark puts svec(aa^T - bb^T), a = x - y, b = x - z, into out.
func mark(x, y, z, out []float64) {
	at := 0
	for r := range x {
		a, b := x[r]-y[r], x[r]-z[r]
		out[at] = float64(a*a) - float64(b*b)
		at++
		for c := r + 1; c < len(x); c++ {
			out[at] = math.Sqrt2 * (float64(a*(x[c]-y[c])) - float64(b*(x[c]-z[c])))
			at++
		}
	}
}

// margins puts theta . mark of all triplets into out.
func (pr *probe) margins(theta, out []float64) {
	for t := range out {
		row := pr.marks[t*pr.m : (t+1)*pr.m]
		sum := 0.0
		for i, v := range row {
			sum += float64(v * theta[i])
		}
		out[t] = sum
	}
}

// count is the number of triplets.
func (pr *probe) count() int { return len(pr.marks) / pr.m }

// base is a solution that others are compared with.
type base struct {
	theta   []float64
	margins []float64 // theta . mark of each triplet
	losses  []float64
}

func (pr *probe) base(l mahalanobis.Loss, theta []float64) *base {
	b := &base{theta, make([]float64, pr.count()), make([]float64, pr.count())}
	pr.margins(theta, b.margins)
	for t, u := range b.margins {
		b.losses[t], _, _ = l.At(u + l.Zeta)
	}
	return b
}

// starts is how many of the best triplets an ascent begins from.
const starts = 3

// changes finds the largest |l - l'| between the base and another solution: over the
// sample's triplets, and over all of the probe and those that an ascent from the best
// ones reaches; a radius of 0 leaves the ascent out. scratch has room for all triplets.
func (pr *probe) changes(l mahalanobis.Loss, from *base, other, scratch []float64, radius float64) (data, all float64) {
	pr.margins(other, scratch)
	steepest := slope(l)
	var best [starts]int
	var most [starts]float64
	for t, u := range scratch {
		enough := most[starts-1]
		if t < pr.data {
			enough = min(enough, data)
		}
		if steepest*math.Abs(u-from.margins[t]) <= enough {
			continue // no loss changes by more than its steepest slope allows
		}
		v, _, _ := l.At(u + l.Zeta)
		v = math.Abs(v - from.losses[t])
		if t < pr.data {
			data = max(data, v)
		}
		for s := range most {
			if v > most[s] {
				copy(most[s+1:], most[s:])
				copy(best[s+1:], best[s:])
				most[s], best[s] = v, t
				break
			}
		}
	}
	all = most[0]
	if radius > 0 {
		c := newClimb(l, from.theta, other, pr.d, radius)
		for s, v := range most {
			if v > 0 {
				all = max(all, c.from(pr.points[3*best[s]*pr.d:3*(best[s]+1)*pr.d]))
			}
		}
	}
	return data, all
}

// slope is the largest |phi'|; +Inf for least squares.
func slope(l mahalanobis.Loss) float64 {
	switch l.Name {
	case mahalanobis.LeastSquares:
		return math.Inf(1)
	case mahalanobis.Huber:
		return l.Delta
	}
	return 1
}

// difference is |phi(u + zeta) - phi(v + zeta)|.
func difference(l mahalanobis.Loss, u, v float64) float64 {
	if u == v {
		return 0
	}
	a, _, _ := l.At(u + l.Zeta)
	b, _, _ := l.At(v + l.Zeta)
	return math.Abs(a - b)
}
