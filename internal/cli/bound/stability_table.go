package bound

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/text"
	"tercet/internal/theory/stability"
)

// stabilityInputs are the numbers that bounds are calculated of, by their flags.
type stabilityInputs struct {
	nPos, nNeg, steps, uses                 int
	gamma, m, delta, sigma, b, tau, mu      float64
	c, step, risk, eps, norm                float64
	movedPos, movedNeg                      float64
	radius, lipschitz, smoothness, supremum float64
}

// register adds a flag for each number. Those of the loss and --sup come last.
func (in *stabilityInputs) register(fs *pflag.FlagSet) {
	fs.Var((*countValue)(&in.nPos), "n-pos", "n+, the number `N` of positive points")
	fs.Var((*countValue)(&in.nNeg), "n-neg", "n-, the number `N` of negative points")
	fs.Float64Var(&in.delta, "delta", 0, "`D`: the bound holds with probability 1 - D")
	base.Group(fs, "Samples")
	fs.Float64Var(&in.gamma, "gamma", 0, "uniform stability `G`: the largest change of a loss when one sample is replaced")
	fs.Float64Var(&in.m, "M", 0, "`M`, which bounds the mean loss of every triplet")
	fs.Float64Var(&in.sigma, "sigma", 0, "`S`: F_S is S-strongly convex, r(w) = S/2 ||w||^2")
	fs.Float64Var(&in.b, "b", 0, "largest loss `B` at the fixed w, or at w*")
	fs.Float64Var(&in.tau, "tau", 0, "variance `T` of that loss over triplets")
	fs.Float64Var(&in.c, "c", 0, "`C`: the step size of SGD is C/sqrt(T)")
	fs.Var((*countValue)(&in.steps), "steps", "number `T` of SGD steps")
	fs.Float64Var(&in.step, "step", 0, "step size `ETA` of SGD")
	fs.Var((*countValue)(&in.uses), "uses", "`NUMBER` of steps that used the replaced sample")
	fs.Float64Var(&in.risk, "risk", 0, "`R`: the risk E R_S(A(S)); for Corollary 3, R(w*)")
	fs.Float64Var(&in.eps, "eps", 0, "free parameter `EPS` > 0 of the bound; 0: the best value")
	fs.Float64Var(&in.movedPos, "moved-pos", 0, "mean `D` of ||A(S_i) - A(S)||^2 when a positive is replaced")
	fs.Float64Var(&in.movedNeg, "moved-neg", 0, "mean `D` of ||A(S_k) - A(S)||^2 when a negative is replaced")
	fs.Float64Var(&in.norm, "norm", 0, "`NORM` of w*")
	fs.Float64Var(&in.mu, "mu", 0, "mean `MU` of a sum of independent events")
	base.Group(fs, "Learner")
	fs.Float64Var(&in.radius, "radius", 0, "`B`: use the logistic loss (eq. 6), with ||x|| <= B for all points")
	fs.Float64Var(&in.lipschitz, "lipschitz", 0, "Lipschitz constant `L` of another loss")
	fs.Float64Var(&in.smoothness, "smoothness", 0, "smoothness `ALPHA` of another loss")
	fs.Float64Var(&in.supremum, "sup", 0, "largest value `S` of the loss, to decide whether the bound is vacuous")
	base.Group(fs, "Loss")
}

// countValue is a flag of an integer that may be written as 1e6.
type countValue int

func (v *countValue) String() string { return strconv.Itoa(int(*v)) }

// Type is the word for it in the help.
func (v *countValue) Type() string { return "int" }

// Set reads an integer that float64 has exactly.
func (v *countValue) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		*v = countValue(n)
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return errors.New("want a whole number, such as 1000 or 1e6")
	}
	*v = countValue(x)
	return nil
}

func (in *stabilityInputs) loss() stability.Loss {
	return stability.Loss{L: in.lipschitz, Alpha: in.smoothness, Radius: in.radius}
}

func (in *stabilityInputs) rrm() stability.RRMInput {
	return stability.RRMInput{Loss: in.loss(), NPos: in.nPos, NNeg: in.nNeg, Sigma: in.sigma}
}

// stabilityBound is one bound: how it is asked for, what it needs.
type stabilityBound struct {
	kind   string // theorem, lemma, corollary
	number int
	needs  string   // flags without dashes
	loss   []string // flags that may take the place of --radius; nil: no loss is used
	ball   bool     // the loss is logistic: --radius it must be
	eps    bool     // --eps may be given
	sharp  bool     // --constants tight changes more than L and alpha
	counts bool     // it bounds no loss: no --sup
	calc   func(in *stabilityInputs, o stability.Options) (record.BoundValue, error)
}

