package cluster

import (
	"slices"

	"tercet/internal/rng"
)

// draw returns m different numbers below n, ascending, each set of m equally likely
// (Floyd's algorithm: Bentley and Floyd, "A sample of brilliance", 1987).
func draw(r *rng.Stream, n, m int) []int {
	seen := make(map[int]bool, m)
	rows := make([]int, 0, m)
	for j := n - m; j < n; j++ {
		i := r.IntN(j + 1)
		if seen[i] {
			i = j
		}
		seen[i] = true
		rows = append(rows, i)
	}
	slices.Sort(rows)
	return rows
}

// used counts the clusters that have rows.
func used(sizes []int) (n int) {
	for _, s := range sizes {
		if s > 0 {
			n++
		}
	}
	return n
}

// Numbered replaces labels, 0..k-1 or negative for noise, by numbers in the order of
// decreasing size, equal sizes in the order of their first rows, noise by -1, in
// place, and returns the sizes. Labels that no row has get no number.
func Numbered(labels []int32, k int) []int {
	first, count := make([]int, k), make([]int, k)
	for i := len(labels) - 1; i >= 0; i-- {
		if c := labels[i]; c >= 0 {
			first[c] = i
			count[c]++
		}
	}
	order := make([]int, 0, k)
	for c := range k {
		if count[c] > 0 {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return first[a] - first[b]
	})
	sizes, number := make([]int, len(order)), make([]int32, k)
	for at, c := range order {
		sizes[at], number[c] = count[c], int32(at)
	}
	for i, c := range labels {
		if c >= 0 {
			labels[i] = number[c]
		} else {
			labels[i] = -1
		}
	}
	return sizes
}
