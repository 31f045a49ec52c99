package measure

import (
	"fmt"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// Least is the smaller of the two.
func Least(s record.Sizes) int { return min(s.Pos, s.Neg) }

func checkSizes(s record.Sizes, what string) error {
	if s.Pos < 2 {
		return fmt.Errorf("%w: %s has n+ = %d positives; triplets need n+ >= 2", ErrInput, what, s.Pos)
	}
	if s.Neg < 1 {
		return fmt.Errorf("%w: %s has n- = %d negatives; triplets need n- >= 1", ErrInput, what, s.Neg)
	}
	return nil
}

// Source draws samples from one distribution of points of length at most Radius.
type Source interface {
	Dim() int
	Radius() float64 // B
	// Draw draws a sample to learn from and held points, which play no part in
	// learning: they stand for the distribution, and are what samples are replaced by.
	// No point is in both.
	Draw(sample, held record.Sizes, r *rng.Stream) (s, h *mahalanobis.Problem, err error)
	// Reference returns points that Draw never returns; the same ones each time.
	Reference() (*mahalanobis.Problem, error)
}

// Population is a Source whose true risk is known.
type Population interface {
	Source
	// Risk is the mean loss of independent points.
	Risk(l mahalanobis.Loss, theta []float64) float64
}

// Pool draws from stored points without replacement. Sample and held points of a draw
// are exchangeable, so that whatever does not depend on which are which, such as the
// risk of the reference's solution, has the same mean over both.
type Pool struct {
	pos, neg  []float64 // those that Draw draws from
	reference *mahalanobis.Problem
	d         int
	radius    float64
}

// NewPool makes a pool of positive and negative points, (n, d) row-major, of length at
// most radius. A reference of those sizes is drawn by seed and put aside; with the zero
// Sizes there is none. The slices are copied.
//
// Errors: those of mahalanobis.NewProblem; a radius that is not above 0; a reference
// that leaves fewer than two positives or one negative.
func NewPool(pos, neg []float64, d int, radius float64, reference record.Sizes, seed uint64) (*Pool, error) {
	if !(radius > 0) {
		return nil, fmt.Errorf("%w: radius B is %v; bounds assume points of length at most B > 0", ErrInput, radius)
	}
	if _, err := mahalanobis.NewProblem(pos, neg, d, radius); err != nil {
		return nil, err
	}
	p := &Pool{d: d, radius: radius}
	r := rng.New(seed, "measure/reference")
	first, rest := deal(pos, d, reference.Pos, r)
	firstNeg, restNeg := deal(neg, d, reference.Neg, r)
	p.pos, p.neg = rest, restNeg
	if left := p.Size(); left.Pos < 2 || left.Neg < 1 {
		return nil, fmt.Errorf("%w: a reference of %d positives and %d negatives leaves %d and %d to draw from; take a smaller one", ErrInput, reference.Pos, reference.Neg, left.Pos, left.Neg)
	}
	if reference != (record.Sizes{}) {
		var err error
		if p.reference, err = mahalanobis.NewProblem(first, firstNeg, d, radius); err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
	}
	return p, nil
}

// deal draws k rows of x; rest are the others, in order. k beyond the rows takes all.
func deal(x []float64, d, k int, r *rng.Stream) (drawn, rest []float64) {
	n := len(x) / d
	taken := make([]bool, n)
	for _, i := range choose(n, min(max(k, 0), n), r) {
		taken[i] = true
		drawn = append(drawn, x[i*d:(i+1)*d]...)
	}
	for i, t := range taken {
		if !t {
			rest = append(rest, x[i*d:(i+1)*d]...)
		}
	}
	return drawn, rest
}

// choose draws k of n without replacement, in random order.
func choose(n, k int, r *rng.Stream) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for i := range k {
		j := i + r.IntN(n-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:k]
}

// Dim returns d.
func (p *Pool) Dim() int { return p.d }

// Radius returns B.
func (p *Pool) Radius() float64 { return p.radius }

// Size says how many points Draw draws from.
func (p *Pool) Size() record.Sizes { return record.Sizes{Pos: len(p.pos) / p.d, Neg: len(p.neg) / p.d} }

// Draw draws all points of both problems without replacement. It is an error if the pool
// has too few.
func (p *Pool) Draw(sample, held record.Sizes, r *rng.Stream) (s, h *mahalanobis.Problem, err error) {
	if err := checkSizes(sample, "a sample"); err != nil {
		return nil, nil, err
	}
	if err := checkSizes(held, "a held-out set"); err != nil {
		return nil, nil, err
	}
	have := p.Size()
	if sample.Pos+held.Pos > have.Pos || sample.Neg+held.Neg > have.Neg {
		return nil, nil, fmt.Errorf("%w: a sample of %d + %d and %d + %d held-out points (positives + negatives) need more than the %d + %d there are; take smaller sizes", ErrInput, sample.Pos, sample.Neg, held.Pos, held.Neg, have.Pos, have.Neg)
	}
	pos := p.rows(p.pos, choose(have.Pos, sample.Pos+held.Pos, r))
	neg := p.rows(p.neg, choose(have.Neg, sample.Neg+held.Neg, r))
	a, b := sample.Pos*p.d, sample.Neg*p.d
	return &mahalanobis.Problem{Positive: pos[:a:a], Negative: neg[:b:b], D: p.d}, &mahalanobis.Problem{Positive: pos[a:], Negative: neg[b:], D: p.d}, nil
}

func (p *Pool) rows(x []float64, index []int) []float64 {
	out := make([]float64, 0, len(index)*p.d)
	for _, i := range index {
		out = append(out, x[i*p.d:(i+1)*p.d]...)
	}
	return out
}

// Reference returns the points put aside; it is an error if there are none.
func (p *Pool) Reference() (*mahalanobis.Problem, error) {
	if p.reference == nil {
		return nil, fmt.Errorf("%w: no points were put aside for a reference", ErrInput)
	}
	return p.reference, nil
}

// OnSphere is the pool with all points, those of the reference too, scaled to length
// Radius; points at 0 stay there.
func (p *Pool) OnSphere() *Pool {
	scaled := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i := 0; i < len(x); i += p.d {
			if far := distance(x[i:i+p.d], make([]float64, p.d)); far > 0 {
				for k := range p.d {
					out[i+k] = x[i+k] * (p.radius / far)
				}
			}
		}
		return out
	}
	q := &Pool{pos: scaled(p.pos), neg: scaled(p.neg), d: p.d, radius: p.radius}
	if r := p.reference; r != nil {
		q.reference = &mahalanobis.Problem{Positive: scaled(r.Positive), Negative: scaled(r.Negative), D: p.d}
	}
	return q
}

