// Package clustertest has data of which clusters are known, and comparisons of clusterings.
package clustertest

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Blobs draws n rows around k centers that are far apart where spread is large.
func Blobs(seed uint64, n, d, k int, spread float64) (x []float32, truth []int32) {
	r := rand.New(rand.NewPCG(seed, 1))
	center := make([]float64, k*d)
	for i := range center {
		center[i] = spread * r.NormFloat64()
	}
	x, truth = make([]float32, n*d), make([]int32, n)
	for i := range n {
		c := r.IntN(k)
		truth[i] = int32(c)
		for j := range d {
			x[i*d+j] = float32(center[c*d+j] + r.NormFloat64())
		}
	}
	return x, truth
}

// SamePartition fails unless two lists of labels put the same rows together.
func SamePartition(t *testing.T, a, b []int32) {
	t.Helper()
	for i := range a {
		for k := range i {
			if (a[i] == a[k]) != (b[i] == b[k]) {
				t.Fatalf("rows %d and %d: %v and %v in one cluster", k, i, a[i] == a[k], b[i] == b[k])
			}
		}
	}
}

// CheckNumbers verifies that labels are numbered by size, then by first row.
func CheckNumbers(t *testing.T, labels []int32, sizes []int, k int) {
	t.Helper()
	if len(sizes) != k {
		t.Fatalf("%d clusters, want %d", len(sizes), k)
	}
	count, first := make([]int, k), make([]int, k)
	for i := len(labels) - 1; i >= 0; i-- {
		if c := labels[i]; c >= 0 {
			count[c]++
			first[c] = i
		}
	}
	if !slices.Equal(count, sizes) {
		t.Fatalf("sizes %v, want %v", sizes, count)
	}
	for c := 1; c < k; c++ {
		if count[c] > count[c-1] || count[c] == count[c-1] && first[c] < first[c-1] {
			t.Fatalf("clusters %d and %d are in the wrong order", c-1, c)
		}
	}
}

// Squared is the squared distance of rows i and k, by a plain loop.
func Squared(x []float32, d, i, k int) (s float64) {
	for j := range d {
		e := float64(x[i*d+j]) - float64(x[k*d+j])
		s += e * e
	}
	return s
}
