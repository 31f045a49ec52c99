package factored

import (
	"math"
	"slices"

	"tercet/internal/engine/kernel"
)

// chain looks for a series of moves between two clusters that gains though
// its first moves may lose, as Kernighan and Lin (1970) do: it moves the node that
// gains most or loses least, whatever the sign, each node once, and keeps the best
// beginning of the series. The second cluster may be an empty one.
//
// Only some nodes take part, and a series ends when it has not come to a new best
// for some time: one costs O(m d) for each move instead of O((|A|+|B|) d).
type chain struct {
	nodes []int32
	side  []bool    // whether each is in the second cluster
	gain  []float64 // of moving each node now
	g     []float64 // (d)
	g32   []float32 // (d)
	list  []int32   // the nodes of the series, in order
}

// patience is how many moves without a new best end a series.
const patience = 32

// take adds those of nodes that are in clusters a or b.
func (c *chain) take(s *state, nodes []int32, a, b int32) {
	for _, v := range nodes {
		if l := s.labels[v]; l == a || l == b {
			c.nodes, c.side = append(c.nodes, v), append(c.side, l == b)
		}
	}
}

// between looks for a series between clusters a and b, or a and a new one where b is
// -1, of the nodes taken, of which no two cost more than most. It returns what the
// best series gains, 0 for none; its nodes are in list.
func (c *chain) between(s *state, a, b int32, most float64) float64 {
	f := s.f
	c.g, c.g32 = sized(c.g, f.d), sized(c.g32, f.d)
	nA, nB := s.size[a], 0
	h := -s.square[a]
	for j, v := range s.of(a) {
		c.g[j] = -2 * v
	}
	if b >= 0 {
		nB = s.size[b]
		h += s.square[b]
		for j, v := range s.of(b) {
			c.g[j] += 2 * v
		}
	}
	for j, v := range c.g {
		c.g32[j] = float32(v)
	}
	set := func(dot func(row []float32) float64) {
		c.gain = c.gain[:0]
		for i, v := range c.nodes {
			g := float64(float64(nB-nA)*(f.t-f.square[v])) - h + dot(f.row(v))
			if c.side[i] {
				g = -g
			}
			c.gain = append(c.gain, g+f.t)
		}
	}
	set(func(row []float32) float64 { return float64(kernel.Dot32(row, c.g32)) })
	slices.Sort(c.gain)
	slices.Reverse(c.gain)
	if !hope(c.gain, most) {
		c.list = c.list[:0]
		return 0
	}
	set(func(row []float32) float64 { return dot(row, c.g) })
	return c.run(f, nA, nB, most)
}

// hope reports whether a series of moves could gain, if the moves alone gain
// what is given, in descending order, and each raises what a later one gains by at
// most twice most, the largest cost between two nodes. That holds for moves to one
// side. Of two nodes far apart that change places the second may gain more: that is
// not reckoned with, and such a series may be missed.
func hope(gains []float64, most float64) bool {
	sum := 0.0
	for i, g := range gains[:min(len(gains), patience)] {
		if sum += g + float64(2*float64(i)*most); sum > 0 {
			return true
		}
	}
	return false
}

// run makes the series, of two clusters of nA and nB nodes.
func (c *chain) run(f *Graph, nA, nB int, most float64) float64 {
	c.list = c.list[:0]
	sum, best, keep := 0.0, 0.0, 0
	at := 0
	for i, g := range c.gain {
		if g > c.gain[at] {
			at = i
		}
	}
	for len(c.list) < len(c.nodes) && len(c.list) < keep+patience {
		// As in hope, with the best of the moves in place of all.
		left := float64(min(len(c.nodes), keep+patience) - len(c.list))
		if sum+float64(left*(c.gain[at]+float64((left-1)*most))) <= best {
			break
		}
		v, second := c.nodes[at], c.side[at]
		c.list = append(c.list, v)
		if second {
			nA, nB = nA+1, nB-1
		} else {
			nA, nB = nA-1, nB+1
		}
		sum += c.gain[at]
		if sum > best && nA > 0 {
			best, keep = sum, len(c.list)
		}
		c.gain[at] = math.Inf(-1) // moved
		row := f.row(v)
		for i, u := range c.nodes {
			if math.IsInf(c.gain[i], -1) {
				continue
			}
			w := 2 * (f.t - kernel.SquaredDistance(row, f.row(u)))
			if c.side[i] != second {
				w = -w
			}
			if c.gain[i] += w; c.gain[i] > c.gain[at] {
				at = i
			}
		}
	}
	c.list = c.list[:keep]
	return best
}
