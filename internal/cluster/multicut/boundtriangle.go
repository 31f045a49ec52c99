package multicut

import (
	"context"
	"fmt"
	"math"
	"math/bits"
)

// trianglePacking packs conflicted triangles, one repulsive edge and two attractive
// ones, into what |cost| edges have: each takes the same from its three edges, and a
// clustering pays at least that much for it over the sum of negative costs.
//
// Amounts are multiples of unit, rounded down, so that a packing never takes what is
// not there.
type trianglePacking struct {
	n, wide int
	unit    float64
	left    []int32 // (n, n) what is left of |cost|
	taken   int64

	// Bits (n, wide): edges of which something is left.
	positive []uint64 // attractive
	within   []uint64 // of these, inside the guide's clusters
	across   []uint64 // repulsive, between them
}

// triangleKind says which triangles of an edge are packed.
type triangleKind int

const (
	triangleAny    triangleKind = iota // of a repulsive edge: any
	triangleInside                     // of a repulsive edge inside a cluster: inside it
	triangleCross                      // of an attractive edge between clusters: with a node of either
)

// triangleShares are the parts of what an edge and a triangle still have that are taken
// in each round of guided packing: not all at once, or few edges starve many.
var triangleShares = []int32{2, 2, 2, 1}

// TriangleBound packs conflicted triangles (Lange, Karrenbauer and Andres 2018, cycles
// of length 3), in two ways of which the better counts. Greedily: each repulsive edge
// takes from the triangle that has most to give, until it or all its triangles are used
// up. And guided by a clustering, of Kernighan-Lin with joins: where that is optimal
// and the bound is tight, only triangles of which it cuts, or leaves uncut, one edge
// against its sign are in an optimal packing (complementary slackness); they come
// first.
//
// O(n^3/64) steps where few edges go against the clustering, O(n^3) at worst; 4 bytes
// an entry beside the costs.
//
// Errors: a done context.
func TriangleBound(ctx context.Context, d *Dense) (Bound, error) {
	const name = "triangle bound"
	guide, err := KernighanLin(ctx, d, nil, KLOptions{})
	if err != nil {
		return Bound{}, fmt.Errorf("%s: %w", name, err)
	}
	var sum CostSum
	d.Each(func(_, _ int32, c float64) { sum.Add(c) })
	packed, err := PackTriangles(ctx, d, guide.Labels)
	if err != nil {
		return Bound{}, fmt.Errorf("%s: %w", name, err)
	}
	return Bound{Value: sum.Raise(sum.Negative() + packed - sum.Margin()), Method: "triangle packing", Margin: sum.Margin()}, nil
}

// PackTriangles returns how much a packing of the graph's conflicted triangles takes.
func PackTriangles(ctx context.Context, c Costs, guide []int32) (float64, error) {
	p := newTrianglePacking(c)
	var most int64
	for _, shares := range [][]int32{nil, triangleShares} {
		p.reset(c, guide)
		for _, share := range shares {
			p.guided(ctx, c, guide, share)
		}
		p.greedy(ctx, c)
		most = max(most, p.taken)
	}
	return float64(most) * p.unit, ctx.Err()
}

func newTrianglePacking(c Costs) *trianglePacking {
	n := c.Nodes()
	wide := (n + 63) / 64
	p := &trianglePacking{n: n, wide: wide, left: make([]int32, n*n),
		positive: make([]uint64, n*wide), within: make([]uint64, n*wide), across: make([]uint64, n*wide)}
	most := 0.0
	c.Each(func(_, _ int32, cost float64) { most = max(most, math.Abs(cost)) })
	_, e := math.Frexp(most)
	p.unit = math.Ldexp(1, e-30)
	return p
}

