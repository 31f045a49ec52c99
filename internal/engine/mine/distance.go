package mine

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "distance-weighted", Doc: "negatives evenly over distances", Defaults: DistanceKeys{}})
}

// DistanceKeys are the keys of distance-weighted.
type DistanceKeys struct {
	Cutoff float64 `yaml:"cutoff" check:">=0,<2" doc:"smaller distances count as this one; 0 is off, as in Zhou and Patel, 0.5 is Wu's"`
}

// Set implements Setter.
func (k DistanceKeys) Set(o *Options) { o.Cutoff = k.Cutoff }

// Fit implements Fitter: the density of distances is that of points on a sphere.
func (DistanceKeys) Fit(normalized bool) []component.Fault {
	if normalized {
		return nil
	}
	return []component.Fault{component.Faultf("name", "distance-weighted is defined on embeddings of length 1: set model.normalize: true, or use another miner")}
}

func (DistanceKeys) make(o Options) Miner { return newByAnchor(o, true, pickDistanceWeighted) }

// pickDistanceWeighted draws negative n with probability proportional to 1/q(d_an),
// where q is the density of the distance of two random points on the unit sphere
// (Wu et al., Sampling Matters, ICCV 2017, eq. 6):
//
//	log 1/q(d) = (2-D) ln d - (D-3)/2 ln(1 - d^2/4)
//
// As in robrank, d is not clipped from below unless Cutoff asks for it; a weight
// that is not a number (d > 2: not on the sphere) counts as 0, an infinite one (d
// = 0) makes all 0; if all weights are 0 the draw is uniform over the whole batch,
// the anchor's own class included, and counts as a fallback. The embeddings must
// have length 1 (model or Normalize).
//
// The weights drawn with are upper bounds where the distance is known within bounds
// alone; the negative drawn is then measured, and kept with probability weight over
// bound. This draws by the weights themselves. One that is not kept stays with its
// measured weight, so that no negative is refused twice: among near points in many
// dimensions a bound can be e^100 times the weight.
func pickDistanceWeighted(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	b.boundWeights(a)
	w := &b.weights
	if w.sum == 0 {
		return p, r.IntN(b.rows), true
	}
	for w.sum > 0 {
		j := w.draw(r.Float64() * w.sum)
		if w.measured[j] {
			return p, j, false
		}
		l := b.logWeight(a, j)
		if r.Float64() < math.Exp(l-w.log[j]) {
			return p, j, false
		}
		w.log[j], w.measured[j] = l, true
		w.scale()
	}
	return p, r.IntN(b.rows), true
}

// weights are those of the rows for one anchor.
type weights struct {
	log      []float64 // log 1/q, or an upper bound; NaN where there is no weight
	value    []float64 // exp(log - the largest log)
	measured []bool    // log is no mere bound
	sum      float64
}

// draw returns the row at u in [0, sum).
func (w *weights) draw(u float64) int {
	last := -1
	for j, v := range w.value {
		if v == 0 {
			continue
		}
		last = j
		if u < v {
			break
		}
		u -= v
	}
	return last
}

// boundWeights fills the weights of the negatives of a.
func (b *batch) boundWeights(a int) {
	v, w := &b.view, &b.weights
	w.log, w.value, w.measured = grow(w.log, b.rows), grow(w.value, b.rows), grow(w.measured, b.rows)
	n := float64(b.dim)
	for j := range w.log {
		w.log[j], w.measured[j] = math.NaN(), true
		if b.same(a, j) {
			continue
		}
		lo, hi := max(math.Sqrt(v.lo[j]), b.o.Cutoff), max(math.Sqrt(v.hi[j]), b.o.Cutoff)
		if lo == 0 || hi > 1.999 || b.dim < 4 {
			w.log[j] = b.logWeight(a, j)
		} else {
			// Of the density's two terms one falls with d and one rises, ever faster:
			// the most that the sum can gain from lo to hi is the latter's share.
			w.measured[j] = false
			l := logInverseDensity(lo, b.dim)
			w.log[j] = l + float64((n-3)*hi/(4-float64(hi*hi))*(hi-lo)) + float64(1e-12*(1+math.Abs(l)))
		}
	}
	w.scale()
}

// scale sets the values and their sum from the logs.
func (w *weights) scale() {
	top := math.Inf(-1)
	for _, l := range w.log {
		if l > top { // false for NaN
			top = l
		}
	}
	w.sum = 0
	for j, l := range w.log {
		x := math.Exp(l - top)
		if math.IsNaN(x) {
			x = 0
		}
		w.value[j] = x
		w.sum += x
	}
}

// logWeight returns log 1/q of the distance of rows a and j.
func (b *batch) logWeight(a, j int) float64 {
	return logInverseDensity(max(b.measure(a, j), b.o.Cutoff), b.dim)
}

// logInverseDensity returns log 1/q(d) up to a constant.
func logInverseDensity(d float64, dim int) float64 {
	n := float64(dim)
	return float64((2-n)*math.Log(d)) - float64((n-3)/2*math.Log(1-float64(d*d/4)))
}
