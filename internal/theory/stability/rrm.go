package stability

import (
	"math"

	"tercet/internal/record"
)

// Lemma3Input is what Lemma 3 is about.
type Lemma3Input struct {
	NPos, NNeg int
	B          float64 // b: the largest loss of the fixed w, over all triplets
	Tau        float64 // variance of its loss over triplets
	Delta      float64 // between 0 and 1
}

// Lemma3 bounds |R_S(w) - R(w)| for a w that does not depend on the sample: with
// probability 1 - delta, as printed, with l = log(1/delta) and m over floor(n+/2), n-,
//
//	sum_m 2 b l / (3m) + sqrt(2 tau l / m),
//
// corrected (S9) the same for l = log(2/delta) and m = min(floor(n+/2), n-) alone, the
// number of triplets that share no sample. The loss lies in [0, b], so that a bound
// above b is vacuous.
//
// Errors: n+ < 2, n- < 1; delta outside (0, 1); b or tau negative; numbers that are
// not finite.
func Lemma3(in Lemma3Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err = first(err, sizes(in.NPos, in.NNeg), probability(in.Delta, "Lemma 3"), spread(in.B, in.Tau, "w")); err != nil {
		return record.BoundValue{}, err
	}
	if o.Sup == 0 {
		o.Sup = in.B
	}
	return o.done(record.BoundValue{
		Source: "Lemma 3", Bounds: "|R_S(w) - R(w)|", Holds: likely,
		Terms: fixedTerms(in.B, in.Tau, in.NPos, in.NNeg, in.Delta, o),
		Notes: notes("S9"),
	})
}

func spread(b, tau float64, w string) error {
	return first(
		nonNegative("b", b, "it is the largest loss of "+w+" (Lemma 3)"),
		nonNegative("tau", tau, "it is the variance of the loss of "+w+" (Lemma 3)"),
	)
}

// fixedTerms are the summands of Lemma 3.
func fixedTerms(b, tau float64, nPos, nNeg int, delta float64, o Options) []record.Term {
	terms := func(of string, m int, l float64) []record.Term {
		return []record.Term{
			{Name: "of b" + of, Value: 2 * b * l / (3 * float64(m))},
			{Name: "of tau" + of, Value: math.Sqrt(2 * tau * l / float64(m))},
		}
	}
	if o.Form == Paper {
		l := -math.Log(delta)
		return append(terms(", positives", nPos/2, l), terms(", negatives", nNeg, l)...)
	}
	return terms(", blocks", min(nPos/2, nNeg), math.Log(2/delta))
}

// RRMInput is what Lemmas 4 and 5 are about: A(S) minimizes F_S.
type RRMInput struct {
	Loss       Loss // L
	NPos, NNeg int
	Sigma      float64 // F_S is sigma-strongly convex
}

func (in RRMInput) check(o Options) (l float64, err error) {
	l, err = in.Loss.lipschitz(o)
	return l, first(err, sizes(in.NPos, in.NNeg), convex(in.Sigma))
}

func convex(sigma float64) error {
	return positive("sigma", sigma, "F_S must be sigma-strongly convex (eq. 5)")
}

// stability is gamma of Lemma 4 for a replaced positive and a replaced negative.
func (in RRMInput) stability(l float64, o Options) (pos, neg float64) {
	pos, neg = 8/float64(in.NPos)*l*l/in.Sigma, 4/float64(in.NNeg)*l*l/in.Sigma
	if o.sharp() {
		return pos / 2, neg / 2
	}
	return pos, neg
}

// pick is min as printed, else max (S1).
func pick(pos, neg float64, o Options) float64 {
	if o.Form == Paper {
		return min(pos, neg)
	}
	return max(pos, neg)
}

// Lemma4 bounds the uniform stability of regularized risk minimization: as printed
// gamma = min{8/n+, 4/n-} L^2/sigma, corrected max (S1); Tight max{4/n+, 2/n-}
// L^2/sigma, by the strong convexity of F_S and of the F of the changed sample.
//
// Errors: n+ < 2, n- < 1; sigma or L not above 0; numbers that are not finite.
func Lemma4(in RRMInput, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	l, err := in.check(o)
	if err != nil {
		return record.BoundValue{}, err
	}
	pos, neg := in.stability(l, o)
	return o.done(record.BoundValue{
		Source: "Lemma 4", Bounds: theStability, Holds: always,
		Value: pick(pos, neg, o),
		With:  []record.Term{{Name: "L", Value: l}, {Name: "a positive replaced", Value: pos}, {Name: "a negative replaced", Value: neg}},
		Notes: notes("S1"),
	})
}

// excessLoss is M of Lemma 5: for a replaced positive and negative.
func (in RRMInput) excessLoss(l float64, o Options) (pos, neg float64) {
	if o.sharp() {
		pos, neg = in.stability(l, o)
		return l * math.Sqrt(3*pos/in.Sigma), l * math.Sqrt(3*neg/in.Sigma)
	}
	return 4 * math.Sqrt(6/float64(in.NPos)) * l * l / in.Sigma, 4 * math.Sqrt(3/float64(in.NNeg)) * l * l / in.Sigma
}

