package attack

import (
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

func init() {
	register(Attack{
		Name: "FNA", Doc: "furthest negative: move the query towards the furthest class",
		Goal: "bring the images of the furthest class nearer than those of the query's class", Targets: "an item of the furthest class",
		Objective: "sum over that class of d(z, x)^2 - sum over the query's class of d(z, x)^2",
		Source:    "Bouniot et al., CVPR Workshops 2020",
		Scores:    []Score{{Key: "FNA", Unit: Fraction, Robust: Higher, Recall: true, Panel: recallPanel}},
		New:       newFNA,
	})
}

// fna is the furthest-negative attack (Bouniot, Audigier and Loesch, CVPR Workshops
// 2020): with the gallery as the images that the attacker has, it minimizes
//
//	sum over n in N of |z - n|^2 - sum over p in P of |z - p|^2,
//
// P the other images of the query's label and N those of the label whose mean is
// furthest from the clean embedding. The objective is written after a summary of the
// paper and the squared errors of the authors' utilities; it was not compared with the
// paper's own equation nor with scores of the authors' attack. The sums need of each label its size, its sum and its sum of squares only.
//
// The score is recall@1. Both variants craft the same images: robrank, which the
// published variants of the other attacks follow, does not have this one.
type fna struct {
	top   recall
	label *retrieval.Members
	sums  []float64 // (groups, D) of a label's embeddings
	norms []float64 // (groups) of their squared lengths

	clean *array.Array // (B, D), while Aim runs
	far   []int32      // (B) the label pulled to, as a group
	aimed []int32      // (B) its first item, which stands for it
}

func newFNA(g *retrieval.Gallery, v Variant, _ MethodOptions) (Method, error) {
	label, err := otherLabels("FNA", g)
	if err != nil {
		return nil, err
	}
	m := &fna{top: newRecall(g, v), label: label, norms: make([]float64, label.Groups()), sums: make([]float64, label.Groups()*g.X.Cols())}
	for j, k := range label.Of {
		sum := m.sum(int(k))
		for i, c := range g.X.Row(j) {
			sum[i] += float64(c)
			m.norms[k] += float64(float64(c) * float64(c))
		}
	}
	return m, nil
}

func (m *fna) sum(group int) []float64 {
	d := m.top.g.X.Cols()
	return m.sums[group*d : (group+1)*d]
}

func (m *fna) size(group int) float64 {
	return float64(m.label.Start[group+1] - m.label.Start[group])
}

func (m *fna) Kind() string { return "FNA" }

func (m *fna) Scores() []string { return []string{"FNA"} }

func (m *fna) Aim(b *Batch, _ int) error {
	if err := m.top.aim("FNA", b); err != nil {
		return err
	}
	n := len(b.Items)
	m.far, m.aimed = slices.Grow(m.far[:0], n)[:n], slices.Grow(m.aimed[:0], n)[:n]
	m.clean = b.Clean
	par.Do(len(b.Items), 1, m)
	m.clean = nil
	return nil
}

// Run finds the labels that queries [lo, hi) are pulled to; of equally far ones the
// first.
func (m *fna) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		most := -1.0
		for group := range m.label.Groups() {
			if own, there := m.label.Group[m.top.g.Label(m.top.items[i])]; there && int32(group) == own {
				continue
			}
			square, n := 0.0, m.size(group)
			for k, s := range m.sum(group) {
				d := float64(m.clean.Row(i)[k]) - s/n
				square += float64(d * d)
			}
			if square > most {
				most, m.far[i] = square, int32(group)
			}
		}
		m.aimed[i] = m.label.Items[m.label.Start[m.far[i]]]
	}
}

func (m *fna) Targets(i int) []int32 { return m.aimed[i : i+1] }

// Eval implements adversary.Goal. Of a label of n items with the sum s and the sum of
// squares q, the squared distances add up to n |z|^2 - 2 z s + q.
func (m *fna) Eval(z *array.Array, per []float64, grad *array.Array) error {
	for i := range per {
		item := m.top.items[i]
		own, far := m.label.Group[m.top.g.Label(item)], m.far[i]
		hidden := m.top.g.Hidden(item) // the query itself does not push
		push, pull := m.sum(int(own)), m.sum(int(far))
		n := m.size(int(far)) - m.size(int(own))
		for _, j := range hidden {
			switch m.label.Of[j] {
			case own:
				n++
			case far:
				n--
			}
		}
		per[i] = m.norms[far] - m.norms[own]
		for k, v := range z.Row(i) {
			var e, f, squares float64
			for _, j := range hidden {
				c := float64(m.top.g.X.Row(int(j))[k])
				switch m.label.Of[j] {
				case own:
					e += c
					squares += float64(c * c)
				case far:
					f += c
					squares -= float64(c * c)
				}
			}
			a := float64(v)
			s := (pull[k] - f) - (push[k] - e)
			per[i] += float64(n*a*a) - float64(2*a*s) + squares
			if grad != nil {
				grad.Row(i)[k] = float32(2 * (float64(n*a) - s))
			}
		}
	}
	return nil
}

func (m *fna) Score(z, _ *array.Array, out [][]float64) { m.top.score(z, out[0]) }
