package measure

import (
	"context"
	"math"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// LemmaOptions says how what Lemmas 1, 3 and 5 and Theorem 3 bound is measured, of
// regularized risk minimization.
type LemmaOptions struct {
	Source   Known
	Learner  RRM
	Sizes    record.Sizes
	Repeats  int
	Triplets int // tried of either kind for the largest change; 0 is defaultTriplets
	Seed     uint64
}

// lemmaRun is one repeat.
type lemmaRun struct {
	triple, steps, deviation, gap, certificate float64
	losses                                     []float64 // l(A(S)) - l(w*) at triplets of the ball
}

// Lemmas measures, with w* the minimizer of F = R + r:
//
//   - the largest change of a triplet's loss when two positives and a negative of S are
//     replaced at once (Lemma 1), with the sum of the largest changes of the three steps;
//   - |R_S(w*) - R(w*)| (Lemma 3);
//   - |E_S[l(A(S)) - l(w*)]| at the triplet of the ball where its estimate is largest
//     (Lemma 5);
//   - |R_S(A(S)) - R(A(S))| (Theorem 3).
//
// Errors: those of the source and the learner; fewer than one repeat.
func Lemmas(ctx context.Context, o LemmaOptions) (*record.LemmaResult, error) {
	if o.Triplets == 0 {
		o.Triplets = defaultTriplets
	}
	loss := o.Learner.Loss
	star, err := o.Source.Minimizer(ctx, loss, o.Learner.Sigma.At(Least(o.Sizes)))
	if err != nil {
		return nil, err
	}
	out := &record.LemmaResult{Sizes: o.Sizes, Risk: o.Source.Risk(loss, star)}
	if out.B, out.Tau, err = o.Source.Spread(loss, star); err != nil {
		return nil, err
	}
	ball := sphere(o.Source.Dim(), o.Source.Radius(), o.Triplets, rng.New(o.Seed, "measure/ball"))
	ofStar := lossesAt(ball, o.Source.Dim(), loss, star)
	runs := make([]lemmaRun, max(o.Repeats, 0))
	err = repeated(ctx, o.Repeats, func(rep int) (err error) {
		runs[rep], err = o.run(ctx, rep, star, out.Risk, ball, ofStar)
		return err
	})
	if err != nil {
		return nil, err
	}
	var steps []float64
	for _, r := range runs {
		out.TripleValues, steps = append(out.TripleValues, r.triple), append(steps, r.steps)
		out.DeviationValues, out.GapValues = append(out.DeviationValues, r.deviation), append(out.GapValues, r.gap)
		out.Certificate = max(out.Certificate, r.certificate)
	}
	out.Triple, out.Steps = EstimateOf(out.TripleValues), EstimateOf(steps)
	out.Deviation, out.Gap = EstimateOf(out.DeviationValues), EstimateOf(out.GapValues)
	out.Mean, out.MeanValues = largestMean(runs)
	return out, nil
}

// largestMean is the estimate at the triplet whose mean over repeats is farthest from 0,
// with its sign taken off.
func largestMean(runs []lemmaRun) (record.Estimate, []float64) {
	best, most := 0, -1.0
	values := make([]float64, len(runs))
	at := func(z int) []float64 {
		for i, r := range runs {
			values[i] = r.losses[z]
		}
		return values
	}
	for z := range runs[0].losses {
		if m := math.Abs(stat.Mean(at(z))); m > most {
			best, most = z, m
		}
	}
	sign := math.Copysign(1, stat.Mean(at(best)))
	for i := range values {
		values[i] *= sign
	}
	return EstimateOf(values), values
}

func (o LemmaOptions) run(ctx context.Context, rep int, star []float64, ofStar float64, ball, lossesOfStar []float64) (lemmaRun, error) {
	r := rng.New(o.Seed, "measure/lemmas", uint64(rep))
	s, _, err := o.Source.Draw(o.Sizes, record.Sizes{Pos: 2, Neg: 1}, r)
	if err != nil {
		return lemmaRun{}, err
	}
	learned, err := o.Learner.Learn(ctx, s, 0, nil)
	if err != nil {
		return lemmaRun{}, err
	}
	train, err := risk(s, o.Learner.Loss)
	if err != nil {
		return lemmaRun{}, err
	}
	run := lemmaRun{certificate: learned.Certificate, deviation: math.Abs(train(star) - ofStar)}
	run.gap = math.Abs(o.Source.Risk(o.Learner.Loss, learned.Theta) - train(learned.Theta))
	run.losses = lossesAt(ball, s.D, o.Learner.Loss, learned.Theta)
	for z, v := range lossesOfStar {
		run.losses[z] -= v
	}
	probe := newProbe(s, ball, o.Triplets, r)
	run.triple, run.steps, err = o.replaceThree(ctx, s, learned.Theta, probe, r)
	return run, err
}

// replaceThree replaces two positives by B e_1 and -B e_1 and a negative by the positives'
// mean, all at once and one after the other.
func (o LemmaOptions) replaceThree(ctx context.Context, s *mahalanobis.Problem, theta []float64, p *probe, r *rng.Stream) (all, steps float64, err error) {
	radius, loss := o.Source.Radius(), o.Learner.Loss
	toNeg := replacements(s.Negative, nil, s.D, 0, radius)
	toPos := replacements(s.Positive, nil, s.D, 0, radius)
	first := choose(s.NPos(), 2, r)
	scratch := make([]float64, p.count())
	before := theta
	other := s
	for _, step := range []struct {
		side, sample int
		by           []float64
	}{{0, first[0], toNeg[0]}, {0, first[1], toNeg[1]}, {1, r.IntN(s.NNeg()), toPos[2]}} {
		other = replace(other, step.side, step.sample, step.by)
		l, err := o.Learner.Learn(ctx, other, 0, before)
		if err != nil {
			return 0, 0, err
		}
		_, change := p.changes(loss, p.base(loss, before), l.Theta, scratch, radius)
		steps += change
		before = l.Theta
	}
	_, all = p.changes(loss, p.base(loss, theta), before, scratch, radius)
	return all, steps, nil
}

func (o LemmaOptions) key() string {
	s := o.Source
	o.Source = nil
	return key("lemmas", s, o)
}
