package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
)

// Study puts claims about triplet metric learning to the test on one source.
type Study struct {
	Source Source
	Data   record.MetricData
	// Loss is logistic with zeta; the claims about signs take both signs of it.
	Zeta float64
	// Repeats of each setting; 0 takes each claim's own number.
	Repeats int
	// Most is the largest n+ or n- of a sample; sizes above are left out, and a note says
	// so. 0: no limit.
	Most record.Sizes
	// Held are the points that true risks are estimated from.
	Held  record.Sizes
	Delta float64 // of Theorems 1 and 2
	// Triplets are tried of either kind for the largest change; see UniformOptions.
	Triplets int
	Seed     uint64
	// Done, where set, is called after each setting.
	Done func(what string, n record.Sizes, e record.Estimate)
	// Keep, where set, keeps each setting's result.
	Keep Keeper
}

// Claim is a statement that a study puts to the test.
type Claim struct {
	ID string
	// Of is the fault of the paper that it shows, or "".
	Of   string
	Says string
	test func(context.Context, *tester) error
}

// Claims are all there are: T1 to T12 of the paper's promises (T4 is S1, T7 is S4), and S2.
var Claims = []Claim{
	{"T1", "", "the gap is at most the bound of Theorem 1 (of Theorem 2 for SGD) in every run", t1},
	{"T2", "", "Lemma 2: with the same triplets, SGD's losses change by at most 2 L^2 eta for each step that used the replaced sample", t2},
	{"T3", "", "Lemma 4: at a fixed sigma the uniform stability of regularized risk minimization falls as 1/n", t3},
	{"T4", "S1", "Lemma 4 with few positives: the printed min{8/n+, 4/n-} L^2/sigma is violated, max is not", t4},
	{"T5", "", "SGD: with T = n the gap falls as n^-1/2; at a fixed n stability grows as sqrt(T); it follows max{2/n+, 1/n-}", t5},
	{"T6", "", "Theorem 4: the expected gap of regularized risk minimization at a fixed sigma falls as 1/n", t6},
	{"T7", "S4", "the printed sign of the logistic loss learns to err; the other sign errs less than Euclidean distances", t7},
	{"T8", "", "the excess risk R(A(S)) - min R falls as n^-1/2 log(n) or faster: regularized risk minimization at sigma ~ n^-1/2 (Corollary 2), SGD at T = n (Remark 3)", t8},
	{"T9", "", "Corollary 3: at low noise the excess risk of regularized risk minimization at sigma = 8 alpha/n falls as ||w*||^2/n or faster", t9},
	{"T10", "", "regularized risk minimization at a fixed sigma: Lemma 1 with three samples replaced, Lemma 3 at w*, Lemma 5 and Theorem 3, corrected, are not violated", t10},
	{"T11", "", "hinge, Huber and least squares: uniform stability and expected gap of regularized risk minimization at a fixed sigma fall as 1/n, at most as Lemma 4 and Theorem 4 allow", t11},
	{"T12", "", "the notions of stability of Table 4 fall as 1/n at a fixed sigma, none is above the uniform one, and losses near the replaced point change most", t12},
	{"S2", "S2", "the printed bound of Lemma 6 is violated by the expected gap under strong regularization, the corrected one is not", s2},
}

// ClaimOf finds a claim by its number or that of its fault, in any case.
func ClaimOf(id string) (Claim, error) {
	var names []string
	for _, c := range Claims {
		if id != "" && (strings.EqualFold(id, c.ID) || strings.EqualFold(id, c.Of)) {
			return c, nil
		}
		names = append(names, c.ID)
	}
	return Claim{}, fmt.Errorf("%w: unknown claim %q; valid: %s", ErrInput, id, strings.Join(names, ", "))
}

// Test puts a claim to the test. The verdict is the document's.
//
// Errors: those of the source and the learners, with the setting; ctx's where it is done.
func (c Claim) Test(ctx context.Context, s Study) (*record.MetricStability, error) {
	t := &tester{Study: s, doc: &record.MetricStability{Schema: record.MetricSchema, Claim: c.ID, Says: c.Says, Data: s.Data, Seed: s.Seed, Options: &record.MetricOptions{Repeats: s.Repeats, Delta: s.Delta, Triplets: s.Triplets}}, references: map[string][]float64{}}
	loss, err := mahalanobis.NewLoss(mahalanobis.Logistic, s.Zeta, 0)
	if err != nil {
		return nil, err
	}
	t.loss = loss
	began := time.Now()
	if err := c.test(ctx, t); err != nil {
		return nil, fmt.Errorf("claim %s: %w", c.ID, err)
	}
	t.doc.Seconds = time.Since(began).Seconds()
	return setVerdict(t.doc), nil
}

// tester is a claim under test.
type tester struct {
	Study
	loss mahalanobis.Loss
	doc  *record.MetricStability
	// references are the w of control variates that were learned, by learner.
	references map[string][]float64
}

// repeats is the claim's own number, or what was asked for.
func (t *tester) repeats(own int) int {
	if t.Repeats > 0 {
		return t.Repeats
	}
	return own
}

// even are sizes n+ = n- = n.
func even(n ...int) []record.Sizes {
	var out []record.Sizes
	for _, v := range n {
		out = append(out, record.Sizes{Pos: v, Neg: v})
	}
	return out
}

