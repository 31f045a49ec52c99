package attack

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

func init() {
	register(Attack{
		Name: "TMA", Doc: "targeted mismatch: turn the embedding towards a random gallery item",
		Goal: "turn the embedding into the direction of the target", Targets: "the random item t",
		Objective: "1 - cos(z, t)", Source: "Tolias et al., ICCV 2019; robrank",
		Scores:  []Score{{Key: "TMA", Unit: Cosine, Robust: Lower, Panel: vectorPanel}},
		Options: []Option{Draws},
		New:     newTMA,
	})
}

// tma is the targeted mismatch attack (Tolias et al., ICCV 2019; robrank): it
// turns the embedding z of a query towards that of a random gallery item t, of
// any label, by minimizing 1 - cos(z, t). The score is that cosine. The published
// target may be the query itself; the fixed variant draws again then.
type tma struct {
	draws   draws
	targets []int32
}

func newTMA(g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
	return &tma{draws: draws{g: g, name: "TMA", variant: v, seed: o.Seed}}, nil
}

func (m *tma) Kind() string { return "TMA" }

func (m *tma) Scores() []string { return []string{"TMA"} }

func (m *tma) Aim(b *Batch, draw int) error {
	if err := m.draws.aim(b, 0); err != nil {
		return err
	}
	m.targets = m.targets[:0]
	for _, item := range b.Items {
		m.draws.begin(item, draw)
		m.targets = append(m.targets, m.draws.anywhere(item))
	}
	return nil
}

func (m *tma) Targets(i int) []int32 { return m.targets[i : i+1] }

// Eval implements adversary.Goal.
func (m *tma) Eval(z *array.Array, per []float64, grad *array.Array) error {
	for i := range per {
		x, t := z.Row(i), m.draws.g.X.Row(int(m.targets[i]))
		cos, x1, t1 := cosine(x, t)
		per[i] = 1 - cos
		if grad == nil {
			continue
		}
		g, w := grad.Row(i), cos/x1
		if x1 == shortest {
			w = 0
		}
		for k, v := range x {
			g[k] = float32((float64(w*float64(v)) - float64(t[k])/t1) / x1)
		}
	}
	return nil
}

func (m *tma) Score(z, _ *array.Array, out [][]float64) {
	for i, t := range m.targets {
		out[0][i], _, _ = cosine(z.Row(i), m.draws.g.X.Row(int(t)))
	}
}

// shortest is the least length by which PyTorch's cosine_similarity divides.
const shortest = 1e-8

// cosine returns the cosine of x and y, and their lengths, at least shortest.
func cosine(x, y []float32) (cos, xLength, yLength float64) {
	var xx, yy, xy float64
	for k, v := range x {
		a, b := float64(v), float64(y[k])
		xx += float64(a * a)
		yy += float64(b * b)
		xy += float64(a * b)
	}
	xLength, yLength = max(math.Sqrt(xx), shortest), max(math.Sqrt(yy), shortest)
	return xy / xLength / yLength, xLength, yLength
}
