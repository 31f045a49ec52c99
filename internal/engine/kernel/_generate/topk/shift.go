package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shift emits the centering of a row.
func (s isa) shift() {
	asm.Func("shiftRow", s.name, "blocks int, x *float32, mean *float64, scale float64, out *float32",
		"does 16*blocks numbers, blocks > 0:",
		"",
		"\tfor i := range 16 * blocks {",
		"\t\tout[i] = float32((float64(x[i]) - mean[i]) * scale)",
		"\t}",
	)
	blocks := Load(Param("blocks"), GP64())
	x, mean, out := Load(Param("x"), GP64()), Load(Param("mean"), GP64()), Load(Param("out"), GP64())
	scale := s.vec()
	VBROADCASTSD(param("scale"), scale)
	Label("block")
	for v := range 32 / s.lanes {
		wide := s.vec()
		VCVTPS2PD(at(x, v*s.bytes()/2), wide)
		VSUBPD(at(mean, v*s.bytes()), wide, wide)
		VMULPD(scale, wide, wide)
		if s.lanes == 16 {
			narrow := YMM()
			VCVTPD2PS(wide, narrow)
			VMOVUPS(narrow, at(out, v*s.bytes()/2))
		} else {
			narrow := XMM()
			VCVTPD2PSY(wide, narrow)
			VMOVUPS(narrow, at(out, v*s.bytes()/2))
		}
	}
	for _, p := range []reg.Register{x, out} {
		ADDQ(Imm(64), p)
	}
	ADDQ(U32(128), mean)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	asm.End()
}
