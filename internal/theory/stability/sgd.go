package stability

import (
	"fmt"
	"math"

	"tercet/internal/record"
)

// Lemma2Input is what Lemma 2 is about.
type Lemma2Input struct {
	Loss Loss    // L and alpha
	Step float64 // eta, the same in all steps
	Uses int     // steps whose triplet held the replaced sample
}

// Lemma2 bounds how far the loss of any triplet moves when one sample is replaced and
// SGD (eq. 3) meets the same triplets: 2 L^2 sum eta_l 1{step l used the sample}. Both
// forms are the same; for the uniform stability Uses is the largest over all samples
// (S7).
//
// Errors: a step outside (0, 2/alpha]; a negative number of uses; L or alpha not above
// 0; numbers that are not finite.
func Lemma2(in Lemma2Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	l, errL := in.Loss.lipschitz(o)
	alpha, errAlpha := in.Loss.smoothness(o)
	if err = first(errL, errAlpha, step("step", in.Step, alpha)); err != nil {
		return record.BoundValue{}, err
	}
	if in.Uses < 0 {
		return record.BoundValue{}, fmt.Errorf("%w: uses is %d, want 0 or more: it is the number of steps that used the replaced sample", ErrInput, in.Uses)
	}
	return o.done(record.BoundValue{
		Source: "Lemma 2", Bounds: "the change of any triplet's loss", Holds: always,
		Value: 2 * l * l * in.Step * float64(in.Uses),
		With:  []record.Term{{Name: "L", Value: l}, {Name: "alpha", Value: alpha}},
		Notes: []string{mostUsed},
	})
}

// Lemma10Input is what Lemma 10 is about.
type Lemma10Input struct {
	Mu    float64 // mean of a sum of independent events
	Delta float64 // between 0 and 1
}

// Lemma10 bounds, with probability 1 - delta, a sum X of independent 0-1 variables of
// mean mu: as printed mu + sqrt(3 mu log(1/delta)), which holds for mu >= 3
// log(1/delta) only (S5); corrected, by Bernstein's inequality,
//
//	X <= mu + l/3 + sqrt(l^2/9 + 2 mu l),  l = log(1/delta).
//
// Errors: mu not above 0; delta outside (0, 1); numbers that are not finite.
func Lemma10(in Lemma10Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err = first(err, positive("mu", in.Mu, "it is the mean of the sum (Lemma 10)"), probability(in.Delta, "Lemma 10")); err != nil {
		return record.BoundValue{}, err
	}
	o.Sup = 0 // of a loss: X is none
	l := -math.Log(in.Delta)
	r := record.BoundValue{Source: "Lemma 10", Bounds: "X", Holds: likely, Value: bernstein(in.Mu, l), Notes: notes("S5")}
	if o.Form == Paper {
		r.Value = in.Mu + math.Sqrt(3*in.Mu*l)
		if in.Mu < 3*l {
			r.Notes = append(r.Notes, fmt.Sprintf("mu is below 3 log(1/delta) = %.6g: the printed bound need not hold", 3*l))
		}
	}
	return o.done(r)
}

// bernstein solves t^2 = 2 l (mu + t/3) and returns mu + t.
func bernstein(mu, l float64) float64 {
	return mu + l/3 + math.Sqrt(l*l/9+float64(2*mu*l))
}

// Theorem2Input is what Theorem 2 is about.
type Theorem2Input struct {
	Loss       Loss // L and alpha
	NPos, NNeg int
	C          float64 // the step is c/sqrt(T); at most 2/alpha
	Steps      int     // T
	M          float64 // bounds |E_S l(w_T; z)| for every triplet z
	Delta      float64 // between 0 and 1/e
}

