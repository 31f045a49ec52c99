package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func pixels() {
	for _, s := range isas {
		s.pixels()
	}
}

// pixels divides and does not multiply by 1/255: the quotient is then the one that
// Go rounds to.
func (s isa) pixels() {
	asm.Func("pixels", s.name, "n int, p *uint8, y *float32",
		"is, for n a multiple of the vector's length above 0:", "",
		"\tfor i := range n {", "\t\ty[i] = float32(p[i]) / 255", "\t}")
	n, at := Load(Param("n"), GP64()), pointers("p", "y")
	by, bits, i := s.vec(), GP32(), GP64()
	MOVL(U32(0x437f0000), bits) // 255
	x := XMM()
	VMOVD(bits, x)
	VBROADCASTSS(x, by)
	XORQ(i, i)
	Label("loop")
	v := s.vec()
	VPMOVZXBD(Mem{Base: at[0], Index: i, Scale: 1}, v)
	VCVTDQ2PS(v, v)
	VDIVPS(by, v, v)
	VMOVUPS(v, Mem{Base: at[1], Index: i, Scale: 4})
	ADDQ(Imm(uint64(s.lanes)), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	asm.End()
}
