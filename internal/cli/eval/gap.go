package eval

import (
	"fmt"

	"tercet/internal/generalize"
	"tercet/internal/record"
	"tercet/internal/render"
)

// addGap notes the gap that was measured of the same weights, where there is one.
func addGap(t *render.Table, d *record.Eval) {
	g := generalize.StoredGap(d.Source)
	if g == nil {
		return
	}
	say := func(v record.Value) string {
		s := fmt.Sprintf("%.4f", v.Value)
		if c := v.CI95; c != nil {
			s += fmt.Sprintf(" [%.4f, %.4f]", c[0], c[1])
		}
		return s
	}
	t.Notes = append(t.Notes, fmt.Sprintf("generalization gap on random triplets: loss %.4f in training, %.4f on %s, gap %s; triplet error %.4f, %.4f, gap %s",
		g.Loss.Train.Value, g.Loss.Test.Value, g.Source.Set, say(g.Loss.Gap), g.Error.Train.Value, g.Error.Test.Value, say(g.Error.Gap)))
	if ref := g.Reference; ref != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("controlled by %s: gap of the loss %s, of the triplet error %s", ref.Run, say(*g.Loss.Controlled), say(*g.Error.Controlled)))
	}
	if g.Bound != nil {
		t.Notes = append(t.Notes, generalize.BoundWords(g.Bound))
	}
}
