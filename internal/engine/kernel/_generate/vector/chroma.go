package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chroma is written for AVX2 alone: words and bytes in 512 bits would ask for more of
// AVX-512 than the level has.
func chroma() {
	chromaRow()
	ycbcrRow()
}

// words broadcasts the low 16 bits of an argument.
func words(name string) reg.VecVirtual {
	bits, x, v := Load(Param(name), GP64()), XMM(), YMM()
	VMOVQ(bits, x)
	VPBROADCASTW(x, v)
	return v
}

func chromaRow() {
	asm.Only("chromaRowAVX2", "n int, near, far *uint8, even, odd int, dst *uint8",
		"is, for n a multiple of 16 above 0 and t(i) = 3*near[i] + far[i]; near[-1] and near[n] are read:", "",
		"\tfor i := range n {", "\t\tdst[2*i] = (3*t(i) + t(i-1) + even) >> 4", "\t\tdst[2*i+1] = (3*t(i) + t(i+1) + odd) >> 4", "\t}")
	n, p, even, odd := Load(Param("n"), GP64()), pointers("near", "far", "dst"), words("even"), words("odd")
	i := GP64()
	XORQ(i, i)
	Label("loop")
	t := func(shift int) reg.VecVirtual {
		near, far, twice := YMM(), YMM(), YMM()
		VPMOVZXBW(Mem{Base: p[0], Index: i, Scale: 1, Disp: shift}, near)
		VPMOVZXBW(Mem{Base: p[1], Index: i, Scale: 1, Disp: shift}, far)
		VPADDW(near, near, twice)
		VPADDW(near, far, far)
		VPADDW(twice, far, far)
		return far
	}
	before, at, after := t(-1), t(0), t(1)
	three := YMM()
	VPADDW(at, at, three)
	VPADDW(at, three, three)
	VPADDW(three, before, before)
	VPADDW(even, before, before)
	VPSRLW(Imm(4), before, before)
	VPADDW(three, after, after)
	VPADDW(odd, after, after)
	VPSRLW(Imm(4), after, after)
	VPSLLW(Imm(8), after, after)
	VPOR(before, after, after)
	VMOVDQU(after, Mem{Base: p[2], Index: i, Scale: 2})
	ADDQ(Imm(16), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	asm.End()
}

func ycbcrRow() {
	asm.Only("ycbcrRowAVX2", "n int, y, cb, cr, dst *uint8",
		"is, for n a multiple of 8 above 0, with u = cb[i]-128, v = cr[i]-128 (it writes 8 bytes behind dst[3*n-1] too):", "",
		"\tfor i := range n {", "\t\tdst[3*i] = clip(y[i] + (91881*v+32768)>>16)", "\t\tdst[3*i+1] = clip(y[i] + (-22554*u-46802*v+32768)>>16)",
		"\t\tdst[3*i+2] = clip(y[i] + (116130*u+32768)>>16)", "\t}")
	s := isas[1]
	n, p := Load(Param("n"), GP64()), pointers("y", "cb", "cr", "dst")
	minus := func(c int32) uint32 { return uint32(-c) }
	middle, round, zero, most := s.every(128), s.every(32768), s.zeroInts(), s.every(255)
	red, blue, greenU, greenV := s.every(91881), s.every(116130), s.every(minus(22554)), s.every(minus(46802))
	pack := GLOBL("pack", 8|16) // three bytes of each four, in both halves
	for i, v := range []uint64{0x0908060504020100, 0xffffffff0e0d0c0a, 0x0908060504020100, 0xffffffff0e0d0c0a} {
		DATA(8*i, U64(v))
	}
	join := lanes8("join", 0, 1, 2, 4, 5, 6)
	i, to := GP64(), p[3]
	XORQ(i, i)
	Label("loop")
	bytes := func(k int) reg.VecVirtual {
		v := YMM()
		VPMOVZXBD(Mem{Base: p[k], Index: i, Scale: 1}, v)
		return v
	}
	y, u, v := bytes(0), bytes(1), bytes(2)
	VPSUBD(middle, u, u)
	VPSUBD(middle, v, v)
	channel := func(sum reg.VecVirtual) reg.VecVirtual {
		VPADDD(round, sum, sum)
		VPSRAD(Imm(16), sum, sum)
		VPADDD(y, sum, sum)
		VPMAXSD(zero, sum, sum)
		VPMINSD(most, sum, sum)
		return sum
	}
	r, g, b, gu := YMM(), YMM(), YMM(), YMM()
	VPMULLD(red, v, r)
	VPMULLD(blue, u, b)
	VPMULLD(greenU, u, gu)
	VPMULLD(greenV, v, g)
	VPADDD(gu, g, g)
	r, g, b = channel(r), channel(g), channel(b)
	VPSLLD(Imm(8), g, g)
	VPSLLD(Imm(16), b, b)
	VPOR(g, r, r)
	VPOR(b, r, r)
	VPSHUFB(pack, r, r)
	VPERMD(r, join, r)
	VMOVDQU(r, Mem{Base: to})
	ADDQ(Imm(24), to)
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	asm.End()
}
