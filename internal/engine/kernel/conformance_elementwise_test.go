package kernel_test

import (
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// rule is an element-wise kernel of a and b and what it does with one element.
type rule struct {
	name string
	run  func(a, b, out []float32)
	want func(a, b float32) float32
}

func positive(v float32) float32 {
	if v <= 0 {
		return 0
	}
	return v
}

var rules = []rule{
	{"ReLU", func(a, _, out []float32) { kernel.ReLU(a, out) }, func(a, _ float32) float32 { return positive(a) }},
	{"ReLUBackward", kernel.ReLUBackward, func(a, b float32) float32 {
		if a > 0 {
			return b
		}
		return 0
	}},
	{"Add", kernel.Add, func(a, b float32) float32 { return a + b }},
	{"AddReLU", kernel.AddReLU, func(a, b float32) float32 { return positive(a + b) }},
	{"Axpy", func(a, b, out []float32) { copy(out, b); kernel.Axpy(-1.7, a, out) }, func(a, b float32) float32 { return b + float32(-1.7*a) }},
	{"Scale", func(a, _, out []float32) { copy(out, a); kernel.Scale(0.3, out) }, func(a, _ float32) float32 { return 0.3 * a }},
}

func elementwise(t *testing.T) {
	r := newRand(11)
	for _, k := range rules {
		for _, n := range lengths() {
			a, checkA := buffer(r, n)
			b, checkB := buffer(r, n)
			out, check := buffer(r, n)
			spice(r, a)
			spice(r, b)
			want := make([]float32, n)
			for i := range want {
				want[i] = k.want(a[i], b[i])
			}
			sameA, sameB := unchanged(a), unchanged(b)
			k.run(a, b, out)
			sameA(t, k.name)
			sameB(t, k.name)
			exactly(t, out, want, k.name)
			// In place of either operand.
			again := slices.Clone(a)
			if k.name != "Axpy" {
				k.run(a, b, a)
				exactly(t, a, want, "%s in place of the first", k.name)
			}
			if k.name != "Scale" && k.name != "ReLU" {
				k.run(again, b, b)
				exactly(t, b, want, "%s in place of the second", k.name)
			}
			check(t, k.name)
			checkA(t, k.name)
			checkB(t, k.name)
		}
	}
}

var (
	someRows = []int{1, 2, 3, 9, 37}
	someCols = []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 94, 130, 257, 2049}
)

func columnSums(t *testing.T) {
	r := newRand(12)
	for _, rows := range someRows {
		for _, cols := range someCols {
			y, check := buffer(r, rows*cols)
			sum, checkSum := buffer(r, cols)
			size, wantSum := make([]float64, cols), make([]float64, cols)
			for c, v := range sum {
				wantSum[c] = float64(v)
			}
			for i, v := range y {
				wantSum[i%cols] += float64(v)
				size[i%cols] += float64(v * v)
			}
			kernel.AddColumnSums(rows, cols, y, sum)
			checkSum(t, "AddColumnSums")
			for c, v := range sum {
				near(t, v, wantSum[c], 1+size[c], 0, "AddColumnSums %d x %d, column %d", rows, cols, c)
			}
			check(t, "AddColumnSums")
		}
	}
	sum := []float32{3}
	kernel.AddColumnSums(0, 1, nil, sum)
	exactly(t, sum, []float32{3}, "AddColumnSums of nothing")
}
