package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func resample() {
	for _, s := range isas {
		s.resampleRow()
		s.resampleColumns()
	}
}

// half and shift round the sums: they are numbers of 22 bits below the point.
const (
	resampleHalf  = 1 << 21
	resampleShift = 22
)

// every broadcasts a constant to 32-bit lanes.
func (s isa) every(c uint32) reg.VecVirtual {
	bits, x, v := GP32(), XMM(), s.vec()
	MOVL(U32(c), bits)
	VMOVD(bits, x)
	VPBROADCASTD(x, v)
	return v
}

func (s isa) zeroInts() reg.VecVirtual {
	v := s.vec()
	if s.is512() {
		VPXORD(v, v, v)
	} else {
		VPXOR(v, v, v)
	}
	return v
}

// resampleRow sums four inputs of three bytes at a time: lane 3j+c has byte c of input j,
// so that one vector of AVX-512 or two of AVX2 hold all products, and the lanes of one
// byte are added at the end.
func (s isa) resampleRow() {
	asm.Func("resampleRow", s.name, "n, groups int, at, w *int32, src, dst *uint8",
		"is, for n and groups above 0 (it writes dst[3*n] too, and reads 16 bytes for a group):", "",
		"\tfor i := range n {", "\t\tfor c := range 3 {", "\t\t\tsum := int32(1 << 21)",
		"\t\t\tfor j := range 4 * groups {", "\t\t\t\tsum += int32(src[3*(int(at[i])+j)+c]) * w[16*(i*groups+j/4)+3*(j%4)+c]", "\t\t\t}",
		"\t\t\tdst[3*i+c] = uint8(min(max(sum>>22, 0), 255))", "\t\t}", "\t}")
	n, groups, p := Load(Param("n"), GP64()), Load(Param("groups"), GP64()), pointers("at", "w", "src", "dst")
	at, w, src, dst := p[0], p[1], p[2], p[3]
	half := isa{"", 4}.four(resampleHalf)
	var skip3, skip6, skip1 reg.VecVirtual
	if !s.is512() {
		skip3, skip6, skip1 = lanes8("skip3", 3, 4, 5), lanes8("skip6", 6, 7, 0), lanes8("skip1", 1, 2, 3)
	}
	from, left, out := GP64(), GP64(), GP32()
	Label("output")
	MOVLQSX(Mem{Base: at}, from)
	LEAQ(Mem{Base: from, Index: from, Scale: 2}, from)
	ADDQ(src, from)
	MOVQ(groups, left)
	a, b := s.zeroInts(), reg.VecVirtual(nil)
	if !s.is512() {
		b = s.zeroInts()
	}
	Label("group")
	v := s.vec()
	VPMOVZXBD(Mem{Base: from}, v)
	VPMULLD(Mem{Base: w}, v, v)
	VPADDD(v, a, a)
	if b != nil {
		u := s.vec()
		VPMOVZXBD(Mem{Base: from, Disp: 8}, u)
		VPMULLD(Mem{Base: w, Disp: 32}, u, u)
		VPADDD(u, b, b)
	}
	ADDQ(Imm(12), from)
	ADDQ(Imm(64), w)
	DECQ(left)
	JNZ(LabelRef("group"))
	var sum reg.VecVirtual
	if s.is512() {
		t := s.vec()
		VALIGND(Imm(6), a, a, t)
		VPADDD(t, a, a)
		VALIGND(Imm(3), a, a, t)
		VPADDD(t, a, a)
		sum = a
	} else {
		t, u := s.vec(), s.vec()
		VPERMD(a, skip3, t) // lanes 3 to 5
		VPBLENDD(Imm(0xc0), a, b, u)
		VPERMD(u, skip6, u) // 6, 7 and 8
		VPERMD(b, skip1, b) // 9 to 11
		VPADDD(t, a, a)
		VPADDD(u, b, b)
		VPADDD(b, a, a)
		sum = a
	}
	x := XMM()
	VPADDD(sum.AsX(), half, x)
	VPSRAD(Imm(resampleShift), x, x)
	VPACKSSDW(x, x, x)
	VPACKUSWB(x, x, x)
	VMOVD(x, out)
	MOVL(out, Mem{Base: dst})
	ADDQ(Imm(3), dst)
	ADDQ(Imm(4), at)
	DECQ(n)
	JNZ(LabelRef("output"))
	asm.End()
}

// four broadcasts a constant to the lanes of 128 bits.
func (isa) four(c uint32) reg.VecVirtual {
	bits, x := GP32(), XMM()
	MOVL(U32(c), bits)
	VMOVD(bits, x)
	VPBROADCASTD(x, x)
	return x
}

// lanes8 returns a vector of AVX2 that picks lanes.
func lanes8(name string, pick ...uint32) reg.VecVirtual {
	m := GLOBL(name, 8|16)
	for i := range 8 {
		v := uint32(0)
		if i < len(pick) {
			v = pick[i]
		}
		DATA(4*i, U32(v))
	}
	v := YMM()
	VMOVDQU(m, v)
	return v
}

// resampleColumns sums rows, a vector of columns at a time; the last vector ends with the
// last column, so that some are computed twice.
func (s isa) resampleColumns() {
	asm.Func("resampleColumns", s.name, "n, taps, stride int, w *int32, src, dst *uint8",
		"is, for n of at least a vector's lanes and taps above 0:", "",
		"\tfor i := range n {", "\t\tsum := int32(1 << 21)", "\t\tfor j := range taps {", "\t\t\tsum += int32(src[j*stride+i]) * w[j]", "\t\t}",
		"\t\tdst[i] = uint8(min(max(sum>>22, 0), 255))", "\t}")
	n, taps, stride := Load(Param("n"), GP64()), Load(Param("taps"), GP64()), Load(Param("stride"), GP64())
	p := pointers("w", "src", "dst")
	w, src, dst := p[0], p[1], p[2]
	half, zero := s.every(resampleHalf), s.zeroInts()
	i, j, from := GP64(), GP64(), GP64()
	SUBQ(Imm(uint64(s.lanes)), n) // where the last vector begins
	XORQ(i, i)
	Label("vector")
	sum := s.vec()
	if s.is512() {
		VMOVDQA32(half, sum)
	} else {
		VMOVDQA(half, sum)
	}
	XORQ(j, j)
	LEAQ(Mem{Base: src, Index: i, Scale: 1}, from)
	Label("tap")
	v, k := s.vec(), s.vec()
	VPBROADCASTD(Mem{Base: w, Index: j, Scale: 4}, k)
	VPMOVZXBD(Mem{Base: from}, v)
	VPMULLD(k, v, v)
	VPADDD(v, sum, sum)
	ADDQ(stride, from)
	INCQ(j)
	CMPQ(j, taps)
	JLT(LabelRef("tap"))
	VPSRAD(Imm(resampleShift), sum, sum)
	to := Mem{Base: dst, Index: i, Scale: 1}
	if s.is512() {
		VPMAXSD(zero, sum, sum)
		VPMOVUSDB(sum, to)
	} else {
		VPACKSSDW(sum, sum, sum)
		VPACKUSWB(sum, sum, sum)
		high := XMM()
		VEXTRACTI128(Imm(1), sum, high)
		VPUNPCKLDQ(high, sum.AsX(), high)
		VMOVQ(high, to)
	}
	CMPQ(i, n)
	JEQ(LabelRef("done"))
	ADDQ(Imm(uint64(s.lanes)), i)
	CMPQ(i, n)
	JLE(LabelRef("vector"))
	MOVQ(n, i)
	JMP(LabelRef("vector"))
	Label("done")
	asm.End()
}
