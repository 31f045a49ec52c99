package link

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// pairs are pairs of points: their distances, similar ones (of one label) first.
type pairs struct {
	u       []float64 // d^2 or d
	similar int
	// Pairs that there are of each kind, drawn from or all taken.
	allSimilar, allOther float64
	sampled              bool
}

// classes are rows grouped by label.
type classes struct {
	rows  []int32 // by ascending label, rows of a label ascending
	start []int   // (k+1) into rows
	of    []int32 // class of each place in rows
}

func group(labels []int32) *classes {
	c := &classes{rows: make([]int32, len(labels)), of: make([]int32, len(labels))}
	for i := range c.rows {
		c.rows[i] = int32(i)
	}
	slices.SortStableFunc(c.rows, func(a, b int32) int { return cmp.Compare(labels[a], labels[b]) })
	for p, r := range c.rows {
		if p == 0 || labels[r] != labels[c.rows[p-1]] {
			c.start = append(c.start, p)
		}
		c.of[p] = int32(len(c.start) - 1)
	}
	c.start = append(c.start, len(labels))
	return c
}

func (c *classes) size(k int32) int { return c.start[k+1] - c.start[k] }

// choosePairs takes all similar pairs, or, where they are more than half of most,
// that many drawn at random with repetition; likewise of the other pairs.
func choosePairs(labels []int32, most int, seed uint64) (list [][2]int32, p *pairs, err error) {
	c := group(labels)
	n := float64(len(labels))
	p = &pairs{}
	for k := range len(c.start) - 1 {
		m := float64(c.size(int32(k)))
		p.allSimilar += float64(m * (m - 1) / 2)
	}
	p.allOther = float64(n*(n-1)/2) - p.allSimilar
	switch {
	case p.allSimilar == 0:
		return nil, nil, fmt.Errorf("%w: no two of the %d rows have the same label: a threshold is fitted to pairs of both kinds", ErrInput, len(labels))
	case p.allOther == 0:
		return nil, nil, fmt.Errorf("%w: all %d rows have the same label: a threshold is fitted to pairs of both kinds", ErrInput, len(labels))
	}
	r := rng.New(seed, "threshold-pairs")
	half := most / 2
	if p.allSimilar <= float64(half) {
		list = c.everySimilar(list)
	} else {
		p.sampled = true
		list = c.drawSimilar(list, half, r)
	}
	p.similar = len(list)
	if p.allOther <= float64(half) {
		list = c.everyOther(list)
	} else {
		p.sampled = true
		list = c.drawOther(list, half, r)
	}
	return list, p, nil
}

func (c *classes) everySimilar(list [][2]int32) [][2]int32 {
	for a := range c.rows {
		for b := a + 1; b < c.start[c.of[a]+1]; b++ {
			list = append(list, [2]int32{c.rows[a], c.rows[b]})
		}
	}
	return list
}

func (c *classes) everyOther(list [][2]int32) [][2]int32 {
	for a := range c.rows {
		for b := c.start[c.of[a]+1]; b < len(c.rows); b++ {
			list = append(list, [2]int32{c.rows[a], c.rows[b]})
		}
	}
	return list
}

// drawSimilar draws a row by the number of its partners, then a partner.
func (c *classes) drawSimilar(list [][2]int32, count int, r *rng.Stream) [][2]int32 {
	upTo := c.partners(func(size int) int { return size - 1 })
	for range count {
		a := draw(upTo, r)
		lo := c.start[c.of[a]]
		b := lo + r.IntN(c.size(c.of[a])-1)
		if b >= a {
			b++
		}
		list = append(list, [2]int32{c.rows[a], c.rows[b]})
	}
	return list
}

func (c *classes) drawOther(list [][2]int32, count int, r *rng.Stream) [][2]int32 {
	n := len(c.rows)
	upTo := c.partners(func(size int) int { return n - size })
	for range count {
		a := draw(upTo, r)
		b := r.IntN(n - c.size(c.of[a]))
		if b >= c.start[c.of[a]] {
			b += c.size(c.of[a])
		}
		list = append(list, [2]int32{c.rows[a], c.rows[b]})
	}
	return list
}

// partners returns the running sum over places of the number of partners, which
// depends on the size of a row's class.
func (c *classes) partners(of func(size int) int) []int64 {
	upTo := make([]int64, len(c.rows))
	var sum int64
	for p := range upTo {
		sum += int64(of(c.size(c.of[p])))
		upTo[p] = sum
	}
	return upTo
}

// draw returns a place with probability proportional to its partners.
func draw(upTo []int64, r *rng.Stream) int {
	v := r.Int64N(upTo[len(upTo)-1])
	at, _ := slices.BinarySearchFunc(upTo, v, func(sum, v int64) int {
		if sum <= v {
			return -1
		}
		return 1
	})
	return at
}

// measure fills in the distances.
func (p *pairs) measure(ctx context.Context, x []float32, d int, list [][2]int32, root bool) error {
	p.u = make([]float64, len(list))
	par.For(len(list), 4096, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		for i := lo; i < hi; i++ {
			a, b := int(list[i][0]), int(list[i][1])
			p.u[i] = kernel.SquaredDistance(x[a*d:(a+1)*d], x[b*d:(b+1)*d])
			if root {
				p.u[i] = math.Sqrt(p.u[i])
			}
		}
	})
	return ctx.Err()
}

// auc returns the probability that a similar pair is nearer than another one, half
// where they are equal. It sorts each kind.
func (p *pairs) auc() float64 {
	near, far := p.u[:p.similar], p.u[p.similar:]
	slices.Sort(near)
	slices.Sort(far)
	wins, below, same := 0.0, 0, 0 // near ones below, and equal to, the far one
	for _, v := range far {
		for below < len(near) && near[below] < v {
			below++
		}
		same = max(same, below)
		for same < len(near) && near[same] == v {
			same++
		}
		wins += float64(below) + float64(float64(same-below)/2)
	}
	return wins / float64(len(near)) / float64(len(far))
}
