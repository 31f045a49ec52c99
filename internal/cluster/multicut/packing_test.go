package multicut

import (
	"context"
	"math"
	"slices"
	"testing"

	"tercet/internal/rng"
)

// packed is a complete graph of these costs, and its edges.
func packed(t *testing.T, n int, cost func(i, j int) float64) (*Dense, []Edge) {
	d := &Dense{N: n, Cost: make([]float32, n*n)}
	var edges []Edge
	for i := range n {
		for j := range i {
			c := float32(cost(i, j))
			d.Cost[i*n+j], d.Cost[j*n+i] = c, c
			edges = append(edges, Edge{int32(j), int32(i), float64(c)})
		}
	}
	return d, edges
}

// What is packed is there: nothing is below 0, both halves agree, every repulsive edge
// has given its part of the whole.
func TestPackingsTakeWhatIsThere(t *testing.T) {
	const n = 70
	r := rng.New(1, "multicut/packing")
	d, edges := packed(t, n, func(i, j int) float64 { return 0.1 + r.NormFloat64() })
	p := newTrianglePacking(d)
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 3)
	}
	p.reset(d, labels)
	full := slices.Clone(p.left)
	for _, share := range []int32{3, 1} {
		p.guided(context.Background(), d, labels, share)
	}
	guided := p.taken
	p.greedy(context.Background(), d)
	if guided == 0 || p.taken == guided {
		t.Errorf("%d taken by guided packing, %d in all", guided, p.taken)
	}
	var negative, positive int64
	for i := range n {
		for j := range i {
			l, given := p.left[i*n+j], int64(full[i*n+j]-p.left[i*n+j])
			if l < 0 || l != p.left[j*n+i] || given < 0 {
				t.Fatalf("edge %d, %d has %d left of %d, the other way %d", i, j, l, full[i*n+j], p.left[j*n+i])
			}
			if d.Cost[i*n+j] < 0 {
				negative += given
			} else {
				positive += given
			}
		}
	}
	if negative != p.taken || positive != 2*p.taken || p.taken == 0 {
		t.Errorf("%d taken, %d of repulsive and %d of attractive edges", p.taken, negative, positive)
	}

	g, err := NewGraph(n, edges[:len(edges)/8])
	if err != nil {
		t.Fatal(err)
	}
	c := newCyclePacking(context.Background(), g, 1000)
	for u := range int32(n) {
		for e := g.start[u]; e < g.start[u+1]; e++ {
			if g.to[e] > u && g.cost[e] < 0 {
				c.fill(u, e, n)
			}
		}
	}
	negative = 0
	for u := range int32(n) {
		for e := g.start[u]; e < g.start[u+1]; e++ {
			if c.left[e] < 0 || c.left[e] != c.left[c.back[e]] || g.to[c.back[e]] != u {
				t.Fatalf("edge %d, %d has %d left, the other way %d", u, g.to[e], c.left[e], c.left[c.back[e]])
			}
			if given := int64(math.Abs(g.cost[e])/c.unit) - c.left[e]; given < 0 {
				t.Fatalf("edge %d, %d has gained %d", u, g.to[e], -given)
			} else if g.cost[e] < 0 && g.to[e] > u {
				negative += given
			}
		}
	}
	if negative != c.taken || c.taken == 0 {
		t.Errorf("%d taken, %d of repulsive edges", c.taken, negative)
	}
}

// Clusters that stand apart: the guided packing proves them, the greedy one does not.
func TestTriangleBoundProvesClusters(t *testing.T) {
	const n = 120
	r := rng.New(2, "multicut/triangle/clusters")
	d, _ := packed(t, n, func(i, j int) float64 {
		mean := -1.0
		if i%4 == j%4 {
			mean = 1
		}
		return mean + 0.8*r.NormFloat64()
	})
	b, err := TriangleBound(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 4)
	}
	objective := d.Objective(labels)
	if gap := Gap(objective, b.Value); b.Value > objective || gap > 1e-5 {
		t.Errorf("gap %.2g: %v of %v", gap, b.Value, objective)
	}
	p := newTrianglePacking(d)
	p.reset(d, labels)
	p.greedy(context.Background(), d)
	if alone := TrivialBound(d).Value + float64(p.taken)*p.unit; Gap(objective, alone) < 1e-4 {
		t.Errorf("greedy packing alone has %v of %v", alone, objective)
	}
}
