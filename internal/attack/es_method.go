package attack

import (
	"fmt"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

func init() {
	register(Attack{
		Name: "ES", Doc: "embedding shift: move the embedding as far from the clean one as possible",
		Goal:      "move the embedding as far as possible",
		Objective: "-d(z, z0)", Source: "Zhou et al., ECCV 2020; robrank",
		Scores: []Score{
			{Key: "ES:D", Unit: Distance, Robust: Lower, Panel: vectorPanel, Revision: 1},
			{Key: "ES:R", Unit: Fraction, Robust: Higher, Recall: true, Panel: recallPanel, Revision: 1},
		},
		Caption: func(_, now float64) string { return fmt.Sprintf("shift %.2f", now) },
		New:     newEmbeddingShift,
	})
}

// embeddingShift is the ES attack (Zhou et al., ECCV 2020; robrank): it moves the
// embedding of a query as far as possible from the clean one. The variants leave the
// clean embedding in different directions, see shift.
//
// ES:D is how far. Published: from the embedding of the iterate before the last
// one, by the pairwise distance with its 1e-6. Fixed: from the last one, by the
// Euclidean distance. ES:R is recall@1, see recall.
type embeddingShift struct {
	shift
	top recall
}

func newEmbeddingShift(g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
	return &embeddingShift{shift: shift{seed: o.Seed}, top: newRecall(g, v)}, nil
}

func (m *embeddingShift) Kind() string { return "ES " + string(m.top.variant) }

func (m *embeddingShift) Scores() []string { return []string{"ES:D", "ES:R"} }

func (m *embeddingShift) Aim(b *Batch, _ int) error {
	m.clean = b.Clean
	if err := m.top.aim("ES", b); err != nil {
		return err
	}
	if m.top.variant == Fixed {
		m.draw(b.Items)
	}
	return nil
}

func (m *embeddingShift) Targets(int) []int32 { return nil }

func (m *embeddingShift) Score(z, previous *array.Array, out [][]float64) {
	x, eps := z, 0.0
	if m.top.variant == Published {
		x, eps = previous, pairEps
	}
	for i := range m.top.items {
		out[0][i] = distance(x.Row(i), m.clean.Row(i), eps)
	}
	m.top.score(z, out[1])
}
