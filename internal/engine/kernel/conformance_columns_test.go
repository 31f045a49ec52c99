package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// table is a matrix (rows, cols) with factors for its columns.
type table struct {
	rows, cols                 int
	x, dy, mask, add, shift    []float32
	mean, scale, a, b          []float64
	out                        []float32
	check                      func(t *testing.T, what string)
	mu, variance, first, other []float64
}

// newTable makes columns around large common offsets.
func newTable(r *rand.Rand, rows, cols int) *table {
	k := &table{rows: rows, cols: cols}
	for _, p := range []*[]float32{&k.x, &k.dy, &k.mask, &k.add} {
		*p, _ = buffer(r, rows*cols)
	}
	k.shift, _ = buffer(r, cols)
	k.out, k.check = buffer(r, rows*cols)
	for _, p := range []*[]float64{&k.mean, &k.scale, &k.a, &k.b, &k.mu, &k.variance, &k.first, &k.other} {
		*p = make([]float64, cols)
		for c := range *p {
			(*p)[c] = r.NormFloat64()
		}
	}
	for c := range cols {
		offset := []float32{0, 1e4, -3e6}[c%3]
		for i := c; i < len(k.x); i += cols {
			k.x[i] = k.x[i]*10 + offset
			k.mean[c] += float64(k.x[i]) / float64(rows)
		}
	}
	for i := range k.mask {
		switch r.IntN(8) {
		case 0:
			k.mask[i] = 0
		case 1:
			k.mask[i] = special[r.IntN(len(special))]
		}
	}
	return k
}

// moments2 are mean and variance in two passes.
func moments2(x []float32, c, cols int) (mean, variance float64) {
	n := 0.0
	for i := c; i < len(x); i += cols {
		mean += float64(x[i]) - float64(x[c])
		n++
	}
	mean = mean/n + float64(x[c])
	for i := c; i < len(x); i += cols {
		d := float64(x[i]) - mean
		variance += d * d / n
	}
	return mean, variance
}

func moments(t *testing.T) {
	r := newRand(13)
	for _, rows := range append(someRows, 700) {
		for _, cols := range someCols {
			k := newTable(r, rows, cols)
			if rows > 2 {
				k.x[0] = 1e6 // a first row far from the others
			}
			kernel.ColumnMoments(rows, cols, k.x, k.mu, k.variance)
			for c := range cols {
				m, v := moments2(k.x, c, cols)
				if !(math.Abs(k.mu[c]-m) <= 1e-14*(math.Abs(m)+math.Sqrt(v*float64(rows)))) || !(math.Abs(k.variance[c]-v) <= 1e-11*v) {
					t.Fatalf("%d x %d, column %d: mean %v, variance %v, want %v and %v", rows, cols, c, k.mu[c], k.variance[c], m, v)
				}
			}
		}
	}
	// Equal numbers have no variance, whatever they are.
	x, v := make([]float32, 3*50), make([]float64, 3)
	for i := range x {
		x[i] = []float32{1e30, -7, 1e-40}[i%3]
	}
	kernel.ColumnMoments(50, 3, x, make([]float64, 3), v)
	if v[0] != 0 || v[1] != 0 || v[2] != 0 {
		t.Fatalf("variance of constants: %v", v)
	}
	kernel.ColumnMoments(0, 1, nil, v[:1], v[1:2])
	if v[0] == v[0] || v[1] == v[1] {
		t.Fatalf("moments of nothing: %v", v)
	}
}

func momentsOfNonFinite(t *testing.T) {
	r := newRand(14)
	for _, bad := range []float32{nan, inf, -inf} {
		for _, at := range []int{2, 5*20 + 2} { // the first row, another one
			k := newTable(r, 9, 20)
			k.x[at] = bad
			kernel.ColumnMoments(9, 20, k.x, k.mu, k.variance)
			for c := range 20 {
				finite := k.mu[c]-k.mu[c] == 0 && k.variance[c] == k.variance[c]
				if finite == (c == 2) {
					t.Fatalf("%g at %d: column %d has mean %v, variance %v", bad, at, c, k.mu[c], k.variance[c])
				}
			}
		}
	}
}

