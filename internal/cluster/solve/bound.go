package solve

import (
	"context"
	"math"
	"time"

	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/multicut/factored"
	"tercet/internal/option"
	"tercet/internal/record"
)

// Sizes up to which a bound is found without being asked for; without edges in a list,
// none is quick beyond AutoTrivial nodes.
const (
	autoTriangle = 3_000         // nodes of a complete graph
	autoCycle    = 1_000_000     // edges of a sparse one
	AutoTrivial  = 50_000        // nodes of a complete one: all pairs are looked at
	autoWork     = 2_000_000_000 // edges that searches for cycles may look at: some ten seconds
)

// listedNodes is the size up to which a complete graph is made into a list of edges.
const listedNodes = 2_000

// bound returns a lower bound on the objective of every clustering, nil for none.
// The solver's own one serves where it has one and none is asked for by name.
func (p *Problem) bound(ctx context.Context, own *multicut.Bound, objective float64) (*multicut.Bound, *record.BoundRecord, error) {
	start, method := time.Now(), p.o.Bound
	if method == "auto" {
		if own != nil {
			return own, &record.BoundRecord{Method: own.Method}, nil
		}
		method = p.autoBound()
	}
	if method == "none" {
		return nil, nil, nil
	}
	p.say("lower bound", 0, 1)
	var b multicut.Bound
	var err error
	if f, ok := p.costs.(*factored.Graph); ok && p.o.Bound == "auto" { // more exact than others, of a matrix in float32
		b, err = f.TrivialBound(ctx)
	}
	if err == nil && (b.Method == "" || !b.Proves(objective)) {
		b, err = p.boundBy(ctx, method, p.o.Bound == "auto")
	}
	if err != nil {
		return nil, nil, err
	}
	p.say("lower bound", 1, 1)
	if own != nil && own.Value > b.Value {
		b = *own
	}
	return &b, &record.BoundRecord{Method: b.Method, Ended: b.Ended, Seconds: time.Since(start).Seconds()}, nil
}

func (p *Problem) autoBound() string {
	n := p.record.Nodes
	switch {
	case p.graph != nil && p.record.Edges <= autoCycle:
		return "cycle"
	case p.graph != nil:
		return "trivial"
	case n <= autoTriangle:
		return "triangle"
	case n <= AutoTrivial:
		return "trivial"
	}
	return "none"
}

// boundBy finds the bound of a method, where quick as far as autoWork goes.
func (p *Problem) boundBy(ctx context.Context, method string, quick bool) (multicut.Bound, error) {
	var cycles multicut.CycleOptions
	if quick {
		cycles.Work = autoWork
	}
	switch f, factored := p.costs.(*factored.Graph); {
	case method == "trivial" && factored:
		return f.TrivialBound(ctx)
	case method == "trivial":
		return multicut.TrivialBound(p.costs), nil
	case p.graph != nil && method == "cycle":
		return multicut.CycleBound(ctx, p.graph, cycles)
	case p.graph != nil:
		return multicut.Bound{}, option.Errorf("%s triangle is for complete graphs; this one is sparse: use %s cycle", option.Name("bound"), option.Name("bound"))
	case method == "cycle" && p.record.Nodes > listedNodes:
		return multicut.Bound{}, option.Errorf("%s cycle is for sparse graphs, and complete ones of at most %d items; this one has %d: use %s triangle", option.Name("bound"), listedNodes, p.record.Nodes, option.Name("bound"))
	}
	d, err := p.pairwise(ctx)
	if err != nil {
		return multicut.Bound{}, err
	}
	var b multicut.Bound
	if method == "triangle" {
		b, err = multicut.TriangleBound(ctx, d)
	} else {
		var g *multicut.Graph
		if g, err = listed(d); err == nil {
			b, err = multicut.CycleBound(ctx, g, cycles)
		}
	}
	if p.costs != multicut.Costs(d) {
		wrong := rounding(d)
		b.Value, b.Margin = b.Value-wrong, b.Margin+wrong
	}
	return b, err
}

// rounding bounds what float32 costs may differ by, in sum, from those that they are
// of. Where none is negative, 0 is a bound for those as well: rounding keeps signs.
func rounding(d *multicut.Dense) float64 {
	sum, least := 0.0, float32(0)
	for _, c := range d.Cost {
		sum += math.Abs(float64(c))
		least = min(least, c)
	}
	if least == 0 {
		return 0
	}
	return sum / 2 * 0x1p-24
}

// listed returns a complete graph as a list of edges.
func listed(d *multicut.Dense) (*multicut.Graph, error) {
	edges := make([]multicut.Edge, 0, d.N*(d.N-1)/2)
	d.Each(func(i, j int32, cost float64) { edges = append(edges, multicut.Edge{I: i, J: j, Cost: cost}) })
	return multicut.NewGraph(d.N, edges)
}
