package multicut

import (
	"context"
	"fmt"
	"math"
)

// CycleOptions says which cycles CycleBound packs.
type CycleOptions struct {
	Length int   // edges of a cycle, at most [0: any]
	Work   int64 // edges that searches may look at in all, which do not depend on the machine [0: no limit]
}

const (
	cycleShort = 8       // lengths up to here are packed one by one, then doubled
	cycleReach = 20_000  // nodes that one search may see
	cycleLook  = 1 << 20 // edges between two looks at the context
)

// cyclePacking packs conflicted cycles, of one repulsive edge and a path of attractive
// ones, into what |cost| edges have. Amounts are multiples of unit, rounded down.
type cyclePacking struct {
	g     *Graph
	left  []int64 // (2m) what is left of |cost|, at both ends
	back  []int32 // (2m) the same edge's place at its other end
	unit  float64
	taken int64

	ctx         context.Context
	work, limit int64 // edges looked at; 0: no limit
	look        int64 // the work at which to look at ctx
	ended       bool  // by the limit or by ctx

	// Of a search: the arc by which each node was reached.
	arc   []int32
	from  []int32
	seen  []int32
	depth []int32
}

// CycleBound packs conflicted cycles greedily, short ones first (Lange, Karrenbauer
// and Andres 2018, iterative cycle packing): as long as a repulsive edge and a path of
// attractive edges between its ends have something left, the least of it is taken from
// all of them, and a clustering pays at least that much over the sum of negative costs.
// A search for a path gives up after 20,000 nodes. What was packed when Work ran out is
// a bound as well; Bound.Ended says so.
//
// Errors: a length below 0, 1 or 2; a negative limit; a done context.
func CycleBound(ctx context.Context, g *Graph, o CycleOptions) (Bound, error) {
	const name = "cycle bound"
	if o.Length < 0 || o.Length == 1 || o.Length == 2 {
		return Bound{}, fmt.Errorf("%s: %w: cycles of at most %d edges; the shortest have 3", name, ErrInput, o.Length)
	}
	if o.Work < 0 {
		return Bound{}, fmt.Errorf("%s: %w: a limit of %d edges: it must be non-negative", name, ErrInput, o.Work)
	}
	longest := o.Length
	if longest == 0 || longest > g.n {
		longest = g.n
	}
	var sum CostSum
	g.Each(func(_, _ int32, c float64) { sum.Add(c) })
	p := newCyclePacking(ctx, g, sum.Size)
	p.limit = o.Work
	for length := min(3, longest); ; {
		for u := range int32(g.n) {
			if u&255 == 0 && ctx.Err() != nil {
				p.ended = true
			}
			for e := g.start[u]; e < g.start[u+1] && !p.ended; e++ {
				if g.to[e] > u && g.cost[e] < 0 {
					p.fill(u, e, int32(length)-1)
				}
			}
		}
		switch {
		case ctx.Err() != nil:
			return Bound{}, fmt.Errorf("%s: %w", name, ctx.Err())
		case length >= longest || p.ended:
			value := sum.Negative() + float64(float64(p.taken)*p.unit) - sum.Margin()
			return Bound{Value: sum.Raise(value), Method: "cycle packing", Margin: sum.Margin(), Ended: p.ended}, nil
		case length < cycleShort:
			length++
		default:
			length = min(2*length, longest)
		}
	}
}

func newCyclePacking(ctx context.Context, g *Graph, size float64) *cyclePacking {
	p := &cyclePacking{ctx: ctx, g: g, left: make([]int64, len(g.to)), back: make([]int32, len(g.to)),
		arc: make([]int32, g.n), from: make([]int32, g.n), depth: make([]int32, g.n)}
	// All that there is fits an int64.
	_, e := math.Frexp(size)
	p.unit = math.Ldexp(1, e-60)
	next := p.from // not in use yet
	copy(next, g.start)
	for u := range int32(g.n) {
		p.arc[u] = -1
		for a := g.start[u]; a < g.start[u+1]; a++ {
			p.left[a] = int64(math.Abs(g.cost[a]) / p.unit)
			// Arcs into a node come by ascending origin, as its own arcs do.
			v := g.to[a]
			p.back[a] = next[v]
			next[v]++
		}
	}
	return p
}

// fill packs cycles of the repulsive arc e of u with paths of at most depth edges.
func (p *cyclePacking) fill(u, e, depth int32) {
	for p.left[e] > 0 {
		v := p.g.to[e]
		if !p.search(u, v, depth) {
			return
		}
		m := p.left[e]
		for w := v; w != u; w = p.from[w] {
			m = min(m, p.left[p.arc[w]])
		}
		p.take(e, m)
		for w := v; w != u; w = p.from[w] {
			p.take(p.arc[w], m)
		}
		p.taken += m
	}
}

func (p *cyclePacking) take(e int32, m int64) {
	p.left[e] -= m
	p.left[p.back[e]] = p.left[e]
}

// spent reports whether to end.
func (p *cyclePacking) spent() bool {
	p.look = p.work + cycleLook
	if p.limit > 0 {
		p.look = min(p.look, p.limit)
	}
	p.ended = p.ended || p.ctx.Err() != nil || p.limit > 0 && p.work >= p.limit
	return p.ended
}

// search finds a path of fewest attractive edges from u to v, at most depth of them.
func (p *cyclePacking) search(u, v int32, depth int32) bool {
	for _, w := range p.seen {
		p.arc[w] = -1
	}
	g := p.g
	p.seen = append(p.seen[:0], u)
	p.depth[u] = 0
	for next := 0; next < len(p.seen) && len(p.seen) < cycleReach; next++ {
		w := p.seen[next]
		if p.depth[w] == depth {
			return false
		}
		if p.work += int64(g.start[w+1] - g.start[w]); p.work >= p.look && p.spent() {
			return false
		}
		for a := g.start[w]; a < g.start[w+1]; a++ {
			x := g.to[a]
			if g.cost[a] <= 0 || p.left[a] == 0 || x == u || p.arc[x] >= 0 {
				continue
			}
			p.arc[x], p.from[x], p.depth[x] = a, w, p.depth[w]+1
			p.seen = append(p.seen, x)
			if x == v {
				return true
			}
		}
	}
	return false
}
