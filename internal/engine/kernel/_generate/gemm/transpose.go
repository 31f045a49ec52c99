package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose emits the transposition of a strip of eight rows, 8x8 at a time:
// pairs, fours and halves are exchanged in turn.
func transpose() {
	asm.Only("transpose8AVX2", "blocks int, src *float32, lds int, dst *float32, ldd int",
		"transposes eight rows of 8*blocks numbers, blocks > 0:",
		"",
		"\tfor i := range 8 {",
		"\t\tfor p := range 8 * blocks {",
		"\t\t\tdst[p*ldd+i] = src[i*lds+p]",
		"\t\t}",
		"\t}",
	)
	blocks := Load(Param("blocks"), GP64())
	src := Load(Param("src"), GP64())
	lds := Load(Param("lds"), GP64())
	dst := Load(Param("dst"), GP64())
	ldd := Load(Param("ldd"), GP64())
	SHLQ(Imm(2), lds)
	SHLQ(Imm(2), ldd)
	src4, lds3, dst4, ldd3 := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: lds, Index: lds, Scale: 2}, lds3)
	LEAQ(Mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
	LEAQ(Mem{Base: src, Index: lds, Scale: 4}, src4)
	row := func(base, base4, ld, ld3 reg.Register, i int) Mem {
		if i >= 4 {
			base = base4
		}
		switch i % 4 {
		case 0:
			return Mem{Base: base}
		case 3:
			return Mem{Base: base, Index: ld3, Scale: 1}
		default:
			return Mem{Base: base, Index: ld, Scale: uint8(i % 4)}
		}
	}
	var x, y [8]reg.VecVirtual
	for i := range x {
		x[i], y[i] = YMM(), YMM()
	}
	Label("block")
	for i := range x {
		VMOVUPS(row(src, src4, lds, lds3, i), x[i])
	}
	for i := 0; i < 8; i += 2 {
		VUNPCKLPS(x[i+1], x[i], y[i])
		VUNPCKHPS(x[i+1], x[i], y[i+1])
	}
	for i := 0; i < 8; i += 4 {
		VUNPCKLPD(y[i+2], y[i], x[i])
		VUNPCKHPD(y[i+2], y[i], x[i+1])
		VUNPCKLPD(y[i+3], y[i+1], x[i+2])
		VUNPCKHPD(y[i+3], y[i+1], x[i+3])
	}
	for i := range 4 {
		VPERM2F128(Imm(0x20), x[i+4], x[i], y[i])
		VPERM2F128(Imm(0x31), x[i+4], x[i], y[i+4])
	}
	LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst4)
	for i := range y {
		VMOVUPS(y[i], row(dst, dst4, ldd, ldd3, i))
	}
	ADDQ(Imm(32), src)
	ADDQ(Imm(32), src4)
	LEAQ(Mem{Base: dst4, Index: ldd, Scale: 4}, dst)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	asm.End()
}
