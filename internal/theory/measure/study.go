package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tercet/internal/engine/mahalanobis"
)

// Study puts claims about triplet metric learning to the test on one source.
type Study struct {
	Source Source
	Data   DataRecord
	// Loss is logistic with zeta; the claims about signs take both signs of it.
	Zeta float64
	// Repeats of each setting; 0 takes each claim's own number.
	Repeats int
	// Most is the largest n+ or n- of a sample; sizes above are left out, and a note says
	// so. 0: no limit.
	Most Sizes
	// Held are the points that true risks are estimated from.
	Held  Sizes
	Delta float64 // of Theorems 1 and 2
	// Triplets are tried of either kind for the largest change; see UniformOptions.
	Triplets int
	Seed     uint64
	// Done, where set, is called after each setting.
	Done func(what string, n Sizes, e Estimate)
}

// Claim is a statement that a study puts to the test.
type Claim struct {
	ID string
	// Of is the fault of the paper that it shows, or "".
	Of   string
	Says string
	test func(context.Context, *tester) error
}

// Claims are all there are: T1 to T7 of the papers' promises (T4 is S1, T7 is S4), and S2.
var Claims = []Claim{
	{"T1", "", "the gap is at most the bound of Theorem 1 (of Theorem 2 for SGD) in every run", t1},
	{"T2", "", "Lemma 2: with the same triplets, SGD's losses change by at most 2 L^2 eta for each step that used the replaced sample", t2},
	{"T3", "", "Lemma 4: at a fixed sigma the uniform stability of regularised risk minimisation falls as 1/n", t3},
	{"T4", "S1", "Lemma 4 with few positives: the printed min{8/n+, 4/n-} L^2/sigma is crossed, max is not", t4},
	{"T5", "", "SGD: with T = n the gap falls as n^-1/2; at a fixed n stability grows as sqrt(T); it follows max{2/n+, 1/n-}", t5},
	{"T6", "", "Theorem 4: the expected gap of regularised risk minimisation at a fixed sigma falls as 1/n", t6},
	{"T7", "S4", "the printed sign of the logistic loss learns to err; the other sign errs less than Euclidean distances", t7},
	{"S2", "S2", "the printed bound of Lemma 6 is crossed by the expected gap under strong regularisation, the corrected one is not", s2},
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
	return Claim{}, fmt.Errorf("%w: there is no claim %q; claims: %s", ErrInput, id, strings.Join(names, ", "))
}

// Test puts a claim to the test. The verdict is the document's.
//
// Errors: those of the source and the learners, with the setting; ctx's where it is done.
func (c Claim) Test(ctx context.Context, s Study) (*Document, error) {
	t := &tester{Study: s, doc: &Document{Schema: Schema, Claim: c.ID, Says: c.Says, Data: s.Data, Seed: s.Seed}, references: map[string][]float64{}}
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
	return t.doc.judge(), nil
}

// tester is a claim under test.
type tester struct {
	Study
	loss mahalanobis.Loss
	doc  *Document
	// references are the w of control variates that were learnt, by learner.
	references map[string][]float64
}

// repeats is the claim's own number, or what was asked for.
func (t *tester) repeats(own int) int {
	if t.Repeats > 0 {
		return t.Repeats
	}
	return own
}

// even are the sizes n+ = n- = n that the study allows.
func (t *tester) even(n ...int) []Sizes {
	var out []Sizes
	for _, v := range n {
		out = append(out, Sizes{v, v})
	}
	return t.allowed(out)
}

// allowed leaves out sizes above the limits.
func (t *tester) allowed(sizes []Sizes) []Sizes {
	var out []Sizes
	var left []string
	for _, n := range sizes {
		if t.Most.Pos > 0 && n.Pos > t.Most.Pos || t.Most.Neg > 0 && n.Neg > t.Most.Neg {
			left = append(left, fmt.Sprintf("%d + %d", n.Pos, n.Neg))
			continue
		}
		out = append(out, n)
	}
	if note := fmt.Sprintf("left out, as samples are limited to %d + %d points: %s", t.Most.Pos, t.Most.Neg, strings.Join(left, ", ")); left != nil && !slices.Contains(t.doc.Notes, note) {
		t.doc.Notes = append(t.doc.Notes, note)
	}
	return out
}

