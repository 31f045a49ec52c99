package attack

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// search finds the nearest and the farthest gallery items of queries exactly:
// distances in float32 choose candidates with their error allowed for, distances
// in float64 decide. Equal distances are ordered by index. Rows may be searched
// at the same time.
type search struct {
	g *Gallery
	z *array.Array // (B, D)
	d []float32    // (B, N) distances; NaN where an item is hidden
}

// searches are kept by all methods together: a search of a batch is large.
var searches par.Free[search]

// newSearch measures the distances of z (B, D) from all items. The caller hands
// the search back with release.
func newSearch(g *Gallery, z *array.Array) *search {
	s := searches.Get()
	s.g, s.z = g, z
	size := z.Rows() * g.Len()
	if cap(s.d) < size {
		s.d = make([]float32, size)
	}
	s.d = s.d[:size]
	g.Distances(z, s.d)
	return s
}

func (s *search) release() {
	s.g, s.z = nil, nil
	searches.Put(s)
}

// row returns the distances of query i.
func (s *search) row(i int) []float32 {
	n := s.g.Len()
	return s.d[i*n : (i+1)*n]
}

var hidden = float32(math.NaN())

// hide takes an item out of the searches of query i that follow.
func (s *search) hide(i int, item int32) { s.row(i)[item] = hidden }

// hideAll is hide for a list.
func (s *search) hideAll(i int, items []int32) {
	row := s.row(i)
	for _, j := range items {
		row[j] = hidden
	}
}

// slack bounds the error of the squared distances of query i.
func (s *search) slack(i int) float64 { return s.g.slack(s.g.fromMean(s.z.Row(i))) }

// fromMean returns the squared distance of z from the gallery's mean.
func (g *Gallery) fromMean(z []float32) (square float64) {
	for k, v := range z {
		d := float64(v) - g.mean[k]
		square += d * d
	}
	return square
}

// least returns the item nearest to query i and its squared distance, or -1 if
// all are hidden or the query is NaN.
func (s *search) least(i int) (item int32, square float64) {
	row, z := s.row(i), s.z.Row(i)
	limit := above(leastOf(row), 2*s.slack(i))
	item, square = -1, math.Inf(1)
	for j, v := range row {
		if v <= limit {
			if e := s.g.squared(z, j); e < square || item < 0 {
				item, square = int32(j), e
			}
		}
	}
	return item, square
}

// leastAmong is least among some items, in ascending order.
func (s *search) leastAmong(i int, items []int32) (item int32, square float64) {
	row, z := s.row(i), s.z.Row(i)
	first := float32(math.Inf(1))
	for _, j := range items {
		if v := row[j]; v < first {
			first = v
		}
	}
	limit := above(first, 2*s.slack(i))
	item, square = -1, math.Inf(1)
	for _, j := range items {
		if row[j] <= limit {
			if e := s.g.squared(z, int(j)); e < square || item < 0 {
				item, square = j, e
			}
		}
	}
	return item, square
}

// most returns the item farthest from query i and its squared distance, or -1 if
// all are hidden or the query is NaN.
func (s *search) most(i int) (item int32, square float64) {
	row, z := s.row(i), s.z.Row(i)
	limit := below(mostOf(row), 2*s.slack(i))
	item, square = -1, -1
	for j, v := range row {
		if v >= limit {
			if e := s.g.squared(z, j); e > square {
				item, square = int32(j), e
			}
		}
	}
	return item, square
}

// above returns a distance whose square exceeds that of d by slack or more.
func above(d float32, slack float64) float32 {
	return math.Nextafter32(float32(math.Sqrt(float64(d)*float64(d)+slack)), float32(math.Inf(1)))
}

// below returns a distance whose square is less than that of d by slack or more,
// or one that no distance is less than.
func below(d float32, slack float64) float32 {
	return math.Nextafter32(float32(math.Sqrt(max(0, float64(d)*float64(d)-slack))), float32(math.Inf(-1)))
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
