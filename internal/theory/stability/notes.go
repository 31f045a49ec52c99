package stability

import "fmt"

// faults are the errors and gaps of the paper that change a bound or what is to be
// given for it, by number.
var faults = map[string]string{
	"S1":  "printed with min; the proof bounds the replaced positive and the replaced negative apart, so that only max bounds both",
	"S2":  "printed with a factor n+ - 1 too many in the denominator: a sum over i != j and k became one over i and k",
	"S3":  "O(1/n) is claimed at R(w*) = n^-1/2 ||w*||^2; without the factor of S2 it needs R(w*) = O(||w*||^2 / n)",
	"S4":  "the logistic loss of eq. 6 is printed with the sign that rewards large positive distances; L, alpha and the bound are the same for the other sign, which learns",
	"S5":  "mu + sqrt(3 mu log(1/delta)) needs mu >= 3 log(1/delta), which T ~ n never meets; corrected is Bernstein's form, for any mu",
	"S6":  "the mean use of the replaced sample is printed as T/n+ + T/(2 n-); it is 2T/n+ of a positive, T/n- of a negative",
	"S7":  "any sample may be the replaced one, after the triplets were drawn: corrected has a union bound over n+ + n- samples",
	"S9":  "the printed proof does not hold; corrected has min(floor(n+/2), n-) independent blocks and log(2/delta) for both sides",
	"S10": "two events of probability 1 - delta each; corrected gives delta/2 to each",
	"S11": "eq. 16 prints the Hessian as a square of matrices; it is vec(D) vec(D)^T phi'', and the loss is convex all the same",
	"S12": "w* is the minimizer of F = E F_S (text), not of F_S (Table 3)",
	"S13": "strongly convex is the regularizer, not eq. 6; sigma n >= 8 alpha at the printed sigma and R(w*) needs alpha <= 1/8",
	"S14": "the rate needs T ~ n and n+ ~ n-; for T >> n the bound grows like sqrt(T)/n",
	"S15": "the proof holds one side of the sample fixed: M must bound the mean loss given that side, as the largest loss does",
}

// notes returns the faults of these numbers.
func notes(numbers ...string) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, n+": "+faults[n])
	}
	return out
}

// mostUsed is S7 for a count that is given.
const mostUsed = "S7: uniform stability is about whichever sample is replaced: give the largest number of uses over all samples"

// meanOverBoth is S15 for an M that is not given.
const meanOverBoth = "S15: the proof holds one side of the sample fixed, where Lemma 5's M, a mean over both, need not hold: a gap that is left"

// unbounded is S8, with what SGD itself ensures of M.
func unbounded(c, l, sqrtT float64) string {
	return fmt.Sprintf("S8: M is taken as a constant; SGD itself ensures only M = l(w_1) + c L^2 sqrt(T) = l(w_1) + %.6g, with which the bound does not fall at T ~ n", c*l*l*sqrtT)
}
