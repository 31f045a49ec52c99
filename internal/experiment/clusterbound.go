package experiment

import (
	"context"
	"math"
	"time"

	"tercet/internal/cluster/multicut"
)

// Sizes up to which a bound is found without being asked for.
const (
	autoTriangle = 3_000     // nodes of a complete graph
	autoCycle    = 1_000_000 // edges of a sparse one
	autoTrivial  = 50_000    // nodes of a complete one: all pairs are looked at
)

// listedNodes is the size up to which a complete graph is made into a list of edges.
const listedNodes = 2_000

// bound returns a lower bound on the objective of every clustering, nil for none.
// The solver's own one serves where it has one and none is asked for by name.
func (p *problem) bound(ctx context.Context, own *multicut.Bound) (*multicut.Bound, *BoundRecord, error) {
	start, method := time.Now(), p.o.Bound
	if method == "auto" {
		if own != nil {
			return own, &BoundRecord{Method: own.Method}, nil
		}
		method = p.autoBound()
	}
	if method == "none" {
		return nil, nil, nil
	}
	p.say("lower bound", 0, 1)
	b, err := p.boundBy(ctx, method)
	if err != nil {
		return nil, nil, err
	}
	p.say("lower bound", 1, 1)
	if own != nil && own.Value > b.Value {
		b = *own
	}
	return &b, &BoundRecord{Method: b.Method, Seconds: time.Since(start).Seconds()}, nil
}

func (p *problem) autoBound() string {
	n := p.record.Nodes
	switch {
	case p.graph != nil && p.record.Edges <= autoCycle:
		return "cycle"
	case p.graph != nil:
		return "trivial"
	case n <= autoTriangle:
		return "triangle"
	case n <= autoTrivial:
		return "trivial"
	}
	return "none"
}

func (p *problem) boundBy(ctx context.Context, method string) (multicut.Bound, error) {
	switch f, factored := p.costs.(*multicut.Factored); {
	case method == "trivial" && factored:
		v, err := f.TrivialBound(ctx)
		return multicut.Bound{Value: v, Method: method}, err
	case method == "trivial":
		return multicut.TrivialBound(p.costs), nil
	case p.graph != nil && method == "cycle":
		return multicut.CycleBound(ctx, p.graph, multicut.CycleOptions{})
	case p.graph != nil:
		return multicut.Bound{}, optionf("--bound triangle is for complete graphs; this one is sparse: take --bound cycle")
	case method == "cycle" && p.record.Nodes > listedNodes:
		return multicut.Bound{}, optionf("--bound cycle is for sparse graphs, and complete ones of at most %d items; here are %d: take --bound triangle", listedNodes, p.record.Nodes)
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
			b, err = multicut.CycleBound(ctx, g, multicut.CycleOptions{})
		}
	}
	if p.costs != multicut.Costs(d) {
		b.Value -= rounding(d)
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
