package attack

import (
	"slices"
	"sort"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

func init() {
	register(Attack{
		Name: "GTM", Doc: "greedy top-1 misranking: move the query towards the nearest item of another class",
		Goal: "have the nearest image of another class (the target) retrieved first", Targets: "the item u of another class",
		Objective: "d(z, u)", Source: "robrank",
		Scores: []Score{{Key: "GTM", Unit: Fraction, Robust: Higher, Recall: true, Panel: recallPanel}},
		New:    newGTM,
	})
}

// gtm is greedy top-1 misranking (robrank): it minimizes the distance of a
// query's embedding from one target, by PyTorch's pairwise distance; the push
// away from the top match that its description has is switched off in the code,
// where it made the attack weaker. The score is recall@1.
//
// The fixed target is the item nearest to the clean embedding among those of
// other labels. The published one has two faults. "Other" is relative to the
// label of r, the item retrieved first, not the query's. And the nearest such
// item v is named by its place among the items of other labels than r's, which
// then is used as an index into the whole gallery: the target is not v, but item
// number #{j < v: label j is not r's}.
type gtm struct {
	top     recall
	label   *retrieval.Members
	targets []int32

	d *retrieval.Distances // while Aim runs
}

func newGTM(g *retrieval.Gallery, v Variant, _ MethodOptions) (Method, error) {
	label, err := otherLabels("GTM", g)
	if err != nil {
		return nil, err
	}
	return &gtm{top: newRecall(g, v), label: label}, nil
}

func (m *gtm) Kind() string { return "GTM" }

func (m *gtm) Scores() []string { return []string{"GTM"} }

func (m *gtm) Aim(b *Batch, _ int) error {
	if err := m.top.aim("GTM", b); err != nil {
		return err
	}
	m.targets = slices.Grow(m.targets[:0], len(b.Items))[:len(b.Items)]
	m.d = m.top.g.Measure(b.Clean)
	par.Do(len(b.Items), 1, m)
	m.d.Release()
	m.d = nil
	return nil
}

// Run finds the targets of queries [lo, hi).
func (m *gtm) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		m.d.Finish(i)
		if m.top.variant == Fixed {
			m.d.HideAll(i, m.label.Labeled(m.top.g.Label(m.top.items[i])))
			m.d.HideAll(i, m.top.hidden[i])
			m.targets[i], _ = m.d.Least(i)
			continue
		}
		own, r := m.top.own[i], m.top.found.Second[i]
		m.d.HideAll(i, m.label.With(int(r)))
		m.d.Hide(i, own)
		v, _ := m.d.Least(i)
		if v < 0 { // the masked item comes last, and no other one is left
			v = own
		}
		same := m.label.With(int(r))
		before := sort.Search(len(same), func(k int) bool { return same[k] >= v })
		m.targets[i] = v - int32(before)
	}
}

func (m *gtm) Targets(i int) []int32 { return m.targets[i : i+1] }

// Eval implements adversary.Goal.
func (m *gtm) Eval(z *array.Array, per []float64, grad *array.Array) error {
	for i := range per {
		x, t := z.Row(i), m.top.g.X.Row(int(m.targets[i]))
		per[i] = distance(x, t, pairEps)
		if grad != nil {
			slope(x, t, pairEps, per[i], grad.Row(i))
		}
	}
	return nil
}

func (m *gtm) Score(z, _ *array.Array, out [][]float64) { m.top.score(z, out[0]) }