// Circle draws positives and negatives uniformly from the unit circle: nothing can be
// learned, and a learner's gap is all its own. It is the reference's counterexample to
// the printed Lemma 6 and Theorem 4 (S2).
type Circle struct{}

// Dim returns 2.
func (Circle) Dim() int { return 2 }

// Radius returns 1.
func (Circle) Radius() float64 { return 1 }

// Draw draws independent points.
func (c Circle) Draw(sample, held record.Sizes, r *rng.Stream) (s, h *mahalanobis.Problem, err error) {
	if err := checkSizes(sample, "a sample"); err != nil {
		return nil, nil, err
	}
	if err := checkSizes(held, "a held-out set"); err != nil {
		return nil, nil, err
	}
	return circle(sample, r), circle(held, r), nil
}

func circle(n record.Sizes, r *rng.Stream) *mahalanobis.Problem {
	points := func(n int) []float64 {
		out := make([]float64, 0, 2*n)
		for range n {
			sin, cos := math.Sincos(2 * math.Pi * r.Float64())
			out = append(out, cos, sin)
		}
		return out
	}
	return &mahalanobis.Problem{Positive: points(n.Pos), Negative: points(n.Neg), D: 2}
}

// Reference returns 500 + 500 points.
func (Circle) Reference() (*mahalanobis.Problem, error) {
	return circle(record.Sizes{Pos: 500, Neg: 500}, rng.New(0, "measure/circle/reference")), nil
}

// quadrature is the number of points on the circle that Risk takes for each of the three
// of a triplet: the loss is a smooth periodic function of their angles, of which the mean
// over equal steps is exact to rounding once the loss has no higher harmonics: for
// ||w|| <= 1; for ||w|| = 4 it is exact to 1e-8.
const quadrature = 48

// Risk is the mean loss of independent points on the circle, by quadrature.
func (Circle) Risk(l mahalanobis.Loss, theta []float64) float64 {
	return circleRisk(l, theta, quadrature)
}

func circleRisk(l mahalanobis.Loss, theta []float64, n int) float64 {
	form := make([]float64, n*n) // h_w of points i and j
	w := mahalanobis.Smat(theta, 2)
	for i := range n {
		for j := range n {
			si, ci := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			sj, cj := math.Sincos(2 * math.Pi * float64(j) / float64(n))
			a, b := ci-cj, si-sj
			form[i*n+j] = float64(w[0]*a*a) + float64(2*w[1]*a*b) + float64(w[3]*b*b)
		}
	}
	total := 0.0
	for i := range n {
		row := form[i*n : (i+1)*n]
		ofRow := 0.0
		for _, p := range row {
			sum := 0.0 // nested sums lose less: gaps of 1e-7 are read off the risk
			for _, q := range row {
				v, _, _ := l.At(p - q + l.Zeta)
				sum += v
			}
			ofRow += sum
		}
		total += ofRow
	}
	return total / float64(n*n*n)
}
