package multicut

import (
	"cmp"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
)

// factoredChain looks for a series of moves between two clusters that gains though
// its first moves may lose, as Kernighan and Lin (1970) do: it moves the node that
// gains most or loses least, whatever the sign, each node once, and keeps the best
// beginning of the series. The second cluster may be an empty one.
//
// Only the nodes that gain most or lose least by themselves take part, and a series
// ends when it has not come to a new best for some time: that is where the series
// that gain are, and it costs O((|A|+|B|) d) instead of O((|A|+|B|)^2 d).
type factoredChain struct {
	nodes []int32
	gain  []float64 // of moving each node now
	side  []bool    // whether it was in the second cluster
	moved []bool
	heap  []factoredWeak
	g     []float64
	g32   []float32
	list  []int32 // the nodes of the series, in order
}

type factoredWeak struct {
	gain float64
	at   int32
}

const (
	factoredWeakest  = 128 // nodes of a pair that take part
	factoredPatience = 32  // moves without a new best that end a series
)

// between looks for a series between cluster a, whose nodes are inA, and b, or, where
// inB is empty, a new cluster. It returns what the best series gains, 0 for none; its
// nodes are in list.
func (c *factoredChain) between(s *factoredState, inA, inB []int32) float64 {
	f := s.f
	a := s.labels[inA[0]]
	n0, q0, sum0 := float64(s.size[a]), s.square[a], s.of(a)
	c.g, c.g32 = factoredRoom(c.g, f.d), factoredRoom(c.g32, f.d)
	e, h := -n0, -q0
	for j, v := range sum0 {
		c.g[j] = -2 * v
	}
	if len(inB) > 0 {
		b := s.labels[inB[0]]
		e, h = e+float64(s.size[b]), h+s.square[b]
		for j, v := range s.of(b) {
			c.g[j] += 2 * v
		}
	}
	for j, v := range c.g {
		c.g32[j] = float32(v)
	}
	c.weakest(f, inA, inB, e, h)
	c.nodes, c.gain, c.side, c.moved = c.nodes[:0], c.gain[:0], c.side[:0], c.moved[:0]
	for _, w := range c.heap {
		v, second := w.at, false
		if v >= int32(len(inA)) {
			v, second = inB[v-int32(len(inA))], true
		} else {
			v = inA[v]
		}
		g := e*(f.t-f.square[v]) - h + factoredDot(f.row(v), c.g)
		if second {
			g = -g
		}
		c.nodes, c.gain, c.side, c.moved = append(c.nodes, v), append(c.gain, g+f.t), append(c.side, second), append(c.moved, false)
	}
	return c.run(f, len(inA), len(inB))
}

// weakest fills the heap with the nodes that gain most by moving, by number.
func (c *factoredChain) weakest(f *Factored, inA, inB []int32, e, h float64) {
	c.heap = c.heap[:0]
	all := len(inA)+len(inB) <= factoredWeakest
	put := func(at int, v int32, sign float64) {
		w := factoredWeak{at: int32(at)}
		if !all {
			w.gain = sign * (e*(f.t-f.square[v]) - h + float64(kernel.Dot32(f.row(v), c.g32)))
			if len(c.heap) == factoredWeakest {
				if w.gain <= c.heap[0].gain {
					return
				}
				c.heap[0] = w
				factoredSink(c.heap)
				return
			}
		}
		c.heap = append(c.heap, w)
		if len(c.heap) == factoredWeakest && !all {
			slices.SortFunc(c.heap, func(a, b factoredWeak) int { return cmp.Compare(a.gain, b.gain) })
		}
	}
	for i, v := range inA {
		put(i, v, 1)
	}
	for i, v := range inB {
		put(len(inA)+i, v, -1)
	}
	slices.SortFunc(c.heap, func(a, b factoredWeak) int { return cmp.Compare(a.at, b.at) })
}

// factoredSink restores the order of a heap, least first, whose top is new.
func factoredSink(h []factoredWeak) {
	for i := 0; ; {
		l := 2*i + 1
		if l >= len(h) {
			return
		}
		if l+1 < len(h) && h[l+1].gain < h[l].gain {
			l++
		}
		if h[i].gain <= h[l].gain {
			return
		}
		h[i], h[l] = h[l], h[i]
		i = l
	}
}

// run makes the series.
func (c *factoredChain) run(f *Factored, nA, nB int) float64 {
	c.list = c.list[:0]
	sum, best, keep := 0.0, 0.0, 0
	for len(c.list) < len(c.nodes) && len(c.list) < keep+factoredPatience {
		at, most := -1, math.Inf(-1)
		for i, g := range c.gain {
			if !c.moved[i] && g > most {
				at, most = i, g
			}
		}
		// Each move raises the gain of another by at most 2t.
		if left := float64(min(len(c.nodes), keep+factoredPatience) - len(c.list)); sum+left*(most+(left-1)*f.t) <= best {
			break
		}
		v := c.nodes[at]
		c.moved[at] = true
		c.list = append(c.list, v)
		if c.side[at] {
			nA, nB = nA+1, nB-1
		} else {
			nA, nB = nA-1, nB+1
		}
		sum += most
		if sum > best && nA > 0 {
			best, keep = sum, len(c.list)
		}
		row := f.row(v)
		for i, u := range c.nodes {
			if c.moved[i] {
				continue
			}
			w := 2 * (f.t - kernel.SquaredDistance(row, f.row(u)))
			if c.side[i] == c.side[at] {
				c.gain[i] += w
			} else {
				c.gain[i] -= w
			}
		}
	}
	c.list = c.list[:keep]
	return best
}
