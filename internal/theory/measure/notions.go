package measure

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// NotionsOptions says how the notions of stability of Table 4 are measured that are about
// the mean over triplets or about w.
type NotionsOptions struct {
	Source   Source
	Learner  Learner
	Sizes    record.Sizes
	Repeats  int
	Replaced int // samples of each side that are replaced by fresh ones, one at a time
	Triplets int // of fresh points, whose losses are compared; 0 is notionTriplets
	// Points of either side are what those triplets are drawn from; 0 is notionPoints, or as
	// many as the sample has.
	Points record.Sizes
	Seed   uint64
}

// notionTriplets are the triplets of a repeat, notionPoints the fresh points of either side
// that they are drawn from.
const (
	notionTriplets = 10_000
	notionPoints   = 40
)

// notionRun is one repeat.
type notionRun struct {
	sizes, moves                                            [2]float64 // mean |l - l'| and ||w - w'|| of each side
	hypothesis, err, moved, near, far, elastic, certificate float64
}

// Notions measures, with S_i the sample S with one point replaced by a fresh one and z a
// triplet of fresh points:
//
//   - hypothesis stability E |l(A(S), z) - l(A(S_i), z)|. Without the absolute value, which
//     the table's text lacks, it is 0 for any algorithm: S and S_i have one distribution;
//   - error stability |E_z [l(A(S), z) - l(A(S_i), z)]|, the largest of a repeat;
//   - on-average augment stability, the mean of ||A(S) - A(S_i)||;
//   - locally elastic stability: E |l(A(S), z) - l(A(S_i), z)| of the tenth of the triplets
//     with a point nearest to the replaced one, and of the tenth that is farthest, and the
//     largest mean over z of a repeat, sup_i E_z gamma(z_i, z).
//
// Of means over samples, that of the side where it is larger counts.
//
// Errors: those of the source and the learner; fewer than one repeat.
func Notions(ctx context.Context, o NotionsOptions) (*record.NotionsResult, error) {
	if o.Triplets < 1 {
		o.Triplets = notionTriplets
	}
	runs := make([]notionRun, max(o.Repeats, 0))
	err := repeated(ctx, o.Repeats, func(rep int) (err error) {
		runs[rep], err = o.run(ctx, rep)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := &record.NotionsResult{Sizes: o.Sizes}
	of := func(f func(notionRun) float64) []float64 {
		var out []float64
		for _, r := range runs {
			out = append(out, f(r))
			n.Certificate = max(n.Certificate, r.certificate)
		}
		return out
	}
	n.HypothesisValues, n.ErrorValues, n.MovedValues = of(func(r notionRun) float64 { return r.hypothesis }), of(func(r notionRun) float64 { return r.err }), of(func(r notionRun) float64 { return r.moved })
	n.Hypothesis, n.Error, n.Moved = EstimateOf(n.HypothesisValues), EstimateOf(n.ErrorValues), EstimateOf(n.MovedValues)
	n.NearValues, n.FarValues = of(func(r notionRun) float64 { return r.near }), of(func(r notionRun) float64 { return r.far })
	n.Near, n.Far = EstimateOf(n.NearValues), EstimateOf(n.FarValues)
	for side, e := range []*[2]record.Estimate{&n.Positives, &n.Negatives} {
		e[0] = EstimateOf(of(func(r notionRun) float64 { return r.sizes[side] }))
		e[1] = EstimateOf(of(func(r notionRun) float64 { return r.moves[side] }))
	}
	n.Elastic = EstimateOf(of(func(r notionRun) float64 { return r.elastic }))
	return n, nil
}

// fresh are the points that are drawn besides the sample's: those that replace, and those
// that triplets are made of.
func (o NotionsOptions) fresh() record.Sizes {
	p := o.Points
	if p == (record.Sizes{}) {
		p = record.Sizes{Pos: min(notionPoints, o.Sizes.Pos), Neg: min(notionPoints, o.Sizes.Neg)}
	}
	return record.Sizes{Pos: min(o.Replaced, o.Sizes.Pos) + max(2, p.Pos), Neg: min(o.Replaced, o.Sizes.Neg) + max(1, p.Neg)}
}

func (o NotionsOptions) run(ctx context.Context, rep int) (notionRun, error) {
	r := rng.New(o.Seed, "measure/notions", uint64(rep))
	s, h, err := o.Source.Draw(o.Sizes, o.fresh(), r)
	if err != nil {
		return notionRun{}, err
	}
	chance := r.Uint64()
	learned, err := o.Learner.Learn(ctx, s, chance, nil)
	if err != nil {
		return notionRun{}, err
	}
	d, loss := s.D, o.Learner.Criterion()
	by := record.Sizes{Pos: min(o.Replaced, o.Sizes.Pos), Neg: min(o.Replaced, o.Sizes.Neg)}
	z := &mahalanobis.Problem{Positive: h.Positive[by.Pos*d:], Negative: h.Negative[by.Neg*d:], D: d}
	triplets := drawn(z, o.Triplets, r)
	before := lossesAt(triplets, d, loss, learned.Theta)
	out := notionRun{certificate: learned.Certificate}
	all := 0
	for side, points := range [][2][]float64{{s.Positive, h.Positive}, {s.Negative, h.Negative}} {
		count := []int{by.Pos, by.Neg}[side]
		mean, moved := 0.0, 0.0
		for at, i := range choose(len(points[0])/d, count, r) {
			l, err := o.Learner.Learn(ctx, replace(s, side, i, points[1][at*d:(at+1)*d]), chance, learned.Theta)
			if err != nil {
				return notionRun{}, err
			}
			c := changesAt(before, lossesAt(triplets, d, loss, l.Theta), triplets, points[0][i*d:(i+1)*d])
			mean += c.size / float64(count)
			out.err, out.elastic = max(out.err, math.Abs(c.shift)), max(out.elastic, c.size)
			moved += distance(learned.Theta, l.Theta) / float64(count)
			out.near, out.far = out.near+c.near, out.far+c.far
			out.certificate = max(out.certificate, l.Certificate)
			all++
		}
		out.sizes[side], out.moves[side] = mean, moved
		out.hypothesis, out.moved = max(out.hypothesis, mean), max(out.moved, moved)
	}
	out.near, out.far = out.near/float64(max(all, 1)), out.far/float64(max(all, 1))
	return out, nil
}

// drawn are triplets of different points of p, (n, 3, d).
func drawn(p *mahalanobis.Problem, n int, r *rng.Stream) []float64 {
	out := make([]float64, 0, 3*n*p.D)
	point := func(x []float64, i int) { out = append(out, x[i*p.D:(i+1)*p.D]...) }
	for range n {
		i, j := r.IntN(p.NPos()), r.IntN(p.NPos()-1)
		if j >= i {
			j++
		}
		point(p.Positive, i)
		point(p.Positive, j)
		point(p.Negative, r.IntN(p.NNeg()))
	}
	return out
}

// lossChange is how the losses of triplets change: the mean of |l' - l| and of l' - l, and
// the first of the tenths nearest to and farthest from the replaced point.
type lossChange struct{ size, shift, near, far float64 }

func changesAt(before, after, triplets, replaced []float64) lossChange {
	d, n := len(replaced), len(before)
	sizes := make([]float64, n)
	order := make([]int, n)
	apart := make([]float64, n)
	var c lossChange
	for t := range before {
		shift := after[t] - before[t]
		sizes[t], order[t], apart[t] = math.Abs(shift), t, math.Inf(1)
		for p := 3 * t * d; p < 3*(t+1)*d; p += d {
			apart[t] = min(apart[t], distance(triplets[p:p+d], replaced))
		}
		c.shift += shift / float64(n)
	}
	c.size = stat.Mean(sizes)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(apart[a], apart[b]), cmp.Compare(a, b)) })
	tenth := max(1, n/10)
	for k := range tenth {
		c.near += sizes[order[k]] / float64(tenth)
		c.far += sizes[order[n-1-k]] / float64(tenth)
	}
	return c
}

