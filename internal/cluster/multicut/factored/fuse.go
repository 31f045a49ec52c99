package factored

import (
	"context"

	"tercet/internal/cluster/multicut"
)

// maxCells is the most intersections of two clusterings that are fused: their
// costs are a matrix.
const maxCells = 3000

// fuse returns a clustering at or below the better of two, made of the intersections
// of their clusters: Kernighan-Lin with joins, begun from better, on the complete
// graph of the intersections. It returns nil where they are too many, or where the
// two agree.
func (f *Graph) fuse(ctx context.Context, better, other []int32) ([]int32, error) {
	a, sizes := number(better)
	b, more := number(other)
	cells := make([]int32, f.n)
	seen := map[uint64]int32{}
	for i := range cells {
		key := uint64(a[i])<<32 | uint64(b[i])
		c, ok := seen[key]
		if !ok {
			if c = int32(len(seen)); c == maxCells {
				return nil, nil
			}
			seen[key] = c
		}
		cells[i] = c
	}
	m := len(seen)
	if m == len(sizes) && m == len(more) {
		return nil, nil
	}
	s := newState(f)
	s.set(cells)
	g := &multicut.Dense{N: m, Cost: make([]float32, m*m)}
	most := (f.t + float64(4*f.most)) * float64(f.n) * float64(f.n) // so that no cost is beyond float32
	for i := range m {
		for j := range i {
			c := float32(s.between(int32(i), int32(j)) / most)
			g.Cost[i*m+j], g.Cost[j*m+i] = c, c
		}
	}
	start := make([]int32, m)
	for i, c := range cells {
		start[c] = a[i]
	}
	r, err := multicut.KernighanLin(ctx, g, start, multicut.KLOptions{})
	if err != nil {
		return nil, err
	}
	for i, c := range cells {
		cells[i] = r.Labels[c]
	}
	return cells, nil
}
