package multicut

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tercet/internal/rng"
)

func TestGraphAddsDuplicatesAndSortsNeighbors(t *testing.T) {
	g, err := NewGraph(5, []Edge{{3, 1, 2}, {0, 1, -1}, {1, 3, 0.5}, {1, 2, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if g.Edges() != 3 || g.Duplicates() != 1 {
		t.Fatalf("%d edges, %d duplicates", g.Edges(), g.Duplicates())
	}
	to, cost := g.Neighbors(1)
	if !slices.Equal(to, []int32{0, 2, 3}) || !slices.Equal(cost, []float64{-1, 0, 2.5}) {
		t.Fatalf("neighbors of 1: %v %v", to, cost)
	}
	if to, _ := g.Neighbors(4); len(to) != 0 {
		t.Fatalf("node 4 has neighbors %v", to)
	}
	var seen []Edge
	g.Each(func(i, j int32, c float64) { seen = append(seen, Edge{i, j, c}) })
	if !slices.Equal(seen, []Edge{{0, 1, -1}, {1, 2, 0}, {1, 3, 2.5}}) {
		t.Fatalf("edges %v", seen)
	}
}

func TestGraphRefusesBadEdges(t *testing.T) {
	for _, e := range []Edge{{0, 3, 1}, {-1, 0, 1}, {1, 1, 1}, {0, 1, math.NaN()}, {0, 1, math.Inf(1)}} {
		if _, err := NewGraph(3, []Edge{e}); !errors.Is(err, ErrInput) {
			t.Errorf("%v: %v", e, err)
		}
	}
}

func TestDenseAndGraphAgree(t *testing.T) {
	r := rng.New(1, "costs")
	const n = 17
	cost := make([]float32, n*n)
	var edges []Edge
	for i := range n {
		for j := range i {
			c := float32(r.NormFloat64())
			cost[i*n+j], cost[j*n+i] = c, c
			edges = append(edges, Edge{int32(i), int32(j), float64(c)})
		}
	}
	d := &Dense{N: n, Cost: cost}
	g, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(r.IntN(4))
	}
	want := 0.0
	for _, e := range edges {
		if labels[e.I] != labels[e.J] {
			want += e.Cost
		}
	}
	for _, c := range []Costs{d, g} {
		if got := c.Objective(labels); math.Abs(got-want) > 1e-12 {
			t.Errorf("%T: %v, want %v", c, got, want)
		}
	}
}

func TestRenumber(t *testing.T) {
	labels := []int32{7, -2, -2, 9, 9, 7, 4, 9}
	sizes := Renumber(labels)
	if !slices.Equal(labels, []int32{1, 2, 2, 0, 0, 1, 3, 0}) || !slices.Equal(sizes, []int{3, 2, 2, 1}) {
		t.Fatalf("%v %v", labels, sizes)
	}
}
