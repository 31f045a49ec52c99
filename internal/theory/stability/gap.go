package stability

import (
	"math"
	"math/big"

	"tercet/internal/record"
)

// Lemma1Input is what Lemma 1 is about.
type Lemma1Input struct {
	Gamma float64 // uniform stability (Definition 1)
}

// Lemma1 bounds the change of any triplet's loss when two positives and one negative
// of the sample are replaced: 3 gamma. Both forms are the same.
//
// Errors: a gamma that is negative or not finite.
func Lemma1(in Lemma1Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err = first(err, stable(in.Gamma)); err != nil {
		return record.BoundValue{}, err
	}
	return o.done(record.BoundValue{
		Source: "Lemma 1", Bounds: "|l(A(S)) - l(A(S_ijk))|", Holds: always,
		Value: 3 * in.Gamma,
	})
}

func stable(gamma float64) error {
	return nonNegative("gamma", gamma, "it is the uniform stability of the algorithm (Definition 1)")
}

// Theorem1Input is what Theorem 1 is about.
type Theorem1Input struct {
	NPos, NNeg int
	Gamma      float64 // uniform stability (Definition 1)
	M          float64 // bounds |E_S l(A(S); z)| for every triplet z
	Delta      float64 // between 0 and 1/e
}

// Theorem1 bounds the generalization gap of an algorithm with uniform stability gamma:
// with probability 1 - delta,
//
//	|R_S - R| <= 6 gamma + e [ 8M (1/sqrt(n-) + 2/sqrt(n+ - 1)) sqrt(log(e/delta))
//	             + 24 sqrt(2) gamma (ceil(log2(n- (n+ - 1)^2)) + 2) log(e/delta) ].
//
// The proof supports it, but for what M has to bound (S15). Both forms are the same.
//
// Errors: n+ < 2, n- < 1; delta outside (0, 1/e); M not above 0; gamma negative;
// numbers that are not finite.
func Theorem1(in Theorem1Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err = first(err, sizes(in.NPos, in.NNeg), level(in.Delta, "Theorem 1"), stable(in.Gamma), bounded(in.M)); err != nil {
		return record.BoundValue{}, err
	}
	return o.done(record.BoundValue{
		Source: "Theorem 1", Bounds: theGap, Holds: likely,
		Terms: gapTerms(in.Gamma, in.M, in.NPos, in.NNeg, in.Delta),
		Notes: notes("S15"),
	})
}

func bounded(m float64) error {
	return positive("M", m, "it bounds the mean loss of every triplet, |E_S l(A(S))| (Theorem 1)")
}

// gapTerms are the three summands of Theorem 1.
func gapTerms(gamma, m float64, nPos, nNeg int, delta float64) []record.Term {
	p, n := float64(nPos), float64(nNeg)
	log := 1 - math.Log(delta) // log(e/delta)
	return []record.Term{
		{Name: "6 gamma", Value: 6 * gamma},
		{Name: "of M: 8e M (...) sqrt(log(e/delta))", Value: 8 * math.E * m * (1/math.Sqrt(n) + 2/math.Sqrt(p-1)) * math.Sqrt(log)},
		{Name: "of gamma: 24 sqrt(2) e gamma (...) log(e/delta)", Value: 24 * math.Sqrt2 * math.E * gamma * float64(logSize(nPos, nNeg)+2) * log},
	}
}

// logSize returns ceil(log2(n- (n+ - 1)^2)), exactly: it is the number of binary
// digits of the product less one.
func logSize(nPos, nNeg int) int {
	p := big.NewInt(int64(nPos) - 1)
	p.Mul(p, p).Mul(p, big.NewInt(int64(nNeg)))
	return p.Sub(p, big.NewInt(1)).BitLen()
}