// Theorem2 bounds the generalization gap of T steps of SGD (eq. 3) by Theorem 1 with
// gamma = 2 L^2 (c/sqrt(T)) X of Lemma 2, X bounding the uses of the replaced sample.
// The paper states it as an order only; here are its proof's numbers. As printed
// (eq. 9) both bounds are taken at delta and
//
//	X = (1 + sqrt(3 log(1/delta) / max{T/n+, T/(2n-)})) (T/n+ + T/(2n-));
//
// corrected (S5, S6, S7, S10), each has delta/2, and X is the larger of Bernstein's
// bounds (Lemma 10) for mu = 2T/n+ and T/n- at delta/2 for all n+ + n- samples.
//
// Errors: n+ < 2, n- < 1; fewer than one step; c outside (0, 2/alpha]; delta outside
// (0, 1/e); M, L or alpha not above 0; numbers that are not finite.
func Theorem2(in Theorem2Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	l, errL := in.Loss.lipschitz(o)
	alpha, errAlpha := in.Loss.smoothness(o)
	if err = first(errL, errAlpha, sizes(in.NPos, in.NNeg), step("c", in.C, alpha), level(in.Delta, "Theorem 2"), bounded(in.M)); err != nil {
		return record.BoundValue{}, err
	}
	if in.Steps < 1 {
		return record.BoundValue{}, fmt.Errorf("%w: number of steps is %d, want 1 or more: SGD makes T steps (eq. 3)", ErrInput, in.Steps)
	}
	sqrtT := math.Sqrt(float64(in.Steps))
	x, delta := uses(in, o)
	gamma := 2 * l * l * in.C / sqrtT * x
	return o.done(record.BoundValue{
		Source: "Theorem 2", Bounds: theGap, Holds: likely,
		Terms: gapTerms(gamma, in.M, in.NPos, in.NNeg, delta),
		With:  []record.Term{{Name: "L", Value: l}, {Name: "alpha", Value: alpha}, {Name: "uses of one sample, at most", Value: x}, {Name: "gamma", Value: gamma}},
		Notes: append(notes("S5", "S6", "S7", "S10", "S15"), unbounded(in.C, l, sqrtT)),
	})
}

// uses bounds how often T steps use the replaced sample, and returns beside it the
// delta that is left for Theorem 1.
func uses(in Theorem2Input, o Options) (x, delta float64) {
	t, p, n := float64(in.Steps), float64(in.NPos), float64(in.NNeg)
	if o.Form == Paper {
		low := max(t/p, t/(2*n))
		return (1 + math.Sqrt(-3*math.Log(in.Delta)/low)) * (t/p + t/(2*n)), in.Delta
	}
	delta = in.Delta / 2
	l := math.Log((p + n) / delta)
	return max(bernstein(2*t/p, l), bernstein(t/n, l)), delta
}

// Corollary1Input is what Corollary 1 is about.
type Corollary1Input struct {
	Radius     float64 // B: all points have ||x|| <= B
	NPos, NNeg int
	C          float64 // the step is c/sqrt(T); at most 2/alpha
	Steps      int     // T
	M          float64
	Delta      float64 // between 0 and 1/e
}

// Corollary1 is Theorem 2 for the logistic triplet loss (eq. 6) on points in a ball,
// with the order that is stated for it at T ~ n, n+ ~ n- ~ n (S14), n being the smaller
// of n+ and n-: as printed
//
//	n^-1/2 log(n) log^3/2(1/delta) + n^-1/2 log^1/2(1/delta),
//
// corrected n^-1/2 log(n) log(n/delta) log(1/delta) + the same: Bernstein's form (S5)
// has the logarithm without a root, and the union over samples (S7) the n in it.
//
// Errors: as of Theorem2; a radius that is not above 0.
func Corollary1(in Corollary1Input, o Options) (record.BoundValue, error) {
	if err := positive("radius", in.Radius, "the points lie in a ball ||x|| <= B of this radius (Corollary 1)"); err != nil {
		return record.BoundValue{}, err
	}
	r, err := Theorem2(Theorem2Input{Loss{Radius: in.Radius}, in.NPos, in.NNeg, in.C, in.Steps, in.M, in.Delta}, o)
	if err != nil {
		return record.BoundValue{}, err
	}
	n, log := float64(min(in.NPos, in.NNeg)), -math.Log(in.Delta)
	rate := record.Term{Name: "n^-1/2 log(n) log(n/delta) log(1/delta) + n^-1/2 log^1/2(1/delta)", Value: (float64(math.Log(n)*(math.Log(n)+log)*log) + math.Sqrt(log)) / math.Sqrt(n)}
	if r.Form == Paper {
		rate = record.Term{Name: "n^-1/2 log(n) log^3/2(1/delta) + n^-1/2 log^1/2(1/delta)", Value: (float64(math.Log(n)*log) + 1) * math.Sqrt(log) / math.Sqrt(n)}
	}
	r.Source, r.Rate = "Corollary 1", &rate
	r.Notes = append(notes("S4", "S11", "S14"), r.Notes...)
	return r, nil
}