// sgd is SGD at a share of the largest step that the tight alpha allows.
func (t *tester) sgd(share float64, steps Scale) (SGD, error) {
	k, err := t.loss.Constants(t.Source.Radius(), mahalanobis.Tight)
	return SGD{Loss: t.loss, C: share * 2 / k.Alpha, Steps: steps, Radius: t.Source.Radius()}, err
}

// printedShare makes 1/32 B^-4 of the tight limit 1/2 B^-4: the printed 2/alpha.
const printedShare = 1.0 / 16

// uniform adds a point of uniform stability to the series.
func (t *tester) uniform(ctx context.Context, s *Series, x float64, o UniformOptions) (*UniformResult, error) {
	o.Source, o.Seed, o.Triplets = t.Source, t.Seed, t.Triplets
	u, err := Uniform(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("n+ = %d, n- = %d: %w", o.Sizes.Pos, o.Sizes.Neg, err)
	}
	if t.Done != nil {
		t.Done(s.Name, o.Sizes, u.Gamma)
	}
	s.Points = append(s.Points, uniformPoint(x, o.Learner, u))
	return u, nil
}

// gap adds a point of the expected gap to the series.
func (t *tester) gap(ctx context.Context, s *Series, x float64, o GapOptions) (*GapResult, error) {
	o.Source, o.Seed = t.Source, t.Seed
	if o.Held == (Sizes{}) {
		o.Held = t.Held
	}
	key := fmt.Sprintf("%+v", fixed(o.Learner, o.Sizes))
	if o.Fixed != nil {
		t.references[key] = o.Fixed
	}
	if t.references[key] == nil {
		w, err := Reference(ctx, t.Source, o.Learner, o.Sizes, t.Seed)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		t.references[key] = w
	}
	o.Fixed = t.references[key]
	g, err := Gap(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("n+ = %d, n- = %d: %w", o.Sizes.Pos, o.Sizes.Neg, err)
	}
	if t.Done != nil {
		t.Done(s.Name, o.Sizes, g.Gap)
	}
	s.Points = append(s.Points, gapPoint(x, o.Learner, g))
	return g, nil
}

// add fits the series' rate, adds it to the document and checks the slope where one is
// expected: it holds where the slope lies there, fails where its whole interval does not.
func (t *tester) add(s Series) {
	s.fit(t.Seed)
	t.doc.Series = append(t.doc.Series, s)
	if s.Expected == nil {
		return
	}
	says := fmt.Sprintf("%s: slope between %g and %g", s.Name, s.Expected[0], s.Expected[1])
	if s.Rate == nil {
		t.doc.open(says, s.RateNote)
		return
	}
	found := fmt.Sprintf("%.3f", s.Rate.Slope)
	if c := s.Rate.CI95; c != nil {
		found += fmt.Sprintf(" [%.3f, %.3f]", c[0], c[1])
	}
	c := s.Rate.CI95
	switch inside := s.Expected[0] <= s.Rate.Slope && s.Rate.Slope <= s.Expected[1]; {
	case inside:
		t.doc.check(says, found, true)
	case c == nil || c[0] <= s.Expected[1] && s.Expected[0] <= c[1]:
		t.doc.open(says, found) // more repeats may tell
	default:
		t.doc.check(says, found, false)
	}
}

// within says how many points of a series lie at or below their bound of that form and
// constants, and checks that all do.
func (t *tester) within(s Series, form, constants, says string) {
	held, all, worst := 0, 0, 0.0
	for _, p := range s.Points {
		for _, b := range p.Bounds {
			if b.Form == form && b.Constants == constants {
				all++
				if !b.Crossed {
					held++
				}
				worst = max(worst, p.Measured.Max/b.Value)
			}
		}
	}
	if all == 0 {
		t.doc.open(says, "there is no such bound")
		return
	}
	t.doc.check(says, fmt.Sprintf("%d of %d, largest ratio %.3g", held, all, worst), held == all)
}
