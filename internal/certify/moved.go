package certify

import (
	"context"
	"math"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// Moved says for which queries, as they are, the nearest row stays right where images of the
// gallery move by at most eps in each pixel: one of the attacker's choice, or all. Rows are
// all of g; net is the network's bounds.
//
// With d the distance of a row as it is and [l, h] what it can become, all may move where the
// least h of the right rows is below the least l of the wrong ones. One may where no wrong
// row's l is below the least d of the right ones, and the nearest right row does not pass
// the nearest wrong one, or another right row is before it.
func Moved(ctx context.Context, net *bound.Net, images attack.Source, g *retrieval.Gallery, queries []int, eps float64, say progress.Count) (one, all []bool, err error) {
	m := &moving{g: g, net: net, each: make([]surroundings, len(queries))}
	for i, q := range queries {
		m.each[i] = newSurroundings(q, g.Label(q), g)
	}
	h, w, c := images.Shape()
	size := net.Batch()
	for lo := 0; lo < g.Len(); lo += size {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		hi := min(lo+size, g.Len())
		x, budgets := array.New(hi-lo, h, w, c), make([]float64, hi-lo)
		for j := range budgets {
			image := int(g.Image(int32(lo + j)))
			if err := images.Read(image, x.Row(j)); err != nil {
				return nil, nil, err
			}
			if eps > 0 {
				budgets[j] = worst.Allowed(adversary.Linf, eps, h*w*c)
			}
		}
		m.first, m.box = lo, net.Embeddings(net.Features(x, budgets))
		par.Do(len(queries), 1, m)
		say.Tell(hi, g.Len())
	}
	for i := range m.each {
		s := &m.each[i]
		one, all = append(one, s.one()), append(all, s.highRight < s.lowWrong)
	}
	return one, all, nil
}

// moving is a pass over rows of the gallery from first on, whose embeddings before they are
// normalized are in box.
type moving struct {
	g     *retrieval.Gallery
	net   *bound.Net
	each  []surroundings
	first int
	box   *bound.Box
}

// surroundings are the rows around a query: distances as they are, and the ends of what they
// can become.
type surroundings struct {
	label               int32
	z                   []float32
	length              float64 // of z
	right, second       float64 // the two nearest right rows
	wrong               float64 // the nearest wrong row
	highFirst           float64 // farthest that the nearest right row gets
	highRight, lowWrong float64 // nearest right row at its farthest; nearest wrong one at its nearest
	hidden              map[int32]bool
}

func newSurroundings(item int, label int32, g *retrieval.Gallery) surroundings {
	inf := math.Inf(1)
	s := surroundings{label: label, z: g.Embedding(item), right: inf, second: inf, wrong: inf, highFirst: inf, highRight: inf, lowWrong: inf, hidden: map[int32]bool{}}
	s.length = math.Sqrt(kernel.SumSquares(s.z))
	for _, j := range g.Hidden(item) {
		s.hidden[j] = true
	}
	return s
}

// one is whether no single row decides.
func (s *surroundings) one() bool {
	return s.right < s.lowWrong && (s.second < s.wrong || s.highFirst < s.wrong)
}

// Run takes the rows of the box for queries [lo, hi).
func (m *moving) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		s := &m.each[i]
		for j := range m.box.C.Rows() {
			row := int32(m.first + j)
			if s.hidden[row] {
				continue
			}
			d := math.Sqrt(kernel.SquaredDistanceLanes(s.z, m.g.X.Row(int(row))))
			low, high := m.reach(s, j)
			if m.g.Labels[row] != s.label {
				s.wrong, s.lowWrong = min(s.wrong, d), min(s.lowWrong, low)
				continue
			}
			s.highRight = min(s.highRight, high)
			if d < s.right {
				s.right, s.second, s.highFirst = d, s.right, high
			} else {
				s.second = min(s.second, d)
			}
		}
	}
}

// reach bounds the distance of row j of the box from a query, rounding included. Where
// embeddings have length 1 it is that of u/|u|, which is at most 2 |u - c| / (|u| + |c|) away
// from c/|c|, with c the middle of the box (Dunkl & Williams, 1964).
func (m *moving) reach(s *surroundings, j int) (low, high float64) {
	c, r := m.box.C.Row(j), m.box.R.Row(j)
	const lost = 0x1p-40 // of the float64 sums here
	if !m.net.Normalized {
		near, far := 0.0, 0.0
		for k, v := range c {
			d, w := math.Abs(float64(v)-float64(s.z[k])), float64(r[k])
			near += float64(max(0, d-w) * max(0, d-w))
			far += float64((d + w) * (d + w))
		}
		return math.Sqrt(near) * (1 - lost), math.Sqrt(far) * (1 + lost)
	}
	length, wide := math.Sqrt(kernel.SumSquares(c)), float64(math.Sqrt(kernel.SumSquares(r))*(1+lost))
	if length <= wide {
		return 0, 1 + s.length + rounded // u may be anywhere
	}
	square := 0.0
	for k, v := range c {
		d := float64(v)/length - float64(s.z[k])
		square += float64(d * d)
	}
	middle, way := math.Sqrt(square), float64(float64(2*wide)/(float64(2*length)-wide)*(1+lost))+lost
	return max(0, middle-way-rounded), middle + way + rounded
}

// rounded is above what float32 loses of an embedding of length 1: each coordinate of u/|u| is
// rounded at most four times.
const rounded = 16 * unit