func normalize(t *testing.T) {
	r := newRand(15)
	for _, rows := range someRows {
		for _, cols := range someCols {
			k := newTable(r, rows, cols)
			for which := range 8 {
				shift, add, relu := k.shift, k.add, which&4 != 0
				if which&1 != 0 {
					shift = nil
				}
				if which&2 != 0 {
					add = nil
				}
				kernel.Normalize(rows, cols, k.x, k.mean, k.scale, shift, add, relu, k.out)
				k.check(t, "Normalize")
				for i, got := range k.out {
					c := i % cols
					y := (float64(k.x[i]) - k.mean[c]) * k.scale[c]
					size := 3 * math.Abs(y)
					if shift != nil {
						y += float64(shift[c])
						size += math.Abs(float64(shift[c]))
					}
					if add != nil {
						y += float64(add[i])
						size += math.Abs(float64(add[i]))
					}
					size += math.Abs(y)
					if relu {
						y = max(y, 0)
					}
					if !(math.Abs(float64(got)-y) <= 1.1*eps*(size+0.01)) {
						t.Fatalf("%d x %d, shift %v add %v relu %v: element %d is %g, want %g", rows, cols, shift != nil, add != nil, relu, i, got, y)
					}
				}
				// The same bits at level Generic, in place and in place of add.
				generic := make([]float32, len(k.out))
				plain(t, func() { kernel.Normalize(rows, cols, k.x, k.mean, k.scale, shift, add, relu, generic) })
				sameBits(t, k.out, generic, "Normalize at two levels")
				inPlace := append([]float32(nil), k.x...)
				kernel.Normalize(rows, cols, inPlace, k.mean, k.scale, shift, add, relu, inPlace)
				sameBits(t, k.out, inPlace, "Normalize in place")
				if add != nil {
					inPlace = append([]float32(nil), add...)
					kernel.Normalize(rows, cols, k.x, k.mean, k.scale, shift, inPlace, relu, inPlace)
					sameBits(t, k.out, inPlace, "Normalize in place of add")
				}
			}
		}
	}
	x, one := []float32{nan, inf, -inf}, []float64{1, 1, 1}
	kernel.Normalize(1, 3, x, one, one, nil, nil, true, x)
	exactly(t, x, []float32{nan, inf, 0}, "Normalize of non-finite")
}

func normalizeBackward(t *testing.T) {
	r := newRand(16)
	for _, rows := range someRows {
		for _, cols := range someCols {
			k := newTable(r, rows, cols)
			for which := range 4 {
				var mask []float32
				if which&1 != 0 {
					mask = k.mask
				}
				on := func(i int) float64 {
					if mask == nil || mask[i] > 0 {
						return float64(k.dy[i])
					}
					return 0
				}
				kernel.NormalizeSums(rows, cols, k.x, k.dy, mask, k.mean, k.first, k.other)
				for c := range cols {
					var a, b, size float64
					for i := c; i < len(k.x); i += cols {
						a += on(i)
						b += on(i) * (float64(k.x[i]) - k.mean[c])
						size += math.Abs(on(i)) * (1 + math.Abs(float64(k.x[i])-k.mean[c]))
					}
					if !(math.Abs(k.first[c]-a) <= 1e-13*size) || !(math.Abs(k.other[c]-b) <= 1e-13*size) {
						t.Fatalf("%d x %d: sums of column %d are %v and %v, want %v and %v", rows, cols, c, k.first[c], k.other[c], a, b)
					}
				}
				x, mean, a, b := k.x, k.mean, k.a, k.b
				if which&2 != 0 {
					x, mean, a, b = nil, nil, nil, nil
				}
				kernel.NormalizeBackward(rows, cols, x, k.dy, mask, mean, k.scale, a, b, k.out)
				k.check(t, "NormalizeBackward")
				for i, got := range k.out {
					c := i % cols
					dx := k.scale[c] * on(i)
					size := 2 * math.Abs(dx)
					if a != nil {
						slope := k.b[c] * (float64(k.x[i]) - k.mean[c])
						dx -= k.a[c] + slope
						size += 2*math.Abs(k.a[c]) + 4*math.Abs(slope)
					}
					if !(math.Abs(float64(got)-dx) <= 1.1*eps*(size+math.Abs(dx)+0.01)) {
						t.Fatalf("%d x %d, mask %v statistics %v: element %d is %g, want %g", rows, cols, mask != nil, a != nil, i, got, dx)
					}
				}
				generic := make([]float32, len(k.out))
				plain(t, func() { kernel.NormalizeBackward(rows, cols, x, k.dy, mask, mean, k.scale, a, b, generic) })
				sameBits(t, k.out, generic, "NormalizeBackward at two levels")
				inPlace := append([]float32(nil), k.dy...)
				kernel.NormalizeBackward(rows, cols, x, inPlace, mask, mean, k.scale, a, b, inPlace)
				sameBits(t, k.out, inPlace, "NormalizeBackward in place")
			}
		}
	}
}

