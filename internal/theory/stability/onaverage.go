package stability

import (
	"fmt"
	"math"

	"tercet/internal/record"
)

// Lemma6Input is what Lemma 6 is about. Means are over the samples of a side and over
// draws of S and of the replacing sample.
type Lemma6Input struct {
	Loss     Loss    // alpha
	NPos     int     // n+, for the printed form
	Risk     float64 // E R_S(A(S))
	MovedPos float64 // mean of ||A(S_i) - A(S)||^2, a positive replaced
	MovedNeg float64 // mean of ||A(S_k) - A(S)||^2, a negative replaced
	Epsilon  float64 // eps; 0 for the best
}

// Lemma6 bounds the expected gap E[R(A(S)) - R_S(A(S))] of a convex, alpha-smooth loss
// by how far replaced samples move the model: for all eps > 0, corrected
//
//	(alpha/eps) E R_S + 3 (eps + alpha)/2 [2 MovedPos + MovedNeg];
//
// as printed the bracket is divided by n+ - 1 (S2).
//
// Errors: n+ < 2; alpha not above 0; negative risk, distances or eps; numbers that are
// not finite.
func Lemma6(in Lemma6Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	alpha, err := in.Loss.smoothness(o)
	if err = first(err, sizes(in.NPos, 1), risk(in.Risk, "E R_S(A(S))"), eps(in.Epsilon),
		nonNegative("moved-pos", in.MovedPos, "it is a mean of squared distances (Lemma 6)"),
		nonNegative("moved-neg", in.MovedNeg, "it is a mean of squared distances (Lemma 6)"),
	); err != nil {
		return record.BoundValue{}, err
	}
	pos, neg := 3*in.MovedPos, 1.5*in.MovedNeg
	if o.Form == Paper {
		pos, neg = pos/float64(in.NPos-1), neg/float64(in.NPos-1)
	}
	r := record.BoundValue{Source: "Lemma 6", Bounds: "E[R(A(S)) - R_S(A(S))]", Holds: expected, Notes: notes("S2")}
	r.With = []record.Term{{Name: "alpha", Value: alpha}}
	balance(&r, alpha, in.Risk, pos, neg, in.Epsilon)
	return o.done(r)
}

// balance sets the terms of (alpha/eps) risk + (eps + alpha) (pos + neg), for the eps
// that makes it least where none is given: sqrt(alpha risk / (pos + neg)). Where one of
// the two is 0, the least value is that of a limit, and there is no such eps.
func balance(r *record.BoundValue, alpha, risk, pos, neg, eps float64) {
	share := alpha / eps * risk
	switch {
	case eps > 0:
		r.With = append(r.With, record.Term{Name: "eps", Value: eps})
	case risk == 0 || pos+neg == 0:
		share, eps = 0, 0
	default:
		eps = math.Sqrt(alpha * risk / (pos + neg))
		share = alpha / eps * risk
		r.With = append(r.With, record.Term{Name: "eps, the best", Value: eps})
	}
	r.Terms = []record.Term{{Name: "(alpha/eps) E R_S", Value: share}, {Name: "of replaced positives", Value: (eps + alpha) * pos}, {Name: "of replaced negatives", Value: (eps + alpha) * neg}}
}

func risk(v float64, of string) error {
	return nonNegative("risk", v, "it is "+of+", of a loss that is nowhere negative")
}

func eps(v float64) error {
	return nonNegative("eps", v, "the bound holds for every eps above 0, and 0 takes the best")
}

// Theorem4Input is what Theorem 4 is about: A(S) minimizes F_S.
type Theorem4Input struct {
	Loss       Loss // alpha
	NPos, NNeg int
	Sigma      float64 // F_S is sigma-strongly convex; sigma min(n+, n-) >= 8 alpha
	Risk       float64 // E R_S(A(S))
	Epsilon    float64 // eps; 0 for the best
}

// Theorem4 bounds the expected gap E[R(A(S)) - R_S(A(S))], and E[F(A(S)) - F_S(w*)]
// which is not larger, of regularized risk minimization: for all eps > 0, corrected
//
//	(alpha/eps + 1536 alpha (eps + alpha)/(n+^2 sigma^2)
//	           + 256 alpha (eps + alpha)/(3 n-^2 sigma^2)) E R_S(A(S));
//
// as printed its last two terms are divided by n+ - 1 (S2). The best eps is sqrt(3 n+^2
// n-^2 sigma^2/(4608 n-^2 + 256 n+^2)), as printed sqrt(n+ - 1) times that (Remark 6).
//
// Errors: n+ < 2, n- < 1; sigma min(n+, n-) < 8 alpha; sigma or alpha not above 0;
// negative risk or eps; numbers that are not finite.
func Theorem4(in Theorem4Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	alpha, err := in.Loss.smoothness(o)
	if err = first(err, sizes(in.NPos, in.NNeg), convex(in.Sigma), regular(alpha, in.Sigma, in.NPos, in.NNeg),
		risk(in.Risk, "E R_S(A(S))"), eps(in.Epsilon)); err != nil {
		return record.BoundValue{}, err
	}
	r := record.BoundValue{Source: "Theorem 4", Bounds: "E[R(A(S)) - R_S(A(S))]", Holds: expected, Notes: notes("S2")}
	r.With = []record.Term{{Name: "alpha", Value: alpha}}
	pos, neg := moved(alpha, in.Sigma, in.NPos, in.NNeg, o)
	balance(&r, alpha, in.Risk, pos*in.Risk, neg*in.Risk, in.Epsilon)
	return o.done(r)
}

