package attack

import (
	"fmt"
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

func init() {
	register(Attack{
		Name: "GTT", Doc: "push the item retrieved first out of the nearest four",
		Goal: "have the nearest image (the target) no longer retrieved", Targets: "the item c retrieved first",
		Objective: "mean over x of max(0, d(z, x) - d(z, c))", Source: "after QAIR (Li et al., CVPR 2021); robrank",
		Scores: []Score{{Key: "GTT", Unit: Fraction, Robust: Higher, Panel: recallPanel}},
		Caption: func(_, now float64) string {
			if now > 0 {
				return fmt.Sprintf("still among %d", retained)
			}
			return "gone"
		},
		New: newGTT,
	})
}

// retained is how many nearest items the first one must be among.
const retained = 4

// gtt is greedy top-1 translocation (robrank, simplified from QAIR): QA- towards
// the item c retrieved first for the clean query. The score, retain@4, is 1 where c
// is still among the four items nearest to the perturbed query, else 0; it is 1
// for clean queries. The query itself is left out of both rankings: the published
// variant takes the item nearest to the clean query for it, the fixed one its
// index.
type gtt struct {
	g       *retrieval.Gallery
	variant Variant
	goal    hinged
	found   *retrieval.Nearest
	own     []int32   // (B) published: left out
	hidden  [][]int32 // (B) left out

	d   *retrieval.Distances // while Score runs
	out []float64
}

func newGTT(g *retrieval.Gallery, v Variant, _ MethodOptions) (Method, error) {
	return &gtt{g: g, variant: v, goal: hinged{g: g, m: 1}, found: retrieval.NewNearest(g)}, nil
}

// Kind is that of QA-, whose objective it is.
func (m *gtt) Kind() string { return "QA-" }

func (m *gtt) Scores() []string { return []string{"GTT"} }

func (m *gtt) Aim(b *Batch, _ int) error {
	if err := b.check("GTT", m.g); err != nil {
		return err
	}
	m.own, m.hidden, m.goal.targets = m.own[:0], m.hidden[:0], m.goal.targets[:0]
	if m.variant == Published {
		m.found.Find(b.Clean, nil)
		m.own = append(m.own, m.found.First...)
		for i := range b.Items {
			m.hidden = append(m.hidden, m.own[i:i+1])
		}
		m.goal.targets = append(m.goal.targets, m.found.Second...)
		return nil
	}
	for _, item := range b.Items {
		m.hidden = append(m.hidden, m.g.Hidden(item))
	}
	m.found.Find(b.Clean, m.hidden)
	m.goal.targets = append(m.goal.targets, m.found.First...)
	return nil
}

func (m *gtt) Targets(i int) []int32 { return m.goal.of(i) }

// Eval implements adversary.Goal.
func (m *gtt) Eval(z *array.Array, per []float64, grad *array.Array) error {
	return m.goal.Eval(z, per, grad)
}

func (m *gtt) Score(z, _ *array.Array, out [][]float64) {
	m.d, m.out = m.g.Measure(z), out[0]
	par.Do(z.Rows(), 1, m)
	m.d.Release()
	m.d, m.out = nil, nil
}

// Run scores queries [lo, hi).
func (m *gtt) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		m.d.Finish(i)
		m.d.HideAll(i, m.hidden[i])
		switch {
		case m.d.Unranked(i):
			m.out[i] = math.NaN()
		case m.d.Rank(i, m.goal.targets[i]) < retained:
			m.out[i] = 1
		default:
			m.out[i] = 0
		}
	}
}