func (o NotionsOptions) key() string {
	s := o.Source
	o.Source = nil
	return key("notions", s, o)
}

// ofNotions are the series of a measurement.
var ofNotions = []struct {
	name, quantity string
	point          func(*record.NotionsResult) record.MetricPoint
}{
	{"hypothesis stability", "hypothesis", func(n *record.NotionsResult) record.MetricPoint {
		return record.MetricPoint{Measured: n.Hypothesis, Repeats: n.HypothesisValues}
	}},
	{"error stability", "error", func(n *record.NotionsResult) record.MetricPoint {
		return record.MetricPoint{Measured: n.Error, Repeats: n.ErrorValues}
	}},
	{"on-average augment stability", "||w - w'||", func(n *record.NotionsResult) record.MetricPoint {
		return record.MetricPoint{Measured: n.Moved, Repeats: n.MovedValues}
	}},
	{"locally elastic, near the replaced point", "near", func(n *record.NotionsResult) record.MetricPoint {
		return record.MetricPoint{Measured: n.Near, Repeats: n.NearValues}
	}},
	{"locally elastic, far from it", "far", func(n *record.NotionsResult) record.MetricPoint {
		return record.MetricPoint{Measured: n.Far, Repeats: n.FarValues}
	}},
}

// notionSeries begins the series of a learner.
func notionSeries(l Learner) []record.MetricSeries {
	out := make([]record.MetricSeries, len(ofNotions))
	for i, of := range ofNotions {
		out[i] = record.MetricSeries{Name: of.name, Quantity: of.quantity, Axis: "n", Learner: l.Describe()}
	}
	return out
}

// addNotions adds a point to each.
func addNotions(series []record.MetricSeries, l Learner, n *record.NotionsResult) {
	for i, of := range ofNotions {
		p := of.point(n)
		if p.X = float64(Least(n.Sizes)); i == 0 {
			p.Notions = n
		}
		series[i].Points = append(series[i].Points, at(p, l, n.Sizes))
	}
}
