package retrieval

import "math"

// hidden is the distance of an item that is not to be found.
var hidden = float32(math.NaN())

// Hide takes an item out of the searches of query i that follow.
func (d *Distances) Hide(i int, item int32) { d.Row(i)[item] = hidden }

// HideAll is Hide for a list.
func (d *Distances) HideAll(i int, items []int32) {
	row := d.Row(i)
	for _, j := range items {
		row[j] = hidden
	}
}

// Least returns the item nearest to query i and its squared distance, or -1 if
// all are hidden or the query is NaN.
func (d *Distances) Least(i int) (item int32, square float64) {
	row, z := d.Row(i), d.z.Row(i)
	limit := above(leastOf(row), 2*d.slack(i))
	item, square = -1, math.Inf(1)
	for j, v := range row {
		if v <= limit {
			if e := d.g.Squared(z, j); e < square || item < 0 {
				item, square = int32(j), e
			}
		}
	}
	return item, square
}

// LeastAmong is Least among some items, in ascending order.
func (d *Distances) LeastAmong(i int, items []int32) (item int32, square float64) {
	row, z := d.Row(i), d.z.Row(i)
	first := float32(math.Inf(1))
	for _, j := range items {
		if v := row[j]; v < first {
			first = v
		}
	}
	limit := above(first, 2*d.slack(i))
	item, square = -1, math.Inf(1)
	for _, j := range items {
		if row[j] <= limit {
			if e := d.g.Squared(z, int(j)); e < square || item < 0 {
				item, square = j, e
			}
		}
	}
	return item, square
}

// Most returns the item farthest from query i and its squared distance, or -1 if
// all are hidden or the query is NaN.
func (d *Distances) Most(i int) (item int32, square float64) {
	row, z := d.Row(i), d.z.Row(i)
	limit := below(mostOf(row), 2*d.slack(i))
	item, square = -1, -1
	for j, v := range row {
		if v >= limit {
			if e := d.g.Squared(z, j); e > square {
				item, square = int32(j), e
			}
		}
	}
	return item, square
}

// above returns a distance whose square exceeds that of d by slack or more.
func above(d float32, slack float64) float32 {
	return math.Nextafter32(float32(math.Sqrt(float64(float64(d)*float64(d))+slack)), float32(math.Inf(1)))
}

// below returns a distance whose square is less than that of d by slack or more,
// or one that no distance is less than.
func below(d float32, slack float64) float32 {
	return math.Nextafter32(float32(math.Sqrt(max(0, float64(float64(d)*float64(d))-slack))), float32(math.Inf(-1)))
}

// leastOf returns the least of x, NaN not counted. Four running values: each
// waits for the one before.
func leastOf(x []float32) float32 {
	inf := float32(math.Inf(1))
	a, b, c, d := inf, inf, inf, inf
	for ; len(x) >= 4; x = x[4:] {
		if x[0] < a {
			a = x[0]
		}
		if x[1] < b {
			b = x[1]
		}
		if x[2] < c {
			c = x[2]
		}
		if x[3] < d {
			d = x[3]
		}
	}
	for _, v := range x {
		if v < a {
			a = v
		}
	}
	return min(a, b, c, d)
}

// mostOf returns the largest of x, NaN not counted, and -1 where there is none.
func mostOf(x []float32) float32 {
	a, b, c, d := float32(-1), float32(-1), float32(-1), float32(-1)
	for ; len(x) >= 4; x = x[4:] {
		if x[0] > a {
			a = x[0]
		}
		if x[1] > b {
			b = x[1]
		}
		if x[2] > c {
			c = x[2]
		}
		if x[3] > d {
			d = x[3]
		}
	}
	for _, v := range x {
		if v > a {
			a = v
		}
	}
	return max(a, b, c, d)
}
