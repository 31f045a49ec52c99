// Command winograd writes winograd_amd64.s of package kernel: the transforms of
// Winograd's convolutions. Run it by go generate in package kernel.
package main

import (
	"slices"

	"tercet/internal/engine/kernel/_generate/asm"
)

func main() {
	for _, isa := range []isa{avx512{}, avx2{}} {
		for _, size := range []struct {
			points  []float64
			outputs []int // with the kernel size alpha+1-outputs
		}{
			{[]float64{1}, []int{2}},
			{[]float64{0.625, 1.5}, []int{4, 2}},
			{[]float64{0.5, 1, 2}, []int{4}},
		} {
			alpha := 2*len(size.points) + 2
			name := func(role string, to, from int) string { return roleName(role, to, from) }
			for _, half := range []part{allRows, firstHalf, secondHalf} {
				transform{name("Input", alpha, alpha) + half.suffix(), input(size.points), padded, alpha - slices.Max(size.outputs), half}.emit(isa)
			}
			for _, m := range size.outputs {
				r := alpha + 1 - m
				a, g := powers(size.points, m, false), powers(size.points, r, true)
				transform{name("Output", m, alpha), a.transposed(), finished, 0, allRows}.emit(isa)
				transform{name("Weights", alpha, r), g, padded, 0, allRows}.emit(isa)
				for _, half := range []part{firstHalf, secondHalf} {
					transform{name("Spread", alpha, m) + half.suffix(), a, padded, 0, half}.emit(isa)
				}
				transform{name("Gather", r, alpha), g.transposed(), added, 0, allRows}.emit(isa)
			}
		}
	}
	asm.Write()
}