// moved is what eqs. 14 and 15 make of Lemma 6's bracket, for each unit of risk.
func moved(alpha, sigma float64, nPos, nNeg int, o Options) (pos, neg float64) {
	p, n := float64(nPos)*sigma, float64(nNeg)*sigma
	pos, neg = 1536*alpha/(p*p), 256*alpha/(3*n*n)
	if o.Form == Paper {
		return pos / float64(nPos-1), neg / float64(nPos-1)
	}
	return pos, neg
}

func regular(alpha, sigma float64, nPos, nNeg int) error {
	if have, want := sigma*float64(min(nPos, nNeg)), 8*alpha; !(have >= want*(1-slack)) {
		return fmt.Errorf("%w: sigma min(n+, n-) is %.6g, want at least 8 alpha = %.6g: Theorem 4 assumes it", ErrInput, have, want)
	}
	return nil
}

// Corollary3Input is what Corollary 3 is about.
type Corollary3Input struct {
	Loss       Loss // alpha
	NPos, NNeg int
	Norm       float64 // ||w*||
	Risk       float64 // R(w*)
}

// Corollary3 bounds the expected excess risk E[R(A(S)) - R(w*)] for the sigma that it
// chooses: the best eps of Theorem 4, E R_S(A(S)) <= R(w*) + r(w*), and r(w*) = sigma/2
// ||w*||^2 added (Remark 6). With n the smaller of n+ and n-,
//
//	as printed  sigma = n^-3/4 sqrt(R(w*))/||w*||,
//	            rate  n^-3/4 ||w*|| sqrt(R(w*)) + n^-3/2 ||w*||^2,
//	corrected   sigma = max{n^-1/2 sqrt(R(w*))/||w*||, 8 alpha/n},
//	            rate  ||w*|| sqrt(R(w*)/n) + ||w*||^2/n.
//
// The printed rate is n^-1 ||w*||^2 where R(w*) = n^-1/2 ||w*||^2; the corrected one is
// that only where R(w*) = O(||w*||^2/n) (S3). The larger 8 alpha/n keeps what Theorem 4
// assumes, and costs no more than the second term.
//
// Errors: n+ < 2, n- < 1; as printed, a sigma min(n+, n-) below 8 alpha (S13); alpha or
// norm not above 0; a negative risk; numbers that are not finite.
func Corollary3(in Corollary3Input, o Options) (record.BoundValue, error) {
	o, err := o.checked()
	if err != nil {
		return record.BoundValue{}, err
	}
	alpha, err := in.Loss.smoothness(o)
	if err = first(err, sizes(in.NPos, in.NNeg), positive("norm", in.Norm, "it is that of w*, and sigma is divided by it (Corollary 3)"), risk(in.Risk, "R(w*)")); err != nil {
		return record.BoundValue{}, err
	}
	n, root := float64(min(in.NPos, in.NNeg)), math.Sqrt(in.Risk)
	sigma := max(root/in.Norm/math.Sqrt(n), 8*alpha/n)
	rate := record.Term{Name: "||w*|| sqrt(R(w*)/n) + ||w*||^2/n", Value: in.Norm*root/math.Sqrt(n) + in.Norm*in.Norm/n}
	if o.Form == Paper {
		sigma = root / in.Norm * math.Pow(n, -0.75)
		rate = record.Term{Name: "n^-3/4 ||w*|| sqrt(R(w*)) + n^-3/2 ||w*||^2", Value: float64(in.Norm*root*math.Pow(n, -0.75)) + float64(in.Norm*in.Norm*math.Pow(n, -1.5))}
	}
	if err := regular(alpha, sigma, in.NPos, in.NNeg); err != nil {
		return record.BoundValue{}, fmt.Errorf("%w, and Corollary 3's sigma is %.6g", err, sigma)
	}
	r := record.BoundValue{Source: "Corollary 3", Bounds: "E[R(A(S)) - R(w*)]", Holds: expected, Rate: &rate, Notes: notes("S2", "S3", "S12", "S13")}
	r.With = []record.Term{{Name: "alpha", Value: alpha}, {Name: "sigma", Value: sigma}}
	penalty := float64(sigma / 2 * in.Norm * in.Norm)
	all := in.Risk + penalty // bounds E R_S(A(S))
	pos, neg := moved(alpha, sigma, in.NPos, in.NNeg, o)
	balance(&r, alpha, all, pos*all, neg*all, 0)
	r.Terms = append(r.Terms, record.Term{Name: "r(w*) = sigma/2 ||w*||^2", Value: penalty})
	return o.done(r)
}
