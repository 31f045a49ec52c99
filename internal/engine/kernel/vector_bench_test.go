package kernel_test

import (
	"fmt"
	"testing"

	"tercet/internal/engine/kernel"
)

// pass is a kernel that goes once through memory, and how many arrays of the
// full size it reads and writes.
type pass struct {
	name   string
	arrays float64
	run    func()
}

// benchPasses are the kernels of a training step on n images of 28x28x32, and copy,
// which says what the memory can do.
func benchPasses(n int) (size int, all []pass) {
	const c = 32
	rows := n * 28 * 28
	size = rows * c
	var x [5][]float32
	for k := range x {
		x[k] = make([]float32, size)
		for i := range x[k] {
			x[k][i] = float32((i*7919+k*104729)%2003)/2003 - 0.4
		}
	}
	a, b, d, e, y := x[0], x[1], x[2], x[3], x[4]
	p := kernel.Pool{H: 28, W: 28, C: c, KH: 2, KW: 2, StrideH: 2, StrideW: 2}
	q := kernel.Pool{H: 28, W: 28, C: c, KH: 3, KW: 3, StrideH: 2, StrideW: 2, PadH: 1, PadW: 1}
	won := make([]float32, size/4)
	small, arg, arg2 := make([]float32, size/4), make([]int32, size/4), make([]int32, size/4)
	p.MaxForward(n, a, small, arg)
	q.MaxForward(n, a, small, arg2)
	wide := func() []float64 { return make([]float64, c) }
	m, v, s, t := wide(), wide(), wide(), wide()
	for i := range v {
		v[i] = 1e-3
	}
	bias, norm := make([]float32, c), make([]float32, size/128)
	adam := kernel.AdamFactors{Keep: 1, Beta1: 0.9, Rest1: 0.1, Beta2: 0.999, Rest2: 1e-3, Eps: 1e-8}
	return size, []pass{
		{"copy", 2, func() { copy(y, a) }},
		{"ReLU", 2, func() { kernel.ReLU(a, y) }},
		{"ReLUBackward", 3, func() { kernel.ReLUBackward(a, b, y) }},
		{"Add", 3, func() { kernel.Add(a, b, y) }},
		{"AddReLU", 3, func() { kernel.AddReLU(a, b, y) }},
		{"AddColumnSums", 1, func() { kernel.AddColumnSums(rows, c, a, bias) }},
		{"Axpy", 3, func() { kernel.Axpy(1e-9, a, y) }},
		{"Sum", 1, func() { kernel.Sum(a) }},
		{"Dot", 2, func() { kernel.Dot(a, b) }},
		{"MaxAbs", 1, func() { kernel.MaxAbs(a) }},
		{"ColumnMoments", 1, func() { kernel.ColumnMoments(rows, c, a, s, t) }},
		{"Normalize", 2, func() { kernel.Normalize(rows, c, a, m, v, bias, nil, false, y) }},
		{"NormalizeReLU", 2, func() { kernel.Normalize(rows, c, a, m, v, bias, nil, true, y) }},
		{"NormalizeAddReLU", 3, func() { kernel.Normalize(rows, c, a, m, v, bias, b, true, y) }},
		{"NormalizeSums", 2, func() { kernel.NormalizeSums(rows, c, a, b, nil, m, s, t) }},
		{"NormalizeSumsMasked", 3, func() { kernel.NormalizeSums(rows, c, a, b, d, m, s, t) }},
		{"NormalizeBackward", 3, func() { kernel.NormalizeBackward(rows, c, a, b, nil, m, v, v, v, y) }},
		{"NormalizeBackwardMasked", 4, func() { kernel.NormalizeBackward(rows, c, a, b, d, m, v, v, v, y) }},
		{"NormalizeReLUSums", 2, func() { kernel.NormalizeReLUSums(rows, c, a, b, m, v, bias, s, t) }},
		{"NormalizeReLUBackward", 3, func() { kernel.NormalizeReLUBackward(rows, c, a, b, m, v, bias, v, v, y) }},
		{"MaxForward", 1.5, func() { p.MaxForward(n, a, small, arg) }},
		{"MaxBackward", 1.75, func() { p.MaxBackward(n, small, small, arg, y) }},
		{"MaxForward3x3", 1.5, func() { q.MaxForward(n, a, small, arg2) }},
		{"MaxBackward3x3", 1.75, func() { q.MaxBackward(n, small, small, arg2, y) }},
		{"NormalizeMaxForward", 1.75, func() { p.NormalizeMaxForward(n, a, m, v, bias, true, small, arg, won) }},
		{"NormalizeMaxBackward", 2.75, func() { p.NormalizeMaxBackward(n, a, small, small, arg, m, v, v, v, y) }},
		{"AvgForward", 1.25, func() { p.AvgForward(n, a, small) }},
		{"AvgBackward", 1.25, func() { p.AvgBackward(n, small, y) }},
		{"L2Normalize", 2, func() { kernel.L2Normalize(size/128, 128, a, y, norm, 1e-12) }},
		{"L2NormalizeBackward", 3, func() { kernel.L2NormalizeBackward(size/128, 128, a, norm, b, y, 1e-12) }},
		{"Exp", 2, func() { kernel.Exp(a, y) }},
		{"Log", 2, func() { kernel.Log(a, y) }},
		{"AdamStep", 7, func() { kernel.AdamStep(&adam, y, a, d, e) }},
		{"SignStep", 4, func() { kernel.SignStep(y, a, b, 0, 10, -10, 10) }},
	}
}

// BenchmarkVectors counts the bytes that are read and written: beside copy's,
// the figures say how near to the memory's bandwidth a kernel is. 2 images fit
// the second cache level, 16 the third, 128 neither.
func BenchmarkVectors(b *testing.B) {
	for _, n := range []int{2, 16, 128} {
		size, all := benchPasses(n)
		for _, p := range all {
			b.Run(fmt.Sprintf("%s/%d", p.name, n), func(b *testing.B) {
				b.SetBytes(int64(p.arrays * 4 * float64(size)))
				for b.Loop() {
					p.run()
				}
			})
		}
	}
}
