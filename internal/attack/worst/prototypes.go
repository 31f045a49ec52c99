package worst

import (
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// prototypes is the field of one row for each label, in ascending order of labels: the mean
// of the label's rows, of length 1 where all rows are. The mean of a query's label leaves
// out the rows that the query is not compared with.
type prototypes struct {
	g     *retrieval.Gallery
	unit  bool
	class map[int32]int
	sums  [][]float64
	size  []int
	mean  *array.Array // (labels, D)

	deep  int          // a query is broken if none of so many nearest rows is right
	of    []int        // (B) label of each query, by its place
	own   *array.Array // (B, D) prototype of that label as the query meets it
	z     *array.Array
	k     int
	found [2][][]retrieval.Neighbor
}

// unitRow is how far from 1 the squared length of a row of length 1 may be.
const unitRow = 1e-3

func newPrototypes(g *retrieval.Gallery, k int) *prototypes {
	labels := slices.Clone(g.Labels)
	slices.Sort(labels)
	labels = slices.Compact(labels)
	p := &prototypes{g: g, deep: k, unit: true, class: map[int32]int{}, sums: make([][]float64, len(labels)), size: make([]int, len(labels))}
	for c, l := range labels {
		p.class[l], p.sums[c] = c, make([]float64, g.X.Cols())
	}
	for j, l := range g.Labels {
		c := p.class[l]
		p.size[c]++
		for k, v := range g.X.Row(j) {
			p.sums[c][k] += float64(v)
		}
		p.unit = p.unit && math.Abs(kernel.SumSquares(g.X.Row(j))-1) < unitRow
	}
	p.mean = array.New(len(labels), g.X.Cols())
	for c := range labels {
		p.write(p.sums[c], p.size[c], p.mean.Row(c))
	}
	return p
}

// write makes a prototype of a sum of n rows.
func (p *prototypes) write(sum []float64, n int, out []float32) {
	length := float64(n)
	if p.unit {
		square := 0.0
		for _, v := range sum {
			square += float64(v * v)
		}
		length = math.Sqrt(square)
	}
	for k, v := range sum {
		out[k] = 0
		if length > 0 {
			out[k] = float32(v / length)
		}
	}
}

func (p *prototypes) aim(items []int) {
	p.of = p.of[:0]
	if p.own == nil {
		p.own = array.New(len(items), p.g.X.Cols())
	}
	p.own.SetRows(len(items))
	sum := make([]float64, p.g.X.Cols())
	for i, q := range items {
		c := p.class[p.g.Label(q)]
		n := p.size[c]
		copy(sum, p.sums[c])
		for _, j := range p.g.Hidden(q) {
			if p.g.Labels[j] != p.g.Label(q) {
				continue
			}
			n--
			for k, v := range p.g.X.Row(int(j)) {
				sum[k] -= float64(v)
			}
		}
		p.of = append(p.of, c)
		p.write(sum, n, p.own.Row(i))
	}
}

func (p *prototypes) retain(rows []int) {
	for to, from := range rows {
		p.of[to] = p.of[from]
		copy(p.own.Row(to), p.own.Row(from))
	}
	p.of = p.of[:len(rows)]
	p.own.SetRows(len(rows))
}

func (p *prototypes) find(z *array.Array, k int) {
	for len(p.found[0]) < z.Rows() {
		p.found[0], p.found[1] = append(p.found[0], nil), append(p.found[1], nil)
	}
	p.z, p.k = z, k
	par.Do(z.Rows(), 1, p)
}

// Run searches for queries [lo, hi).
func (p *prototypes) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		right, wrong := p.found[0][i][:0], p.found[1][i][:0]
		for c := range p.size {
			n := p.to(i, p.z.Row(i), int32(c))
			switch {
			case n.Square != n.Square:
			case c == p.of[i]:
				right = append(right, n)
			default:
				wrong = append(wrong, n)
			}
		}
		slices.SortFunc(wrong, retrieval.Neighbor.Compare)
		p.found[0][i], p.found[1][i] = right, wrong[:min(p.k, len(wrong))]
	}
}

func (p *prototypes) right(i int) []retrieval.Neighbor { return p.found[0][i] }
func (p *prototypes) wrong(i int) []retrieval.Neighbor { return p.found[1][i] }
func (p *prototypes) rows() int                        { return len(p.size) }
func (p *prototypes) labels() int                      { return len(p.size) }
func (p *prototypes) depth() int                       { return p.deep }
func (p *prototypes) against() int                     { return len(p.size) - 1 }

// label of a prototype is its place: each has one of its own.
func (p *prototypes) label(row int32) int32 { return row }

func (p *prototypes) labeled(i int, z []float32, label int32) (retrieval.Neighbor, bool) {
	return p.to(i, z, label), true
}

func (p *prototypes) ahead(i int, z []float32, before retrieval.Neighbor) int {
	if p.to(i, z, int32(p.of[i])).Compare(before) < 0 {
		return 1
	}
	return 0
}

// to is a prototype as query i at z meets it.
func (p *prototypes) to(i int, z []float32, row int32) retrieval.Neighbor {
	return retrieval.Neighbor{Row: row, Square: kernel.SquaredDistanceLanes(z, p.vector(i, row))}
}

func (p *prototypes) vector(i int, row int32) []float32 {
	if int(row) == p.of[i] {
		return p.own.Row(i)
	}
	return p.mean.Row(int(row))
}

// cells orders the prototypes of other labels by the distance of z0 from the plane between
// each and the right one.
func (p *prototypes) cells(i int, z0 []float32, count, _ int) []int32 {
	own := p.own.Row(i)
	square := kernel.SquaredDistanceLanes(z0, own)
	var list []retrieval.Neighbor
	for c := range p.size {
		if c == p.of[i] {
			continue
		}
		row := p.mean.Row(c)
		gap, apart := kernel.SquaredDistanceLanes(z0, row)-square, root(kernel.SquaredDistanceLanes(own, row))
		if gap = max(gap, 0); gap > 0 {
			gap /= 2 * apart
		}
		list = append(list, retrieval.Neighbor{Row: int32(c), Square: gap})
	}
	slices.SortFunc(list, retrieval.Neighbor.Compare)
	var out []int32
	for _, n := range list[:min(count, len(list))] {
		out = append(out, n.Row)
	}
	return out
}

func root(square float64) float64 { return math.Sqrt(square) }
