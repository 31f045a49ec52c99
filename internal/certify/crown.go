package certify

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
)

const (
	// mostOpen is how many rows of a query, left open by intervals, are bounded backward.
	mostOpen = 256
	// together is how many of them are at once. The nearest come first: where one of them
	// fails, the others are spared.
	together = 16
)

// crowned proves by bounds that go backward what intervals leave open.
type crowned struct {
	*rows
	back *bound.Crown
	a    *array.Array
}

// open is a wrong row with the mixture that comes closest to beating it by intervals.
type open struct{ row, mixture int }

// proves reports whether each wrong row is beaten, by the intervals at or backward from
// row j of the last boxes. It counts the functions that it bounds.
func (c *crowned) proves(q *query, v view, j int, at *reach, passes *int64) bool {
	list, few := c.open(q, v, at)
	if !few {
		return false
	}
	c.back.At(j)
	for len(list) > 0 {
		part := list[:min(together, len(list))]
		list = list[len(part):]
		for _, s := range []bound.Slope{bound.Zero, bound.Adaptive} {
			*passes += int64(len(part))
			if part = c.left(q, part, j, s, at); len(part) == 0 {
				break
			}
		}
		if len(part) > 0 {
			return false
		}
	}
	return true
}

// open lists the rows that intervals do not prove; few is false where there are too many.
func (c *crowned) open(q *query, v view, at *reach) (list []open, few bool) {
	q.vain = 0
	for i := q.proven; i < len(q.wrong); i++ {
		n := int(q.wrong[i])
		if v.beats(n) || c.beats(q, n, at) {
			continue
		}
		if len(list) == mostOpen {
			return nil, false
		}
		best, most := 0, math.Inf(-1)
		for k := range q.mixed {
			m := &q.mixed[k]
			if low := least(m.seen, c.seen.Row(n), at) + (m.offset - c.offset[n]) - c.needs(m.half-c.half[n], at); low > most {
				best, most = k, low
			}
		}
		list = append(list, open{n, best})
	}
	return list, true
}

// left returns those of list that a slope leaves open.
func (c *crowned) left(q *query, list []open, j int, s bound.Slope, at *reach) []open {
	k := c.seen.Cols()
	c.a = array.New(len(list), k)
	rounded := make([]float64, len(list))
	for i, o := range list {
		m, row, to := &q.mixed[o.mixture], c.seen.Row(o.row), c.a.Row(i)
		for f := range to {
			a := m.seen[f] - float64(row[f])
			to[f] = float32(a)
			rounded[i] += float64(math.Abs(a-float64(to[f])) * (math.Abs(at.c[f]) + at.r[f]))
		}
	}
	low := c.back.Lower(j, c.a, s)
	var out []open
	for i, o := range list {
		m := &q.mixed[o.mixture]
		if !(low[i]-float64(rounded[i]*(1+0x1p-40))+(m.offset-c.offset[o.row]) > c.needs(m.half-c.half[o.row], at)) {
			out = append(out, o)
		}
	}
	return out
}
