package measure

import (
	"context"
	"math"
	"slices"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// GapOptions says how the gap is measured.
type GapOptions struct {
	Source  Source
	Learner Learner
	Sizes   record.Sizes
	Held    record.Sizes // points that the true risk is estimated from, over all their triplets
	Repeats int
	Seed    uint64
	// Errors has the triplet errors of w and of w = I measured, too.
	Errors bool
	// Moves is how many samples of each side are replaced by fresh points in each repeat,
	// one at a time, for what Lemma 6 asks for.
	Moves int
	// Triplets of the ball are tried for M; 0 is a quarter of defaultTriplets.
	Triplets int
	// Fixed is the w of the control variate, which must not depend on the samples; nil is
	// learned from the source's reference.
	Fixed []float64
}

// gapRun is one repeat.
type gapRun struct {
	train, test, variate, norm float64
	certificate                float64
	losses                     []float64 // at triplets of the ball
	errs                       [3]float64
	zeta                       [2]float64 // 0-1 losses at the loss's zeta, training and test
	moved                      [2]float64
}

// Gap measures the generalization gap: the true risk is the mean over all triplets of
// held-out points, or known where the source is a Population.
//
// Errors: those of the source and the learner; fewer than one repeat.
func Gap(ctx context.Context, o GapOptions) (*record.GapResult, error) {
	fixed := o.Fixed
	if fixed == nil {
		var err error
		if fixed, err = Reference(ctx, o.Source, o.Learner, o.Sizes, o.Seed); err != nil {
			return nil, err
		}
	}
	d := o.Source.Dim()
	if o.Triplets < 1 {
		o.Triplets = defaultTriplets / 4
	}
	ball := sphere(d, o.Source.Radius(), o.Triplets, rng.New(o.Seed, "measure/ball"))
	runs := make([]gapRun, max(o.Repeats, 0))
	err := repeated(ctx, o.Repeats, func(rep int) (err error) {
		runs[rep], err = o.run(ctx, rep, fixed, ball)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o.result(runs), nil
}

// Reference learns the w of the control variate from the source's reference, as if that
// were a sample of those sizes.
func Reference(ctx context.Context, s Source, l Learner, n record.Sizes, seed uint64) ([]float64, error) {
	p, err := s.Reference()
	if err != nil {
		return nil, err
	}
	l = l.fixed(n)
	runs := l.references()
	sum := make([]float64, p.D*(p.D+1)/2)
	for run := range runs {
		l, err := l.Learn(ctx, p, rng.New(seed, "measure/reference", uint64(run)).Uint64(), nil)
		if err != nil {
			return nil, err
		}
		for i, v := range l.Theta {
			sum[i] += v / float64(runs)
		}
	}
	return sum, nil
}

func (o GapOptions) run(ctx context.Context, rep int, fixed, ball []float64) (gapRun, error) {
	r := rng.New(o.Seed, "measure/gap", uint64(rep))
	s, h, err := o.Source.Draw(o.Sizes, o.Held, r)
	if err != nil {
		return gapRun{}, err
	}
	chance := r.Uint64()
	learned, err := o.Learner.Learn(ctx, s, chance, nil)
	if err != nil {
		return gapRun{}, err
	}
	g := gapRun{certificate: learned.Certificate, norm: distance(learned.Theta, make([]float64, len(learned.Theta)))}
	loss := o.Learner.Criterion()
	train, err := risk(s, loss)
	if err != nil {
		return gapRun{}, err
	}
	test, err := o.trueRisk(h, loss)
	if err != nil {
		return gapRun{}, err
	}
	g.train, g.test = train(learned.Theta), test(learned.Theta)
	g.variate = train(fixed) - test(fixed)
	g.losses = lossesAt(ball, s.D, loss, learned.Theta)
	if o.Errors {
		g.zeta = [2]float64{mahalanobis.ZeroOne(s, learned.Theta, loss.Zeta), mahalanobis.ZeroOne(h, learned.Theta, loss.Zeta)}
		g.errs = [3]float64{mahalanobis.ZeroOne(s, learned.Theta, 0), mahalanobis.ZeroOne(h, learned.Theta, 0), mahalanobis.ZeroOne(h, mahalanobis.Identity(s.D), 0)}
	}
	g.moved, err = o.moves(ctx, s, h, chance, learned.Theta, r)
	return g, err
}

// moves are the mean squared distances that fresh points move w by, for either side.
func (o GapOptions) moves(ctx context.Context, s, h *mahalanobis.Problem, chance uint64, theta []float64, r *rng.Stream) (moved [2]float64, err error) {
	if o.Moves < 1 {
		return moved, nil
	}
	d := s.D
	for side, points := range [][2][]float64{{s.Positive, h.Positive}, {s.Negative, h.Negative}} {
		samples := choose(len(points[0])/d, min(o.Moves, len(points[0])/d), r)
		others := choose(len(points[1])/d, min(len(samples), len(points[1])/d), r)
		for i, at := range others {
			l, err := o.Learner.Learn(ctx, replace(s, side, samples[i], points[1][at*d:(at+1)*d]), chance, theta)
			if err != nil {
				return moved, err
			}
			far := distance(l.Theta, theta)
			moved[side] += far * far / float64(len(others))
		}
	}
	return moved, nil
}

// risk returns the mean loss over all triplets of a problem as a function of theta.
func risk(p *mahalanobis.Problem, l mahalanobis.Loss) (func([]float64) float64, error) {
	r, err := mahalanobis.NewRisk([]*mahalanobis.Problem{p}, l, mahalanobis.Auto)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

func (o GapOptions) trueRisk(h *mahalanobis.Problem, l mahalanobis.Loss) (func([]float64) float64, error) {
	if p, ok := o.Source.(Population); ok {
		return func(theta []float64) float64 { return p.Risk(l, theta) }, nil
	}
	return risk(h, l)
}

// lossesAt are the losses of triplets, (n, 3, d).
func lossesAt(triplets []float64, d int, l mahalanobis.Loss, theta []float64) []float64 {
	out := make([]float64, 0, len(triplets)/(3*d))
	row := make([]float64, len(theta))
	for t := 0; t < len(triplets); t += 3 * d {
		mark(triplets[t:t+d], triplets[t+d:t+2*d], triplets[t+2*d:t+3*d], row)
		u := l.Zeta
		for i, v := range row {
			u += float64(v * theta[i])
		}
		v, _, _ := l.At(u)
		out = append(out, v)
	}
	return out
}

func (o GapOptions) result(runs []gapRun) *record.GapResult {
	g := &record.GapResult{Sizes: o.Sizes}
	var raw, train, test, norm []float64
	var errs [3][]float64
	var moved [2][]float64
	means := make([]float64, len(runs[0].losses))
	for _, run := range runs {
		gap := run.test - run.train
		g.Values, raw = append(g.Values, gap+run.variate), append(raw, gap)
		g.Absolutes = append(g.Absolutes, math.Abs(gap))
		train, test, norm = append(train, run.train), append(test, run.test), append(norm, run.norm)
		for i, v := range run.losses {
			means[i] += v / float64(len(runs))
		}
		g.LargestLoss = max(g.LargestLoss, slices.Max(run.losses))
		g.Certificate = max(g.Certificate, run.certificate)
		for i, v := range run.errs {
			errs[i] = append(errs[i], v)
		}
		for side, v := range run.moved {
			moved[side] = append(moved[side], v)
		}
	}
	g.Gap, g.Raw, g.Absolute = EstimateOf(g.Values), EstimateOf(raw), EstimateOf(g.Absolutes)
	g.Train, g.Test, g.Norm = EstimateOf(train), EstimateOf(test), EstimateOf(norm)
	g.MeanLoss = slices.Max(means)
	if o.Errors {
		g.Errors = &record.MetricErrors{Train: EstimateOf(errs[0]), Test: EstimateOf(errs[1]), Euclidean: EstimateOf(errs[2]), Values: errs[1], EuclideanValues: errs[2]}
		addZeta(g.Errors, o.Learner.Criterion().Zeta, runs)
	}
	if o.Moves > 0 {
		g.MovedPos, g.MovedNeg = optional(moved[0]), optional(moved[1])
	}
	return g
}

// addZeta adds the 0-1 losses at zeta, and their gaps.
func addZeta(e *record.MetricErrors, zeta float64, runs []gapRun) {
	var train, test []float64
	for _, r := range runs {
		train, test = append(train, r.zeta[0]), append(test, r.zeta[1])
		e.GapZeta = append(e.GapZeta, r.zeta[1]-r.zeta[0])
	}
	a, b := EstimateOf(train), EstimateOf(test)
	e.Zeta, e.TrainZeta, e.TestZeta = zeta, &a, &b
}

// zeroOnePoint is a Point of the gap of the 0-1 loss.
func zeroOnePoint(x float64, l Learner, g *record.GapResult) record.MetricPoint {
	return at(record.MetricPoint{X: x, Measured: EstimateOf(g.Errors.GapZeta), Repeats: g.Errors.GapZeta, With: []record.Number{
		{Name: "0-1 loss, training", Value: g.Errors.TrainZeta.Value}, {Name: "0-1 loss, test", Value: g.Errors.TestZeta.Value},
	}}, l, g.Sizes)
}
