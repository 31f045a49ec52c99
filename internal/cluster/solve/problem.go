package solve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tercet/internal/cluster/link"
	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/multicut/exact"
	"tercet/internal/cluster/multicut/factored"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/vectors"
)

// Problem is a minimum cost multicut: a graph with costs, in the forms that solvers
// and bounds ask for.
type Problem struct {
	o        *record.MulticutOptions
	seed     uint64
	say      progress.Say
	costs    multicut.Costs  // by which every clustering is evaluated: those of the solver
	factored *factored.Graph // complete graph whose costs factorize
	graph    *multicut.Graph // sparse
	dense    *multicut.Dense // complete, once it has been made
	matrix   func(ctx context.Context) (*multicut.Dense, error)
	complete *factored.Graph // of a sparse graph, where the link factorizes
	record   record.GraphRecord
}

// defaultMatrix is the most memory for a matrix of costs: 23,170 items.
const defaultMatrix = 2 << 30

// newProblem makes the graph of the items of v under the costs of l.
func newProblem(ctx context.Context, v data.Embeddings, l link.Link, o *record.MulticutOptions, seed uint64, say progress.Say) (*Problem, error) {
	p := &Problem{o: o, seed: seed, say: say}
	pairs := int64(v.N) * int64(v.N-1) / 2
	tau, scale, factors, why := l.Factors()
	var f *factored.Graph
	if factors {
		var err error
		if f, err = factored.New(v.X, v.N, v.D, tau, scale); err != nil {
			return nil, err
		}
	}
	if o.Neighbors > 0 || o.Random > 0 || o.Lists != "" {
		say("nearest neighbors", 0, 1)
		g, err := sparse(ctx, v, l, o, seed)
		if err != nil {
			return nil, err
		}
		say("nearest neighbors", 1, 1)
		p.graph, p.costs, p.complete = g, g, f
		p.record = record.GraphRecord{Kind: "sparse", Nodes: v.N, Edges: int64(g.Edges()), Absent: pairs - int64(g.Edges())}
		return p, nil
	}
	p.record = record.GraphRecord{Kind: "complete", Nodes: v.N, Edges: pairs}
	p.matrix = func(ctx context.Context) (*multicut.Dense, error) {
		limit, bytes := o.Matrix, 4*int64(v.N)*int64(v.N)
		if limit == 0 {
			limit = defaultMatrix
		}
		if bytes > limit {
			return nil, option.Errorf("the costs of all pairs of %d items take %.1f GiB, over %s (%.1f): use %s factored, which needs no matrix, a sparse graph (%s 50 %s 50), or raise the limit", v.N, gib(bytes), option.Name("matrix-limit"), gib(limit), option.Name("solver"), option.Name("graph-neighbors"), option.Name("graph-random"))
		}
		p.record.Bytes = bytes
		if p.solver() == "factored" { // as exact as its own costs
			return p.factored.Dense(bytes)
		}
		say("costs of all pairs", 0, 1)
		cost, err := link.Costs(ctx, l, v.X, v.N, v.D)
		if err != nil {
			return nil, err
		}
		say("costs of all pairs", 1, 1)
		return &multicut.Dense{N: v.N, Cost: cost}, nil
	}
	if p.factored = f; f != nil {
		p.costs = f
		return p, nil
	}
	if o.Solver == "factored" {
		return nil, option.Errorf("the costs do not factorize: %s; or use %s kl", why, option.Name("solver"))
	}
	d, err := p.pairwise(ctx)
	p.costs = d
	return p, err
}

// sparse makes the sparse graph of the items: of lists that another program has found, or
// of neighbors that are searched for.
func sparse(ctx context.Context, v data.Embeddings, l link.Link, o *record.MulticutOptions, seed uint64) (*multicut.Graph, error) {
	if o.Lists == "" {
		if err := checkSparse(o, v.N); err != nil {
			return nil, err
		}
		return multicut.Nearest(ctx, v.X, v.N, v.D, o.Neighbors, o.Random, seed, l.Cost)
	}
	lists, err := vectors.ReadNeighbors(o.Lists, v.N)
	if err != nil {
		return nil, err
	}
	if lists.N != v.N {
		return nil, fault.Unfit("%s has lists of %d items, and there are %d", o.Lists, lists.N, v.N)
	}
	return multicut.Listed(v.X, v.N, v.D, lists.K, lists.Index, o.Random, seed, l.Cost)
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }

// fewPairs is the number of items up to which a graph with most of the pairs may count
// as sparse.
const fewPairs = 100

