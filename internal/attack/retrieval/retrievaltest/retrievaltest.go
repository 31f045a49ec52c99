// Package retrievaltest has the oracles of tests about retrieval: loops in float64.
package retrievaltest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Square is a squared distance in float64.
func Square(x, y []float32) float64 {
	s := 0.0
	for k, v := range x {
		s += (float64(v) - float64(y[k])) * (float64(v) - float64(y[k]))
	}
	return s
}

// Order sorts all items by their distance from z, ties by index.
func Order(x *array.Array, z []float32) []int32 {
	square, order := make([]float64, x.Rows()), make([]int32, x.Rows())
	for j := range square {
		square[j], order[j] = Square(z, x.Row(j)), int32(j)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(square[a], square[b]), cmp.Compare(a, b))
	})
	return order
}

// Extreme returns the first of the items allowed with the least sign *
// distance from z, -1 for none.
func Extreme(x *array.Array, z []float32, sign float64, allowed func(j int) bool) int {
	best, found := math.Inf(1), -1
	for j := range x.Rows() {
		if d := sign * Square(x.Row(j), z); allowed(j) && (d < best || found < 0) {
			best, found = d, j
		}
	}
	return found
}

// AtEachLevel runs f at each kernel level, on one thread and on two.
func AtEachLevel(t *testing.T, f func(t *testing.T)) {
	defer par.SetThreads(par.Threads())
	for _, l := range kernel.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			for _, threads := range []int{1, 2} {
				par.SetThreads(threads)
				f(t)
			}
		})
	}
}