var stabilityBounds = []stabilityBound{
	{kind: "theorem", number: 1, needs: "n-pos n-neg delta gamma M",
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Theorem1(stability.Theorem1Input{NPos: in.nPos, NNeg: in.nNeg, Gamma: in.gamma, M: in.m, Delta: in.delta}, o)
		}},
	{kind: "theorem", number: 2, needs: "n-pos n-neg delta M c steps", loss: []string{"lipschitz", "smoothness"},
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Theorem2(stability.Theorem2Input{Loss: in.loss(), NPos: in.nPos, NNeg: in.nNeg, C: in.c, Steps: in.steps, M: in.m, Delta: in.delta}, o)
		}},
	{kind: "theorem", number: 3, needs: "n-pos n-neg delta sigma b tau", loss: []string{"lipschitz"}, sharp: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Theorem3(stability.Theorem3Input{Loss: in.loss(), NPos: in.nPos, NNeg: in.nNeg, Sigma: in.sigma, B: in.b, Tau: in.tau, Delta: in.delta}, o)
		}},
	{kind: "theorem", number: 4, needs: "n-pos n-neg sigma risk", loss: []string{"smoothness"}, eps: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Theorem4(stability.Theorem4Input{Loss: in.loss(), NPos: in.nPos, NNeg: in.nNeg, Sigma: in.sigma, Risk: in.risk, Epsilon: in.eps}, o)
		}},
	{kind: "lemma", number: 1, needs: "gamma",
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma1(stability.Lemma1Input{Gamma: in.gamma}, o)
		}},
	{kind: "lemma", number: 2, needs: "step uses", loss: []string{"lipschitz", "smoothness"},
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma2(stability.Lemma2Input{Loss: in.loss(), Step: in.step, Uses: in.uses}, o)
		}},
	{kind: "lemma", number: 3, needs: "n-pos n-neg delta b tau",
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma3(stability.Lemma3Input{NPos: in.nPos, NNeg: in.nNeg, B: in.b, Tau: in.tau, Delta: in.delta}, o)
		}},
	{kind: "lemma", number: 4, needs: "n-pos n-neg sigma", loss: []string{"lipschitz"}, sharp: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma4(in.rrm(), o)
		}},
	{kind: "lemma", number: 5, needs: "n-pos n-neg sigma", loss: []string{"lipschitz"}, sharp: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma5(in.rrm(), o)
		}},
	{kind: "lemma", number: 6, needs: "n-pos risk moved-pos moved-neg", loss: []string{"smoothness"}, eps: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma6(stability.Lemma6Input{Loss: in.loss(), NPos: in.nPos, Risk: in.risk, MovedPos: in.movedPos, MovedNeg: in.movedNeg, Epsilon: in.eps}, o)
		}},
	{kind: "lemma", number: 10, needs: "mu delta", counts: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Lemma10(stability.Lemma10Input{Mu: in.mu, Delta: in.delta}, o)
		}},
	{kind: "corollary", number: 1, needs: "n-pos n-neg delta M c steps", loss: []string{}, ball: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Corollary1(stability.Corollary1Input{Radius: in.radius, NPos: in.nPos, NNeg: in.nNeg, C: in.c, Steps: in.steps, M: in.m, Delta: in.delta}, o)
		}},
	{kind: "corollary", number: 2, needs: "n-pos n-neg delta sigma b tau norm", loss: []string{}, ball: true, sharp: true,
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Corollary2(stability.Corollary2Input{Radius: in.radius, NPos: in.nPos, NNeg: in.nNeg, Sigma: in.sigma, B: in.b, Tau: in.tau, Norm: in.norm, Delta: in.delta}, o)
		}},
	{kind: "corollary", number: 3, needs: "n-pos n-neg risk norm", loss: []string{"smoothness"},
		calc: func(in *stabilityInputs, o stability.Options) (record.BoundValue, error) {
			return stability.Corollary3(stability.Corollary3Input{Loss: in.loss(), NPos: in.nPos, NNeg: in.nNeg, Norm: in.norm, Risk: in.risk}, o)
		}},
}

// name is as in the paper: "Theorem 1".
func (b stabilityBound) name() string {
	return fmt.Sprintf("%s%s %d", strings.ToUpper(b.kind[:1]), b.kind[1:], b.number)
}

// dashed lists flags as they are typed: --a, --b and --c.
func dashed(flags []string) string {
	out := lists.Map(flags, func(f string) string { return "--" + f })
	return text.List(out, "and")
}

// wants lists all that the bound needs.
func (b stabilityBound) wants() string {
	needs := strings.Fields(b.needs)
	if b.loss == nil {
		return dashed(needs)
	}
	all := dashed(append(needs, "radius"))
	if len(b.loss) > 0 {
		all += " (or " + dashed(b.loss) + ")"
	}
	return all
}

// flags returns what may be given beside --form.
func (b stabilityBound) flags(changed func(flag string) bool) []string {
	may := strings.Fields(b.needs)
	if b.loss != nil {
		may = append(append(may, "radius"), b.loss...)
		if b.sharp || !slices.ContainsFunc(b.loss, changed) {
			may = append(may, "constants")
		}
	}
	if b.eps {
		may = append(may, "eps")
	}
	if !b.counts {
		may = append(may, "sup")
	}
	return may
}

// missing lists needed flags that are not given.
func (b stabilityBound) missing(changed func(flag string) bool) []string {
	needs := strings.Fields(b.needs)
	switch {
	case b.loss == nil || changed("radius"):
	case b.ball:
		needs = append(needs, "radius")
	case !slices.ContainsFunc(b.loss, changed):
		needs = append(needs, "radius")
	default:
		needs = append(needs, b.loss...)
	}
	return lists.Filter(needs, func(f string) bool { return !changed(f) })
}
