package main

import (
	"fmt"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	byteRows = 14 // of one tile, by 32 columns
	byteCols = 32
)

var zmm = []reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
	reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21,
	reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}

// byteTile emits products of rows of bytes: four products a lane and instruction.
func byteTile() {
	asm.Only("byteTileVNNI", "rows, k int, a *uint32, lda int, b *uint32, start *int32, scale, add, by *float32, out *float32, ld int",
		"multiplies rows (1 to 14) rows of k words of signed bytes by a panel of 32 columns of unsigned ones, k > 0:",
		"",
		"\tfor i := range rows {",
		"\t\tfor j := range 32 {",
		"\t\t\ts := start[i]",
		"\t\t\tfor p := range k {",
		"\t\t\t\tfor c := range 4 {",
		"\t\t\t\t\ts += int32(signed byte c of a[i*lda+p]) * int32(unsigned byte c of b[p*32+j])",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t\tout[i*ld+j] = fma(float32(s), by[j]*scale[i], add[i])",
		"\t\t}",
		"\t}",
	)
	rows := Load(Param("rows"), GP64())
	k := Load(Param("k"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	odd := map[int]reg.Register{1: Load(Param("lda"), GP64())}
	SHLQ(Imm(2), odd[1])
	for i := 3; i < byteRows; i += 2 {
		odd[i] = GP64()
		LEAQ(Mem{Base: odd[i-2], Index: odd[1], Scale: 2}, odd[i])
	}
	row := func(i int) Mem {
		if i == 0 {
			return Mem{Base: a}
		}
		scale := 1
		for i%2 == 0 {
			i, scale = i/2, scale*2
		}
		return Mem{Base: a, Index: odd[i], Scale: uint8(scale)}
	}
	for n := byteRows; n > 1; n-- {
		CMPQ(rows, Imm(uint64(n)))
		JEQ(LabelRef(fmt.Sprintf("rows%d", n)))
	}
	for n := 1; n <= byteRows; n++ {
		Label(fmt.Sprintf("rows%d", n))
		byteBody(n, k, a, b, row)
	}
}

func byteBody(n int, k, a, b reg.Register, row func(int) Mem) {
	sum := func(i, v int) reg.VecPhysical { return zmm[2*i+v] }
	start := Load(Param("start"), GP64())
	for i := range n {
		VPBROADCASTD(at(start, 4*i), sum(i, 0))
		VMOVDQA32(sum(i, 0), sum(i, 1))
	}
	loop := fmt.Sprintf("loop%d", n)
	Label(loop)
	VMOVDQU32(at(b, 0), zmm[28])
	VMOVDQU32(at(b, 64), zmm[29])
	for i := range n {
		x := zmm[30+i%2]
		VPBROADCASTD(row(i), x)
		VPDPBUSD(x, zmm[28], sum(i, 0))
		VPDPBUSD(x, zmm[29], sum(i, 1))
	}
	ADDQ(Imm(4), a)
	ADDQ(U32(128), b)
	DECQ(k)
	JNZ(LabelRef(loop))
	by := Load(Param("by"), GP64())
	VMOVUPS(at(by, 0), zmm[28])
	VMOVUPS(at(by, 64), zmm[29])
	scale, add := Load(Param("scale"), GP64()), Load(Param("add"), GP64())
	out, ld := Load(Param("out"), GP64()), Load(Param("ld"), GP64())
	SHLQ(Imm(2), ld)
	for i := range n {
		for v := range 2 {
			VCVTDQ2PS(sum(i, v), sum(i, v))
			VMULPS_BCST(at(scale, 4*i), zmm[28+v], zmm[30])
			VBROADCASTSS(at(add, 4*i), zmm[31])
			VFMADD213PS(zmm[31], zmm[30], sum(i, v))
			VMOVUPS(sum(i, v), at(out, 64*v))
		}
		if i+1 < n {
			ADDQ(ld, out)
		}
	}
	asm.End()
}

// scaleBytes emits the last part of byteTile for sums that are in memory.
func scaleBytes() {
	asm.Only("scaleBytesAVX512", "rows, panels int, sums *int32, scale, add, by *float32, out *float32, ld int",
		"scales rows of 32*panels sums that lie close together, rows and panels > 0:",
		"",
		"\tfor i := range rows {",
		"\t\tfor j := range 32 * panels {",
		"\t\t\tout[i*ld+j] = fma(float32(sums[i*32*panels+j]), by[j]*scale[i], add[i])",
		"\t\t}",
		"\t}",
	)
	rows, panels, sums := Load(Param("rows"), GP64()), Load(Param("panels"), GP64()), Load(Param("sums"), GP64())
	scale, add, by := Load(Param("scale"), GP64()), Load(Param("add"), GP64()), Load(Param("by"), GP64())
	out, ld := Load(Param("out"), GP64()), Load(Param("ld"), GP64())
	SHLQ(Imm(2), ld)
	own, plus, p, to, left := ZMM(), ZMM(), GP64(), GP64(), GP64()
	Label("row")
	VBROADCASTSS(at(scale, 0), own)
	VBROADCASTSS(at(add, 0), plus)
	MOVQ(by, p)
	MOVQ(out, to)
	MOVQ(panels, left)
	Label("panel")
	for v := range 2 {
		sum, factor := ZMM(), ZMM()
		VCVTDQ2PS(at(sums, 64*v), sum)
		VMULPS(at(p, 64*v), own, factor)
		VFMADD213PS(plus, factor, sum)
		VMOVUPS(sum, at(to, 64*v))
	}
	for _, q := range []reg.Register{sums, p, to} {
		ADDQ(U32(128), q)
	}
	DECQ(left)
	JNZ(LabelRef("panel"))
	ADDQ(Imm(4), scale)
	ADDQ(Imm(4), add)
	ADDQ(ld, out)
	DECQ(rows)
	JNZ(LabelRef("row"))
	asm.End()
}

// quantize emits the rounding of a row to bytes.
func quantize() {
	asm.Only("quantizeAVX512", "blocks int, x *float32, inverse float32, out *uint32, sums *float32",
		"rounds 16*blocks numbers, blocks > 0:",
		"",
		"\tfor i := range 16 * blocks {",
		"\t\tt := x[i] * inverse",
		"\t\tq := round to even(t)",
		"\t\tbyte i of out = q",
		"\t\tsums[i%16] += q",
		"\t\tsums[16+i%16] += q * q",
		"\t\tsums[32+i%16] += (t - q) * (t - q)",
		"\t\tsums[48+i%16] += t * t",
		"\t}",
	)
	blocks := Load(Param("blocks"), GP64())
	x, out, sums := Load(Param("x"), GP64()), Load(Param("out"), GP64()), Load(Param("sums"), GP64())
	inverse := ZMM()
	VBROADCASTSS(param("inverse"), inverse)
	var sum [4]reg.VecVirtual
	for v := range sum {
		sum[v] = ZMM()
		VPXORD(sum[v], sum[v], sum[v])
	}
	Label("block")
	t, q, whole := ZMM(), ZMM(), ZMM()
	VMULPS(at(x, 0), inverse, t)
	VCVTPS2DQ(t, q)
	VCVTDQ2PS(q, whole)
	VPMOVDB(q, at(out, 0))
	VADDPS(whole, sum[0], sum[0])
	VFMADD231PS(whole, whole, sum[1])
	VFMADD231PS(t, t, sum[3])
	VSUBPS(whole, t, t)
	VFMADD231PS(t, t, sum[2])
	ADDQ(Imm(64), x)
	ADDQ(Imm(16), out)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	for v := range sum {
		VMOVUPS(sum[v], at(sums, 64*v))
	}
	asm.End()
}

// dot emits one inner product in float32.
func (s isa) product32() {
	asm.Func("product32", s.name, "blocks int, a, b *float32) (float32",
		"returns the inner product of 32*blocks numbers, blocks > 0, in interleaved float32 sums.")
	blocks := Load(Param("blocks"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	sums := make([]reg.VecVirtual, 32/s.lanes)
	for v := range sums {
		sums[v] = s.vec()
		s.clear(sums[v])
	}
	Label("block")
	for v := range sums {
		x := s.vec()
		VMOVUPS(at(a, v*s.bytes()), x)
		VFMADD231PS(at(b, v*s.bytes()), x, sums[v])
	}
	ADDQ(U32(128), a)
	ADDQ(U32(128), b)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	for n := len(sums) / 2; n > 0; n /= 2 {
		for v := range n {
			VADDPS(sums[v+n], sums[v], sums[v])
		}
	}
	half := YMM()
	if s.is512() {
		VEXTRACTF64X4(Imm(1), sums[0], half)
		VADDPS(sums[0].AsY(), half, half)
	} else {
		VMOVAPS(sums[0], half)
	}
	quarter, other := XMM(), XMM()
	VEXTRACTF128(Imm(1), half, quarter)
	VADDPS(half.AsX(), quarter, quarter)
	VPERMILPS(Imm(0x4e), quarter, other)
	VADDPS(other, quarter, quarter)
	VPERMILPS(Imm(0xb1), quarter, other)
	VADDPS(other, quarter, quarter)
	Store(quarter, ReturnIndex(0))
	asm.End()
}
