package gallery

import (
	"context"
	"math"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/vectors"
)

// exactLists finds the depth nearest items of each query, nearest first and equally near
// ones in the order of the gallery, with their distances. It holds blocks of queries and of
// the gallery, which take Memory with what the search makes of them.
func (in *input) exactLists(ctx context.Context, depth int, say progress.Say) (metric.Lists, []float64, error) {
	q := in.queries()
	out := nearest{depth, make([]int32, q.Len()*depth), make([]float64, q.Len()*depth)}
	for i := range out.index {
		out.index[i], out.distance[i] = -1, math.Inf(1)
	}
	quarter := int64(128 << 20)
	if in.o.Memory > 0 {
		quarter = in.o.Memory / 4
	}
	d := int64(q.Dim())
	rows := max(1, int(min(quarter/(4*d), quarter/int64(10*(depth+32)))))
	cols := max(1, int(quarter/(4*d)))
	for a := 0; a < q.Len(); a += rows {
		x := make([]float32, min(rows, q.Len()-a)*q.Dim())
		if err := in.rows(q, a, x); err != nil {
			return metric.Lists{}, nil, err
		}
		for c := 0; c < in.g.Len(); c += cols {
			g := x
			if in.q != nil || a != c || len(x) != min(cols, in.g.Len()-c)*q.Dim() {
				g = make([]float32, min(cols, in.g.Len()-c)*q.Dim())
				if err := in.rows(in.g, c, g); err != nil {
					return metric.Lists{}, nil, err
				}
			}
			if err := out.add(ctx, x, g, q.Dim(), a, c, in.q == nil); err != nil {
				return metric.Lists{}, nil, err
			}
			say("exact search", a+int(int64(len(x)/q.Dim())*int64(c+len(g)/q.Dim())/int64(in.g.Len())), q.Len())
		}
	}
	return metric.Lists{K: depth, Index: out.index}, out.distance, nil
}

// rows reads rows from first on; for cosine they get length 1.
func (in *input) rows(f *vectors.File, first int, x []float32) error {
	if err := f.Read(first, x); err != nil || in.o.Eval.Distance != metric.Cosine {
		return err
	}
	d := f.Dim()
	copy(x, data.Embeddings{X: x, N: len(x) / d, D: d}.Unit().X)
	for i := 0; i < len(x); i += d {
		zero := true
		for _, v := range x[i : i+d] {
			zero = zero && v == 0
		}
		if zero {
			return fault.Unfit("%s: row %d is zero and has no direction, which the cosine needs", f.Path(), first+i/d)
		}
	}
	return nil
}

// nearest are lists that grow by blocks of the gallery, in their order.
type nearest struct {
	depth    int
	index    []int32
	distance []float64
}

// add offers gallery rows g, from row c on, to queries x, from a on, of the same set if self
// is set.
func (n *nearest) add(ctx context.Context, x, g []float32, d, a, c int, self bool) error {
	k := n.depth
	if self {
		k++ // the query itself
	}
	o := metric.NeighborOptions{K: min(k, len(g)/d), Gallery: g}
	if &x[0] == &g[0] {
		o.Gallery, o.Self = nil, true // from half of the products
	}
	k = o.K
	t, err := metric.Neighbors(ctx, x, len(x)/d, d, o)
	if err != nil {
		return err
	}
	index, distance := make([]int32, n.depth), make([]float64, n.depth)
	for i := range len(x) / d {
		to := (a + i) * n.depth
		oldIndex, oldDistance := n.index[to:to+n.depth], n.distance[to:to+n.depth]
		old, j := 0, i*k
		for at := range index {
			if self && j < (i+1)*k && c+int(t.Index[j]) == a+i {
				j++
			}
			if j == (i+1)*k || oldDistance[old] <= t.Distance[j] {
				index[at], distance[at] = oldIndex[old], oldDistance[old]
				old++
			} else {
				index[at], distance[at] = int32(c)+t.Index[j], t.Distance[j]
				j++
			}
		}
		copy(oldIndex, index)
		copy(oldDistance, distance)
	}
	return nil
}
