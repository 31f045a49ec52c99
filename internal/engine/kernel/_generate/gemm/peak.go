package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peakSums is the number of sums of peak: more than the latency of a fused
// multiply-add times those that begin in one cycle, on every processor so far.
const peakSums = 12

// peak emits a loop of independent fused multiply-adds on registers.
func (s shape) peak() {
	TEXT("peak"+s.isa, NOSPLIT, "func(steps int)")
	steps := Load(Param("steps"), GP64())
	for i := range peakSums + 2 {
		s.zero(s.vec[i])
	}
	Label("loop")
	for range 2 {
		for i := range peakSums {
			VFMADD231PS(s.vec[peakSums], s.vec[peakSums+1], s.vec[i])
		}
	}
	DECQ(steps)
	JNZ(LabelRef("loop"))
	asm.End()
}