// allowed parts sizes into those that the study allows and those that are left out: above
// the limits, or with so many more points, which a sample is evaluated on or replaced by,
// above what there is to draw from.
func (t *tester) allowed(sizes []record.Sizes, more func(record.Sizes) record.Sizes) (out, left []record.Sizes) {
	have := size(t.Source)
	why := map[string][]string{}
	for _, n := range sizes {
		m, words := more(n), fmt.Sprintf("%d + %d", n.Pos, n.Neg)
		switch {
		case t.Most.Pos > 0 && n.Pos > t.Most.Pos || t.Most.Neg > 0 && n.Neg > t.Most.Neg:
			reason := fmt.Sprintf("left out, as samples are limited to %d + %d points", t.Most.Pos, t.Most.Neg)
			left, why[reason] = append(left, n), append(why[reason], words)
		case have != nil && (n.Pos+m.Pos > have.Pos || n.Neg+m.Neg > have.Neg):
			reason := fmt.Sprintf("left out, as there are %d + %d points for samples, evaluation and replacements", have.Pos, have.Neg)
			left, why[reason] = append(left, n), append(why[reason], words)
		default:
			out = append(out, n)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		if note := reason + ": " + strings.Join(why[reason], ", "); !slices.Contains(t.doc.Notes, note) {
			t.doc.Notes = append(t.doc.Notes, note)
		}
	}
	return out, left
}

// held are the points that risks are estimated from, for any sample.
func (t *tester) held(record.Sizes) record.Sizes { return t.Held }

// some are so many fresh points of either side, or as many as samples.
func some(k int) func(record.Sizes) record.Sizes {
	return func(n record.Sizes) record.Sizes {
		return record.Sizes{Pos: max(2, min(k, n.Pos)), Neg: max(1, min(k, n.Neg))}
	}
}

// asMany are as many points as the sample's.
func asMany(n record.Sizes) record.Sizes { return n }

// sgd is SGD at a share of the largest step that the tight alpha allows.
func (t *tester) sgd(share float64, steps record.Scale) (SGD, error) {
	k, err := t.loss.Constants(t.Source.Radius(), mahalanobis.Tight)
	return SGD{Loss: t.loss, C: share * 2 / k.Alpha, Steps: steps, Radius: t.Source.Radius()}, err
}

// printedShare makes 1/32 B^-4 of the tight limit 1/2 B^-4: the printed 2/alpha.
const printedShare = 1.0 / 16

// uniform adds a point of uniform stability to the series.
func (t *tester) uniform(ctx context.Context, s *record.MetricSeries, x float64, o UniformOptions) (*record.UniformResult, error) {
	o.Source, o.Seed, o.Triplets = t.Source, t.Seed, t.Triplets
	u, err := recall(t.Keep, o.key(), func() (*record.UniformResult, error) { return Uniform(ctx, o) })
	if err != nil {
		return nil, fmt.Errorf("n+ = %d, n- = %d: %w", o.Sizes.Pos, o.Sizes.Neg, err)
	}
	if t.Done != nil {
		what := s.Name
		if s.Axis == "T" {
			what += fmt.Sprintf(", T = %g", x)
		}
		t.Done(what, o.Sizes, u.Gamma)
	}
	s.Points = append(s.Points, uniformPoint(x, o.Learner, u))
	return u, nil
}

// uniformOver measures uniform stability at those of the sizes that the study allows, each
// replacement with one fresh point, and adds the series.
func (t *tester) uniformOver(ctx context.Context, s *record.MetricSeries, sizes []record.Sizes, o UniformOptions) error {
	sizes, s.LeftOut = t.allowed(sizes, some(o.Replaced))
	o.Repeats, o.Fresh = t.repeats(10), 1
	for _, n := range sizes {
		o.Sizes = n
		if _, err := t.uniform(ctx, s, float64(n.Pos), o); err != nil {
			return err
		}
	}
	t.add(*s)
	return nil
}

// gap adds a point of the expected gap to the series.
func (t *tester) gap(ctx context.Context, s *record.MetricSeries, x float64, o GapOptions) (*record.GapResult, error) {
	o.Source, o.Seed = t.Source, t.Seed
	if o.Held == (record.Sizes{}) {
		o.Held = t.Held
	}
	g, err := recall(t.Keep, o.key(), func() (g *record.GapResult, err error) {
		if o.Fixed == nil {
			if o.Fixed, err = t.reference(ctx, o); err != nil {
				return nil, fmt.Errorf("reference: %w", err)
			}
		}
		return Gap(ctx, o)
	})
	if err != nil {
		return nil, fmt.Errorf("n+ = %d, n- = %d: %w", o.Sizes.Pos, o.Sizes.Neg, err)
	}
	if t.Done != nil {
		t.Done(s.Name, o.Sizes, g.Gap)
	}
	s.Points = append(s.Points, gapPoint(x, o.Learner, g))
	return g, nil
}

// reference is the w of the control variate, learned once for each learner and scale.
func (t *tester) reference(ctx context.Context, o GapOptions) ([]float64, error) {
	key := fmt.Sprintf("%+v", o.Learner.fixed(o.Sizes))
	if t.references[key] == nil {
		w, err := Reference(ctx, t.Source, o.Learner, o.Sizes, t.Seed)
		if err != nil {
			return nil, err
		}
		t.references[key] = w
	}
	return t.references[key], nil
}
