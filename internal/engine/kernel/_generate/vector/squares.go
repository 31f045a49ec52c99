package main

import (
	"fmt"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// squares emits sums of squared differences in 16 float64 lanes; b has numbers
// of the given bits.
func (s isa) squares(bits int) {
	name := fmt.Sprintf("squares%d", bits)
	s.blocks(name, fmt.Sprintf("blocks int, a *float32, b *float%d, s *float64", bits),
		"d := float64(a[i]) - float64(b[i])",
		"s[i%16] += d * d // rounded twice")
	blocks := Load(Param("blocks"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	out := Load(Param("s"), GP64())
	lanes := s.lanes / 2 // of float64
	sums := s.loadSums(out)
	Label("block")
	for v := range sums {
		x, y := s.vec(), s.vec()
		VCVTPS2PD(at(a, 4*lanes*v), x)
		if bits == 32 {
			VCVTPS2PD(at(b, 4*lanes*v), y)
			VSUBPD(y, x, x)
		} else {
			VSUBPD(at(b, 8*lanes*v), x, x)
		}
		VMULPD(x, x, x)
		VADDPD(x, sums[v], sums[v])
	}
	ADDQ(Imm(64), a)
	ADDQ(U32(uint32(2*bits)), b)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	s.storeSums(sums, out)
	asm.End()
}