// checkSparse refuses graphs of n items that hold most pairs: all of them are no more work.
func checkSparse(o *record.MulticutOptions, n int) error {
	if others := n - 1; others > 1 && o.Neighbors >= others || n > fewPairs && o.Neighbors+o.Random > others/2 {
		return option.Errorf("%s %d and %s %d of %d other items: the graph would not be sparse; give fewer, at most half of them together, or leave both out to take all pairs", option.Name("graph-neighbors"), o.Neighbors, option.Name("graph-random"), o.Random, others)
	}
	return nil
}

// FromGraph is the problem of a graph that was read.
func FromGraph(g *multicut.Graph, r *multicut.ReadReport, o *record.MulticutOptions, seed uint64, say progress.Say) *Problem {
	return &Problem{o: o, seed: seed, say: say, costs: g, graph: g, record: record.GraphRecord{
		Kind: "file", Nodes: r.Nodes, Edges: int64(r.Edges), Absent: r.Absent, Duplicates: r.Duplicates, Zeros: r.Zeros, Isolated: r.Isolated, Components: r.Components,
	}}
}

// pairwise returns the complete graph with its matrix, made once.
func (p *Problem) pairwise(ctx context.Context) (*multicut.Dense, error) {
	if p.dense != nil {
		return p.dense, nil
	}
	d, err := p.matrix(ctx)
	if err != nil {
		return nil, err
	}
	p.dense = d
	return d, nil
}

// edges is the graph for solvers that walk along edges.
func (p *Problem) edges(ctx context.Context) (multicut.Costs, error) {
	if p.graph != nil {
		return p.graph, nil
	}
	return p.pairwise(ctx)
}

// solver resolves "auto": the factored solver where it can, otherwise kl.
func (p *Problem) solver() string {
	switch {
	case p.o.Solver != "auto":
		return p.o.Solver
	case p.factored != nil:
		return "factored"
	}
	return "kl"
}

// solve runs the solver. bound is not nil where it gave one.
func (p *Problem) solve(ctx context.Context) (res *multicut.Result, bound *multicut.Bound, rec record.SolverRecord, err error) {
	name, start := p.solver(), time.Now()
	switch {
	case name == "factored" && p.factored == nil:
		return nil, nil, rec, option.Errorf("%s factored is for the complete graph of points; for this one take one of: %v", option.Name("solver"), slices.DeleteFunc(Solvers(), func(s string) bool { return s == "factored" }))
	case name == "factored":
		res, err = p.factored.Solve(ctx, factored.Options{
			Starts: p.o.Starts, MinSize: p.o.MinSize, Rounds: p.o.Rounds, Kicks: p.o.Restarts, Seed: p.seed,
			Progress: func(from string, round int) { p.say("multicut from "+from, round, 0) },
		})
		if err == nil && res.Proven {
			bound = &multicut.Bound{Value: res.Objective, Method: "trivial"}
		}
	default:
		res, bound, err = p.walk(ctx, name)
	}
	if err != nil {
		return nil, nil, rec, err
	}
	return res, bound, record.SolverRecord{Name: name, Rounds: res.Rounds, Proven: res.Proven, Seconds: time.Since(start).Seconds()}, nil
}

// walk runs a solver that walks along edges.
func (p *Problem) walk(ctx context.Context, name string) (*multicut.Result, *multicut.Bound, error) {
	g, err := p.edges(ctx)
	if err != nil {
		return nil, nil, err
	}
	p.costs = g
	p.say("multicut: "+name, 0, 0)
	var res *multicut.Result
	switch name {
	case "gaec":
		res, err = multicut.GAEC(ctx, g)
	case "balanced":
		res, err = multicut.BalancedGAEC(ctx, g)
	case "fixation":
		res, err = multicut.GreedyFixation(ctx, g)
	case "mutex":
		res, err = multicut.MutexWatershed(ctx, g)
	case "kl":
		res, err = multicut.KernighanLin(ctx, g, nil, multicut.KLOptions{
			Outer: p.o.Rounds, Restarts: max(0, p.o.Restarts), Seed: p.seed, Progress: func(round int, _ float64) { p.say("multicut: kl", round, 0) },
		})
	case "exact":
		res, b, err := exact.Solve(ctx, g, exact.Options{Progress: func(lower, upper float64, nodes int64) {
			p.say(fmt.Sprintf("multicut: exact\tbest %.6g, bound %.6g, gap %.2g %%", upper, lower, 100*multicut.Gap(upper, lower)), int(nodes), 0)
		}})
		if res != nil && ctx.Err() != nil {
			err = nil
			res.Warnings = append(res.Warnings, "the exact solver was interrupted: these are the best clusters that it had found")
		}
		return res, &b, err
	default:
		return nil, nil, fmt.Errorf("unknown solver %q", name)
	}
	return res, nil, err
}
