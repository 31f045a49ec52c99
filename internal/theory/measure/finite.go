package measure

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// Known is a Population whose minimizers are known, so that excess risks can be measured.
type Known interface {
	Population
	// Minimizer returns svec of argmin_w R(w) + sigma/2 ||w||^2; sigma = 0 has a w whose
	// risk is within nearLeast (1 + ||w*||^2) of the least.
	Minimizer(ctx context.Context, l mahalanobis.Loss, sigma float64) ([]float64, error)
	// Spread returns b, the largest loss of w over all triplets, and tau, its variance.
	Spread(l mahalanobis.Loss, theta []float64) (b, tau float64, err error)
}

// nearLeast is the regularization with which minimizers of R itself are found: with w* one
// of them, R(w) - R(w*) <= nearLeast/2 ||w*||^2.
const nearLeast = 1e-9

// Finite is the uniform distribution on stored points: samples are drawn with replacement,
// independently, as the theory assumes, and risks and minimizers are exact.
type Finite struct {
	points *mahalanobis.Problem
	radius float64
}

// NewFinite returns the distribution on the points of a pool, of each side as many as most
// allows, drawn by seed; those of the pool's reference play no part.
func NewFinite(p *Pool, most record.Sizes, seed uint64) *Finite {
	r := rng.New(seed, "measure/finite")
	pos, _ := deal(p.pos, p.d, most.Pos, r)
	neg, _ := deal(p.neg, p.d, most.Neg, r)
	return &Finite{points: &mahalanobis.Problem{Positive: pos, Negative: neg, D: p.d}, radius: p.radius}
}

// NewSeparated returns a distribution of low noise: m positives at equal steps on a circle
// of that radius around ((1 - radius), 0), m negatives on one around the opposite point.
// With a radius below 1/3 each positive is nearer to all positives than to any negative.
func NewSeparated(m int, radius float64) *Finite {
	points := func(center float64) []float64 {
		out := make([]float64, 0, 2*m)
		for i := range m {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(m))
			out = append(out, center+float64(radius*cos), radius*sin)
		}
		return out
	}
	return &Finite{points: &mahalanobis.Problem{Positive: points(1 - radius), Negative: points(radius - 1), D: 2}, radius: 1}
}

// Count is the number of points of either side, which samples may be larger than.
func (f *Finite) Count() record.Sizes {
	return record.Sizes{Pos: f.points.NPos(), Neg: f.points.NNeg()}
}

// Dim returns d.
func (f *Finite) Dim() int { return f.points.D }

// Radius returns B.
func (f *Finite) Radius() float64 { return f.radius }

// Draw draws independent points.
func (f *Finite) Draw(sample, held record.Sizes, r *rng.Stream) (s, h *mahalanobis.Problem, err error) {
	if err := checkSizes(sample, "a sample"); err != nil {
		return nil, nil, err
	}
	if err := checkSizes(held, "a held-out set"); err != nil {
		return nil, nil, err
	}
	return f.draw(sample, r), f.draw(held, r), nil
}

func (f *Finite) draw(n record.Sizes, r *rng.Stream) *mahalanobis.Problem {
	d := f.points.D
	rows := func(x []float64, n int) []float64 {
		out := make([]float64, 0, n*d)
		for range n {
			i := r.IntN(len(x) / d)
			out = append(out, x[i*d:(i+1)*d]...)
		}
		return out
	}
	return &mahalanobis.Problem{Positive: rows(f.points.Positive, n.Pos), Negative: rows(f.points.Negative, n.Neg), D: d}
}

// Reference returns all points: a w learned from them does not depend on the samples.
func (f *Finite) Reference() (*mahalanobis.Problem, error) { return f.points, nil }

// Risk is the mean loss of independent points, exact.
func (f *Finite) Risk(l mahalanobis.Loss, theta []float64) float64 {
	r, err := mahalanobis.NewPopulation(f.points, l, mahalanobis.Auto)
	if err != nil {
		return math.NaN() // a loss that no learner can have had
	}
	return r.Value(theta)
}

// Minimizer minimizes the exact risk by Newton's method.
func (f *Finite) Minimizer(ctx context.Context, l mahalanobis.Loss, sigma float64) ([]float64, error) {
	r, err := mahalanobis.NewPopulation(f.points, l, mahalanobis.Auto)
	if err != nil {
		return nil, err
	}
	o := mahalanobis.RRMOptions{Sigma: sigma}
	if sigma == 0 { // the gradient decides: with it w is near enough for the risk
		o.Sigma, o.Tol = nearLeast, 0.01
	}
	s, err := mahalanobis.Minimize(ctx, r, o)
	if err != nil {
		return nil, fmt.Errorf("minimizer of the risk of %d + %d points: %w", f.Count().Pos, f.Count().Neg, err)
	}
	return s.Theta, nil
}