// The ReLU's mask computed again is the mask that is read, bit for bit.
func normalizeReLU(t *testing.T) {
	r := newRand(26)
	for _, rows := range append(someRows, 5000) {
		for _, cols := range someCols {
			if rows > 40 && cols > 47 {
				continue
			}
			k := newTable(r, rows, cols)
			for i := range k.x { // outputs near 0 and exactly 0
				if c := i % cols; r.IntN(4) == 0 {
					k.x[i] = float32(k.mean[c] - float64(k.shift[c])/k.scale[c])
				}
			}
			k.x[0], k.x[rows*cols-1] = nan, inf
			for _, shift := range [][]float32{k.shift, nil} {
				y, dx, want := make([]float32, rows*cols), k.out, make([]float32, rows*cols)
				a, b := make([]float64, cols), make([]float64, cols)
				kernel.Normalize(rows, cols, k.x, k.mean, k.scale, shift, nil, true, y)
				kernel.NormalizeSums(rows, cols, k.x, k.dy, y, k.mean, k.first, k.other)
				kernel.NormalizeReLUSums(rows, cols, k.x, k.dy, k.mean, k.scale, shift, a, b)
				for c := range cols {
					if sameOrNaN := func(a, b float64) bool { return a == b || a != a && b != b }; !sameOrNaN(a[c], k.first[c]) || !sameOrNaN(b[c], k.other[c]) {
						t.Fatalf("%d x %d: sums of column %d are %v and %v, want %v and %v", rows, cols, c, a[c], b[c], k.first[c], k.other[c])
					}
				}
				kernel.NormalizeBackward(rows, cols, k.x, k.dy, y, k.mean, k.scale, k.a, k.b, want)
				kernel.NormalizeReLUBackward(rows, cols, k.x, k.dy, k.mean, k.scale, shift, k.a, k.b, dx)
				exactly(t, dx, want, "NormalizeReLUBackward %d x %d", rows, cols)
				k.check(t, "NormalizeReLUBackward")
			}
		}
	}
}

// Many chunks, whatever the threads and the storage's alignment.
func columnsBits(t *testing.T) {
	for _, s := range [][2]int{{20000, 16}, {5000, 47}, {9000, 3}, {900, 130}, {70, 2049}} {
		r := newRand(17)
		rows, cols := s[0], s[1]
		k := newTable(r, rows, cols)
		type result struct {
			mu, variance, a, b []float64
			y, dx, sum         []float32
		}
		var first *result
		onThreads(func(threads int) {
			x, _ := buffer(r, rows*cols)
			copy(x, k.x)
			v := func() []float64 { return make([]float64, cols) }
			now := &result{v(), v(), v(), v(), make([]float32, rows*cols), make([]float32, rows*cols), make([]float32, cols)}
			kernel.ColumnMoments(rows, cols, x, now.mu, now.variance)
			kernel.NormalizeSums(rows, cols, x, k.dy, k.mask, now.mu, now.a, now.b)
			kernel.Normalize(rows, cols, x, now.mu, k.scale, k.shift, k.add, true, now.y)
			kernel.NormalizeBackward(rows, cols, x, k.dy, k.mask, now.mu, k.scale, now.a, now.b, now.dx)
			kernel.AddColumnSums(rows, cols, x, now.sum)
			if first == nil {
				first = now
				return
			}
			for c := range cols {
				if now.mu[c] != first.mu[c] || now.variance[c] != first.variance[c] || now.a[c] != first.a[c] || now.b[c] != first.b[c] {
					t.Fatalf("%v, %d threads: statistics of column %d differ", s, threads, c)
				}
			}
			sameBits(t, now.y, first.y, "Normalize")
			sameBits(t, now.dx, first.dx, "NormalizeBackward")
			sameBits(t, now.sum, first.sum, "AddColumnSums")
		})
	}
}
