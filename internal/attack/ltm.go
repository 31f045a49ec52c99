package attack

import (
	"fmt"
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

func init() {
	register(Attack{
		Name: "LTM", Doc: "learning to mis-rank: bring all other classes nearer than the query's own",
		Objective: "max(0, max over other classes of d(z, x) - min over the query's class of d(z, x))",
		Source:    "Wang et al., CVPR 2020; robrank",
		Goal:      "bring all other classes nearer than the query's own",
		Scores:    []Score{{Key: "LTM", Unit: Fraction, Robust: Higher, Recall: true, Panel: recallPanel}},
		New:       newLTM,
	})
}

// ltm is learning to mis-rank (Wang et al., CVPR 2020, eq. 1, without margin;
// robrank): per query it minimizes
//
//	max(0, max_{x of other labels} d(z, x) - min_{x of the query's label} d(z, x)),
//
// both chosen again at each step: the farthest image of other labels is pulled,
// the nearest one of the query's own label pushed away. The hinge reaches 0 only
// when every image of another label is nearer than any of its own, far beyond
// what the score, recall@1, asks for.
//
// In the published variant the query itself is among those of its label: the
// mask that should take it out is computed and dropped. The copy is the nearest
// one at first, so that the second distance starts at 0 and what is pushed away
// is the clean embedding. The fixed variant masks it by index.
type ltm struct {
	top   recall
	label *retrieval.Members

	d    *retrieval.Distances // while Eval runs
	z    *array.Array
	per  []float64
	grad *array.Array
}

func newLTM(g *retrieval.Gallery, v Variant, _ MethodOptions) (Method, error) {
	label, err := otherLabels("LTM", g)
	if err != nil {
		return nil, err
	}
	return &ltm{top: newRecall(g, v), label: label}, nil
}

// Kind is not the same in the two variants: their objectives differ.
func (m *ltm) Kind() string { return "LTM " + string(m.top.variant) }

func (m *ltm) Scores() []string { return []string{"LTM"} }

func (m *ltm) Aim(b *Batch, _ int) error {
	if err := m.top.aim("LTM", b); err != nil {
		return err
	}
	for _, item := range b.Items {
		if all, same := m.top.g.Compared(item); m.top.variant == Fixed && (same < 1 || all == same) {
			return fmt.Errorf("attack LTM: item %d is compared with %d items, %d of its label %d; leave it out of the queries", item, all, same, m.top.g.Label(item))
		}
	}
	return nil
}

func (m *ltm) Targets(int) []int32 { return nil }

func (m *ltm) Score(z, _ *array.Array, out [][]float64) { m.top.score(z, out[0]) }

// Eval implements adversary.Goal.
func (m *ltm) Eval(z *array.Array, per []float64, grad *array.Array) error {
	m.d, m.z, m.per, m.grad = m.top.g.Measure(z), z, per, grad
	par.Do(len(per), 1, m)
	m.d.Release()
	m.d, m.z, m.per, m.grad = nil, nil, nil, nil
	return nil
}

// Run does queries [lo, hi).
func (m *ltm) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		item := m.top.items[i]
		m.d.Finish(i)
		if m.top.variant == Fixed {
			m.d.HideAll(i, m.top.hidden[i])
		}
		same := m.label.Labeled(m.top.g.Label(item))
		near, nearest := m.d.LeastAmong(i, same)
		m.d.HideAll(i, same)
		far, farthest := m.d.Most(i)
		if near < 0 || far < 0 { // z is NaN
			m.per[i] = math.NaN()
			continue
		}
		nearest, farthest = math.Sqrt(nearest), math.Sqrt(farthest)
		m.per[i] = max(0, farthest-nearest)
		if m.grad == nil {
			continue
		}
		g := m.grad.Row(i)
		if farthest <= nearest {
			clear(g)
			continue
		}
		m.slope(m.z.Row(i), far, near, farthest, nearest, g)
	}
}

// slope sets g to the gradient of |z - x_far| - |z - x_near|.
func (m *ltm) slope(z []float32, far, near int32, farthest, nearest float64, g []float32) {
	x, y := m.top.g.X.Row(int(far)), m.top.g.X.Row(int(near))
	u, v := 1/farthest, 0.0
	// The distance has no gradient at 0. The distance to the query itself may be off by the rounding
	// of another batch: that would be a direction of noise.
	if nearest > 0x1p-20*math.Sqrt(kernel.SumSquares(y)) {
		v = 1 / nearest
	}
	for k, c := range z {
		a := float64(c)
		g[k] = float32(float64(u*(a-float64(x[k]))) - float64(v*(a-float64(y[k]))))
	}
}
