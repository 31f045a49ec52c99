package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
)

// peakSums is the number of sums of peak: more than the latency of a fused
// multiply-add times those that begin in one cycle, on every processor so far.
const peakSums = 12

// peak emits a loop of independent fused multiply-adds on registers.
func (s shape) peak() {
	s.peakOf("peak"+s.isa, func(i int) { VFMADD231PS(s.vec[peakSums], s.vec[peakSums+1], s.vec[i]) })
}

// peakBF16 emits that loop of dot products of pairs of bfloat16, which the assembler
// does not know: VDPBF16PS Z13, Z12, Zi in bytes.
func (s shape) peakBF16() {
	s.peakOf("peakBF16"+s.isa, func(i int) {
		Instruction(&ir.Instruction{Opcode: "LONG", Operands: []Op{U32(0x481ed262 - i/8<<15)}})
		Instruction(&ir.Instruction{Opcode: "WORD", Operands: []Op{U16(0xc552 | i%8<<11)}})
	})
}

func (s shape) peakOf(name string, sum func(i int)) {
	TEXT(name, NOSPLIT, "func(steps int)")
	steps := Load(Param("steps"), GP64())
	for i := range peakSums + 2 {
		s.zero(s.vec[i])
	}
	Label("loop")
	for range 2 {
		for i := range peakSums {
			sum(i)
		}
	}
	DECQ(steps)
	JNZ(LabelRef("loop"))
	asm.End()
}
