package loss

import (
	"fmt"
	"tercet/internal/engine/array"
)

// termTriplets evaluates any term on triplets. It serves one goroutine at a time.
type termTriplets struct {
	g     edges         // for few triplets
	dense denseTriplets // for many
}

func newTermTriplets(d Distance, eps float64, r Reduction, term termRun) termTriplets {
	t := termTriplets{g: newEdges(d, eps)}
	t.dense = denseTriplets{Table: Table{distance: t.g.distance, eps: t.g.eps}, reduce: r, term: term}
	return t
}

// alone is a triplet by itself: its two distances are the first of its own two edges
// and the second.
var alone = []Triplet{{P: 0, N: 1}}

// eval is Objective.Eval on triplets.
func (l *termTriplets) eval(z *array.Array, ts []Triplet, grad *array.Array) (Result, error) {
	g := &l.g
	if err := CheckShapes(z, grad); err != nil {
		return Result{}, err
	}
	rows := z.Shape[0]
	if len(ts) > 0 && crowded(2*len(ts), rows) {
		return l.dense.eval(z, ts, grad)
	}
	g.pairs = g.pairs[:0]
	for i, t := range ts {
		if err := t.Check(i, rows); err != nil {
			return Result{}, fmt.Errorf("loss: %w", err)
		}
		g.pairs = append(g.pairs, edge{t.A, t.P}, edge{t.A, t.N})
	}
	if err := g.measure(z); err != nil {
		return Result{}, err
	}
	clear(g.coef)
	res := Result{Tuples: len(ts)}
	for i := range ts {
		one := l.dense.term.run(alone, g.dist[2*i:2*i+2], g.coef[2*i:2*i+2])
		res.Active += one.Active
		res.Loss += one.Loss
		res.Positive += one.Positive
		res.Negative += one.Negative
	}
	g.pullScaled(l.dense.reduce.finish(&res), z, grad)
	return res, nil
}