// varianceDraws is how many triplets Spread estimates tau from.
const varianceDraws = 200_000

// Spread returns the exact b, and tau estimated from independent triplets.
func (f *Finite) Spread(l mahalanobis.Loss, theta []float64) (b, tau float64, err error) {
	low, high := f.extremes(theta)
	for _, u := range []float64{low, high} {
		v, _, _ := l.At(u + l.Zeta)
		b = max(b, v)
	}
	r := rng.New(0, "measure/spread")
	sum, squares := 0.0, 0.0
	one := make([]float64, len(theta))
	d := f.points.D
	point := func(x []float64) []float64 { i := r.IntN(len(x) / d); return x[i*d : (i+1)*d] }
	for range varianceDraws {
		mark(point(f.points.Positive), point(f.points.Positive), point(f.points.Negative), one)
		u := l.Zeta
		for i, v := range one {
			u += float64(v * theta[i])
		}
		v, _, _ := l.At(u)
		sum, squares = sum+v, squares+float64(v*v)
	}
	mean := sum / varianceDraws
	return b, max(0, squares/varianceDraws-float64(mean*mean)), nil
}

// extremes returns the least and the largest h_w(x+, x~+) - h_w(x+, x-) of any three points.
// A convex loss has its largest value at one of the two.
func (f *Finite) extremes(theta []float64) (low, high float64) {
	d := f.points.D
	w := mahalanobis.Smat(theta, d)
	form := func(x, y []float64) float64 {
		sum := 0.0
		for i := range d {
			row := 0.0
			for j, v := range w[i*d : (i+1)*d] {
				row += float64(v * (x[j] - y[j]))
			}
			sum += float64((x[i] - y[i]) * row)
		}
		return sum
	}
	ends := func(x, all []float64) (least, most float64) {
		least, most = math.Inf(1), math.Inf(-1)
		for i := 0; i < len(all); i += d {
			h := form(x, all[i:i+d])
			least, most = min(least, h), max(most, h)
		}
		return least, most
	}
	low, high = math.Inf(1), math.Inf(-1)
	for i := 0; i < len(f.points.Positive); i += d {
		x := f.points.Positive[i : i+d]
		nearPos, farPos := ends(x, f.points.Positive)
		nearNeg, farNeg := ends(x, f.points.Negative)
		low, high = min(low, nearPos-farNeg), max(high, farPos-nearNeg)
	}
	return low, high
}

// Fingerprint tells the points, in their order, from any others.
func (f *Finite) Fingerprint() string {
	return (&Pool{pos: f.points.Positive, neg: f.points.Negative, d: f.points.D, radius: f.radius}).Fingerprint() + " with replacement"
}

// Minimizer is 0: at w = 0 the gradient phi'(zeta) E[aa^T - bb^T] is, as both sides are the
// same distribution.
func (Circle) Minimizer(context.Context, mahalanobis.Loss, float64) ([]float64, error) {
	return make([]float64, 3), nil
}

// Spread is that of independent points by quadrature; b is over all of the circle.
func (Circle) Spread(l mahalanobis.Loss, theta []float64) (b, tau float64, err error) {
	return onCircle.Spread(l, theta)
}

// onCircle stands for the circle where no more digits are needed than its points give.
var onCircle = &Finite{points: &mahalanobis.Problem{Positive: regular(360), Negative: regular(360), D: 2}, radius: 1}

// regular are m points on the unit circle.
func regular(m int) []float64 {
	out := make([]float64, 0, 2*m)
	for i := range m {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(m))
		out = append(out, cos, sin)
	}
	return out
}

// mostFinite is how many points of a side a pool's distribution has.
const mostFinite = 1000

// known makes the study's source a distribution that is known: the source itself, or that
// of a pool's points, whose samples may be of any size.
func (t *tester) known() (Known, error) {
	switch s := t.Source.(type) {
	case Known:
		return s, nil
	case *Pool:
		f := NewFinite(s, record.Sizes{Pos: mostFinite, Neg: mostFinite}, t.Seed)
		t.drawFrom(f, t.doc.Data)
		return f, nil
	}
	return nil, fmt.Errorf("%w: excess risks need stored points, or a distribution that is known", ErrInput)
}

// drawFrom makes f the study's source. The limits of a pool, which samples are drawn from
// without replacement, are none of it.
func (t *tester) drawFrom(f *Finite, d record.MetricData) {
	if _, ok := t.Source.(*Pool); ok {
		t.Most = record.Sizes{}
	}
	size := f.Count()
	d.Pool, d.Reference = &size, nil
	t.Source, t.doc.Data = f, d
}
