package kernel_test

import (
	"math"
	"slices"
	"testing"
)

func squared(a, b []float32) (distance, size float64) {
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		distance += (x - y) * (x - y)
		size += x*x + y*y
	}
	return distance, size
}

func (impl Implementation) distances(t *testing.T) {
	r := newRand(4)
	for _, s := range [][3]int{{1, 1, 1}, {3, 5, 2}, {17, 33, 47}, {40, 10, 512}, {2, 3, 0}, {0, 3, 4}, {3, 0, 4}} {
		n, m, d := s[0], s[1], s[2]
		x, _ := guardedRandom(r, n*d)
		y, _ := guardedRandom(r, m*d)
		if n > 2 && m > 2 && d > 0 {
			copy(y[2*d:3*d], x[:d]) // a point in both: about 0, never below
		}
		out, check := guarded(n * m)
		impl.PairwiseSquared(n, m, d, x, y, out)
		check(t, "distances")
		for i := range n {
			for j := range m {
				want, size := squared(x[i*d:(i+1)*d], y[j*d:(j+1)*d])
				if out[i*m+j] < 0 {
					t.Fatalf("%v at (%d, %d): %g", s, i, j, out[i*m+j])
				}
				near(t, out[i*m+j], want, size, d, "%v at (%d, %d)", s, i, j)
			}
		}
	}
}

func (impl Implementation) distancesOfOneSet(t *testing.T) {
	r := newRand(5)
	const n, d = 75, 70
	x, _ := guardedRandom(r, n*d)
	x[3*d+1] = nan
	var first []float32
	onThreads(func(int) {
		out := make([]float32, n*n)
		impl.PairwiseSquared(n, n, d, x, x, out)
		if first == nil {
			first = out
		}
		sameBits(t, out, first, "threads")
	})
	for i := range n {
		if first[i*n+i] != 0 {
			t.Fatalf("diagonal %d is %g", i, first[i*n+i])
		}
		for j := range n {
			a, b := first[i*n+j], first[j*n+i]
			if math.Float32bits(a) != math.Float32bits(b) && a == a {
				t.Fatalf("(%d, %d): %g and %g", i, j, a, b)
			}
			if hit := i != j && (i == 3 || j == 3); hit != (a != a) {
				t.Fatalf("(%d, %d) is %g, NaN in point 3", i, j, a)
			}
		}
	}
	// An equal copy is another slice: its diagonal is only about 0.
	out := make([]float32, n*n)
	impl.PairwiseSquared(n, n, d, x, slices.Clone(x), out)
	_, size := squared(x[:d], x[:d])
	near(t, out[0], 0, size, d, "copy")
}