// reset unpacks all.
func (p *trianglePacking) reset(c Costs, labels []int32) {
	p.taken = 0
	clear(p.left)
	clear(p.positive)
	clear(p.within)
	clear(p.across)
	c.Each(func(i, j int32, cost float64) {
		u, v := int(i), int(j)
		left := int32(math.Abs(cost) / p.unit)
		p.left[u*p.n+v], p.left[v*p.n+u] = left, left
		switch same := labels[u] == labels[v]; {
		case left == 0:
		case cost > 0:
			p.set(p.positive, u, v)
			if same {
				p.set(p.within, u, v)
			}
		case !same:
			p.set(p.across, u, v)
		}
	})
}

func (p *trianglePacking) set(bits []uint64, u, v int) {
	bits[u*p.wide+v>>6] |= 1 << (v & 63)
	bits[v*p.wide+u>>6] |= 1 << (u & 63)
}

// greedy packs any triangles that are left. It ends early where ctx is done.
func (p *trianglePacking) greedy(ctx context.Context, c Costs) {
	p.each(ctx, c, func(u, v int, cost float64) {
		if cost < 0 {
			p.fill(u, v, triangleAny, 1)
		}
	})
}

// guided packs triangles of which one edge goes against its sign. It ends early where
// ctx is done.
func (p *trianglePacking) guided(ctx context.Context, c Costs, labels []int32, share int32) {
	p.each(ctx, c, func(u, v int, cost float64) {
		switch same := labels[u] == labels[v]; {
		case cost < 0 && same:
			p.fill(u, v, triangleInside, share)
		case cost > 0 && !same:
			p.fill(u, v, triangleCross, share)
		}
	})
}

func (p *trianglePacking) each(ctx context.Context, c Costs, f func(u, v int, cost float64)) {
	count, done := 0, false
	c.Each(func(i, j int32, cost float64) {
		if count++; count&15 == 0 && !done {
			done = ctx.Err() != nil
		}
		if !done {
			f(int(i), int(j), cost)
		}
	})
}

// fill packs triangles of the edge uv, those that have most to give first, until one
// share-th of what it has left is used up.
func (p *trianglePacking) fill(u, v int, kind triangleKind, share int32) {
	left := p.left[u*p.n+v]
	for quota := left/share + min(1, left%share); quota > 0; {
		w, m := p.best(u, v, kind)
		if m == 0 {
			return
		}
		m = min(quota, max(1, m/share))
		quota -= m
		p.take(u, v, m)
		p.take(u, w, m)
		p.take(v, w, m)
		p.taken += int64(m)
	}
}

// best returns the third node of the triangle of uv that has most to give, and how
// much the triangle's other edges have; 0 where there is none.
func (p *trianglePacking) best(u, v int, kind triangleKind) (node int, most int32) {
	rowU, rowV := p.left[u*p.n:][:p.n], p.left[v*p.n:][:p.n]
	try := func(k int, nodes uint64) {
		for ; nodes != 0; nodes &= nodes - 1 {
			w := k<<6 + bits.TrailingZeros64(nodes)
			if m := min(rowU[w], rowV[w]); m > most {
				node, most = w, m
			}
		}
	}
	a, b := u*p.wide, v*p.wide
	switch kind {
	case triangleAny:
		for k := range p.wide {
			try(k, p.positive[a+k]&p.positive[b+k])
		}
	case triangleInside:
		for k := range p.wide {
			try(k, p.within[a+k]&p.within[b+k])
		}
	case triangleCross:
		for k := range p.wide {
			try(k, p.within[a+k]&p.across[b+k]|p.across[a+k]&p.within[b+k])
		}
	}
	return node, most
}

// take takes m from the edge uv.
func (p *trianglePacking) take(u, v int, m int32) {
	r := p.left[u*p.n+v] - m
	p.left[u*p.n+v], p.left[v*p.n+u] = r, r
	if r > 0 {
		return
	}
	a, b := u*p.wide+v>>6, v*p.wide+u>>6
	forV, forU := uint64(1)<<(v&63), uint64(1)<<(u&63)
	for _, set := range [...][]uint64{p.positive, p.within, p.across} {
		set[a] &^= forV
		set[b] &^= forU
	}
}