// Lemma5 bounds |E_S l(A(S)) - l(w*)| for every triplet: as printed M = min{4 sqrt(6/n+),
// 4 sqrt(3/n-)} L^2/sigma, from E ||A(S) - w*||^2 <= 12 gamma/sigma, corrected max (S1);
// Tight L sqrt(3 gamma/sigma), gamma being Lemma 4's, as sigma E ||A(S) - w*||^2 is at
// most the gap E[R - R_S] <= 3 gamma.
//
// Errors: as of Lemma4.
func Lemma5(in RRMInput, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	l, err := in.check(o)
	if err != nil {
		return record.BoundValue{}, err
	}
	pos, neg := in.excessLoss(l, o)
	return o.done(record.BoundValue{
		Source: "Lemma 5", Bounds: "|E_S[l(A(S)) - l(w*)]|", Holds: always,
		Value: pick(pos, neg, o),
		With:  []record.Term{{Name: "L", Value: l}, {Name: "from a replaced positive", Value: pos}, {Name: "from a replaced negative", Value: neg}},
		Notes: notes("S1", "S12"),
	})
}

// Theorem3Input is what Theorem 3 is about: A(S) minimizes F_S.
type Theorem3Input struct {
	Loss       Loss // L
	NPos, NNeg int
	Sigma      float64 // F_S is sigma-strongly convex
	B          float64 // b: the largest loss of w*
	Tau        float64 // variance of the loss of w*
	Delta      float64 // between 0 and 1/e
}

// Theorem3 bounds the generalization gap of regularized risk minimization: Lemma 3 at
// w*, and Theorem 1 for the loss less that of w* with gamma of Lemma 4 and M of Lemma
// 5, as the proof has it in numbers. As printed both at delta, corrected at delta/2
// each (S10).
//
// Errors: n+ < 2, n- < 1; delta outside (0, 1/e); sigma or L not above 0; b or tau
// negative; numbers that are not finite.
func Theorem3(in Theorem3Input, o Options) (record.BoundValue, error) {
	r, _, err := theorem3(in, o)
	return r, err
}

// theorem3 returns with the result the delta of each of its two events.
func theorem3(in Theorem3Input, o Options) (record.BoundValue, float64, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, 0, err
	}
	rrm := RRMInput{in.Loss, in.NPos, in.NNeg, in.Sigma}
	l, err := rrm.check(o)
	if err = first(err, level(in.Delta, "Theorem 3"), spread(in.B, in.Tau, "w*")); err != nil {
		return record.BoundValue{}, 0, err
	}
	delta := in.Delta
	if o.Form == Corrected {
		delta /= 2
	}
	gPos, gNeg := rrm.stability(l, o)
	mPos, mNeg := rrm.excessLoss(l, o)
	gamma, m := pick(gPos, gNeg, o), pick(mPos, mNeg, o)
	r, err := o.done(record.BoundValue{
		Source: "Theorem 3", Bounds: theGap, Holds: likely,
		Terms: append(fixedTerms(in.B, in.Tau, in.NPos, in.NNeg, delta, o), gapTerms(gamma, m, in.NPos, in.NNeg, delta)...),
		With:  []record.Term{{Name: "L", Value: l}, {Name: "gamma", Value: gamma}, {Name: "M", Value: m}},
		Notes: append(notes("S1", "S9", "S10", "S12"), meanOverBoth),
	})
	return r, delta, err
}

// Corollary2Input is what Corollary 2 is about.
type Corollary2Input struct {
	Radius     float64 // B: all points have ||x|| <= B
	NPos, NNeg int
	Sigma      float64 // r(w) = sigma/2 ||w||^2; the rate is for sigma ~ n^-1/2
	B          float64 // b: the largest loss of w*
	Tau        float64 // variance of the loss of w*
	Norm       float64 // ||w*||
	Delta      float64 // between 0 and 1/e
}

// Corollary2 bounds the excess risk R(A(S)) - R(w*) of regularized risk minimization
// with the logistic triplet loss (eq. 6), as Remark 5 does: Theorem 3, Lemma 3 for
// R_S(w*) - R(w*), which is the event that Theorem 3 has already, and r(w*). The rate
// that is stated for sigma ~ n^-1/2 and n+ ~ n- ~ n, n being the smaller, is n^-1/2
// log(n) log(1/delta).
//
// Errors: as of Theorem3; a radius that is not above 0, a negative norm.
func Corollary2(in Corollary2Input, o Options) (record.BoundValue, error) {
	if err := first(
		positive("radius", in.Radius, "the points lie in a ball ||x|| <= B of this radius (Corollary 1)"),
		nonNegative("norm", in.Norm, "it is that of w* (Corollary 2)"),
	); err != nil {
		return record.BoundValue{}, err
	}
	r, delta, err := theorem3(Theorem3Input{Loss{Radius: in.Radius}, in.NPos, in.NNeg, in.Sigma, in.B, in.Tau, in.Delta}, o)
	if err != nil {
		return record.BoundValue{}, err
	}
	o.Form = r.Form
	for _, t := range fixedTerms(in.B, in.Tau, in.NPos, in.NNeg, delta, o) {
		r.Terms = append(r.Terms, record.Term{Name: t.Name + ", of R_S(w*) - R(w*)", Value: t.Value})
	}
	r.Terms = append(r.Terms, record.Term{Name: "r(w*) = sigma/2 ||w*||^2", Value: in.Sigma / 2 * in.Norm * in.Norm})
	n := float64(min(in.NPos, in.NNeg))
	r.Source, r.Bounds = "Corollary 2", "R(A(S)) - R(w*)"
	r.Rate = &record.Term{Name: "n^-1/2 log(n) log(1/delta)", Value: -math.Log(in.Delta) * math.Log(n) / math.Sqrt(n)}
	r.Notes = append(notes("S4", "S11"), r.Notes...)
	return o.done(r)
}
