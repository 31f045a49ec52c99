package main

import (
	"math"
	"slices"
)

// term is coefficient c of source j. Sources are the inputs x or, where pairs of
// columns differ in signs alone, sums and differences of two inputs.
type term struct {
	source source
	c      float64
}

// source is x[j] or, where k is not -1, x[j] + sign*x[k].
type source struct {
	j, k int
	sign float64
}

// group is one or two rows that are computed together. With odd terms, rows
// is a pair: even sum + odd sum, and even sum - odd sum.
type group struct {
	rows []int
	even [][]term // of each row; one for both rows of a pair
	odd  []term
}

// groups cuts m into groups, pairing what differs in signs alone.
func (m matrix) groups() []group {
	var out []group
	done := make([]bool, len(m))
	columns := m.columnPairs()
	for i := range m {
		if done[i] {
			continue
		}
		if k := m.partner(i); k >= 0 {
			done[k] = true
			out = append(out, m.pair(i, k))
			continue
		}
		g := group{rows: []int{i}, even: [][]term{m.terms(i, columns)}}
		// A row that uses the same sums of columns shares them.
		for k := i + 1; k < len(m) && len(columns) > 0; k++ {
			if t := m.terms(k, columns); !done[k] && len(g.rows) < 2 && share(g.even[0], t) {
				done[k] = true
				g.rows, g.even = append(g.rows, k), append(g.even, t)
			}
		}
		out = append(out, g)
	}
	return out
}

// partner returns a later row that differs from row i in signs alone, both ways.
func (m matrix) partner(i int) int {
	for k := i + 1; k < len(m); k++ {
		same, opposite, other := 0, 0, 0
		for j, c := range m[i] {
			switch d := m[k][j]; {
			case c == 0 && d == 0:
			case equal(c, d):
				same++
			case equal(c, -d):
				opposite++
			default:
				other++
			}
		}
		if same > 0 && opposite > 0 && other == 0 {
			return k
		}
	}
	return -1
}

func (m matrix) pair(i, k int) group {
	g := group{rows: []int{i, k}, even: [][]term{nil}}
	for j, c := range m[i] {
		switch {
		case c == 0:
		case equal(c, m[k][j]):
			g.even[0] = append(g.even[0], term{source{j, -1, 0}, c})
		default:
			g.odd = append(g.odd, term{source{j, -1, 0}, c})
		}
	}
	return g
}

// split returns the rows of g as groups of one.
func (g group) split() []group {
	var out []group
	for r, i := range g.rows {
		if g.odd == nil {
			out = append(out, group{rows: []int{i}, even: [][]term{g.even[r]}})
			continue
		}
		terms := slices.Clone(g.even[0])
		for _, t := range g.odd {
			if r == 1 {
				t.c = -t.c
			}
			terms = append(terms, t)
		}
		out = append(out, group{rows: []int{i}, even: [][]term{terms}})
	}
	return out
}

// columnPairs maps j to k where columns j < k differ in signs alone, both ways.
func (m matrix) columnPairs() map[int]int {
	t, pairs := m.transposed(), map[int]int{}
	for j := range t {
		if k := t.partner(j); k >= 0 {
			pairs[j] = k
		}
	}
	return pairs
}

func (m matrix) terms(i int, pairs map[int]int) []term {
	var out []term
	var skip []int
	for j, c := range m[i] {
		if c == 0 || slices.Contains(skip, j) {
			continue
		}
		s := source{j, -1, 0}
		if k, ok := pairs[j]; ok {
			s = source{j, k, math.Round(m[i][k] / c)}
			skip = append(skip, k)
		}
		out = append(out, term{s, c})
	}
	return out
}

func share(a, b []term) bool {
	for _, s := range a {
		for _, t := range b {
			if s.source.k >= 0 && s.source == t.source {
				return true
			}
		}
	}
	return false
}

// first returns the term that a sum begins with: one of coefficient 1, or else a
// positive one, where there is one.
func first(terms []term) int {
	start := 0
	for i, t := range terms {
		if t.c == 1 {
			return i
		}
		if t.c > 0 && terms[start].c < 0 {
			start = i
		}
	}
	return start
}

// constants lists what the groups multiply by: magnitudes other than 1, and a
// negative number where a sum begins with it.
func constants(groups []group) []float32 {
	var all []float32
	add := func(c float64) {
		if c := float32(c); c != 1 && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for _, g := range groups {
		for _, terms := range append(slices.Clone(g.even), g.odd) {
			for i, t := range terms {
				if i == first(terms) {
					add(t.c)
				} else {
					add(math.Abs(t.c))
				}
			}
		}
	}
	return all
}

// equal reports whether two entries differ by the rounding of float64 alone.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(a) }
