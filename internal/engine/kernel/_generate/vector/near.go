package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nearPairs emits the pairs of a block whose products, from sums of bytes, are large enough.
// A branch passes over 64 columns without any.
func nearPairs() {
	TEXT("nearPairsAVX512", NOSPLIT, "func(p *"+asm.Struct("../topk_fine.go", "nearArgs")+") int")
	t := asm.LoadArgs("p")
	upper, middle := t.Load("upper"), t.Load("middle")
	row, col, dot := t.Load("row"), t.Load("col"), t.Load("dot")
	i := GP64()
	XORQ(i, i)

	by, number, step, columns, index := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	first := GLOBL("lanes", 8|16)
	for l := range 16 {
		DATA(4*l, U32(uint32(l)))
	}
	constant := func(v uint32, to reg.VecVirtual) {
		r := GP32()
		MOVL(U32(v), r)
		VPBROADCASTD(r, to)
	}
	constant(0x43800000, by) // 256
	constant(16, step)
	VPXORD(number, number, number)

	Label("row")
	scale, reach, other := ZMM(), ZMM(), ZMM()
	pointer := GP64()
	for _, v := range []struct {
		name string
		to   reg.VecVirtual
	}{{"rowScale", scale}, {"reach", reach}, {"otherReach", other}} {
		MOVQ(t.Mem(v.name), pointer)
		VBROADCASTSS(Mem{Base: pointer, Index: i, Scale: 4}, v.to)
	}
	VMULPS(by, scale, scale)
	need, otherNeed, colScale := t.Load("need"), t.Load("otherNeed"), t.Load("colScale")
	left := t.Load("cols")
	VMOVDQU32(first, columns)
	Label("columns")
	var x [4]reg.VecVirtual
	var k [4]reg.OpmaskVirtual
	for v := range 4 {
		middles, t1, t2, k2 := ZMM(), ZMM(), ZMM(), K()
		x[v], k[v] = ZMM(), K()
		VCVTDQ2PS(at(upper, 64*v), x[v])
		VCVTDQ2PS(at(middle, 64*v), middles)
		VFMADD213PS(middles, by, x[v])
		VMULPS(at(colScale, 64*v), scale, t1)
		VMULPS(t1, x[v], x[v])
		VMOVUPS(at(need, 64*v), t1)
		VSUBPS(reach, t1, t1)
		VCMPPS(Imm(greaterEqual), t1, x[v], k[v])
		VMOVUPS(at(otherNeed, 64*v), t2)
		VSUBPS(other, t2, t2)
		VCMPPS(Imm(greaterEqual), t2, x[v], k2)
		KORW(k2, k[v], k[v])
	}
	a, b := K(), K()
	KORW(k[0], k[1], a)
	KORW(k[2], k[3], b)
	KORTESTW(a, b)
	JZ(LabelRef("none"))
	VMOVDQA32(columns, index)
	for v := range 4 {
		close, closeCol := ZMM(), ZMM()
		n := GP32()
		VCOMPRESSPS_Z(x[v], k[v], close)
		VPCOMPRESSD_Z(index, k[v], closeCol)
		VMOVUPS(close, at(dot, 0))
		VMOVDQU32(closeCol, at(col, 0))
		VMOVDQU32(number, at(row, 0))
		KMOVW(k[v], n)
		POPCNTL(n, n)
		for _, p := range []reg.Register{dot, col, row} {
			LEAQ(Mem{Base: p, Index: n.As64(), Scale: 4}, p)
		}
		if v < 3 {
			VPADDD(step, index, index)
		}
	}
	Label("none")
	for range 4 {
		VPADDD(step, columns, columns)
	}
	for _, p := range []reg.Register{upper, middle, need, otherNeed, colScale} {
		ADDQ(U32(256), p)
	}
	SUBQ(Imm(64), left)
	JNZ(LabelRef("columns"))
	one := ZMM()
	constant(1, one)
	VPADDD(one, number, number)
	INCQ(i)
	CMPQ(t.Mem("rows"), i)
	JNE(LabelRef("row"))
	SUBQ(t.Mem("dot"), dot)
	SHRQ(Imm(2), dot)
	Store(dot, ReturnIndex(0))
	asm.End()
}

// countNear emits the place of each pair's key among the sorted cuts of its query.
func countNear() {
	TEXT("countNearAVX512", NOSPLIT, "func(p *"+asm.Struct("../topk_places.go", "placeArgs")+") int")
	t := asm.LoadArgs("p")
	dot, item, query := t.Load("dot"), t.Load("item"), t.Load("query")
	unsure, e, p, nobody := t.Load("unsure"), GP64(), GP64(), GP64()
	LEAQ(AllocLocal(8), nobody)
	XORQ(e, e)
	factor, width := XMM(), XMM()
	VMOVSS(t.Mem("factor"), factor)
	VMOVSS(t.Mem("width"), width)
	Label("pair")
	from, to := GP64(), GP64()
	MOVLQSX(Mem{Base: item, Index: e, Scale: 4}, to)
	MOVLQSX(Mem{Base: query, Index: e, Scale: 4}, from)
	key, low, high := XMM(), ZMM(), ZMM()
	VMOVSS(Mem{Base: dot, Index: e, Scale: 4}, key)
	MOVQ(t.Mem("add"), p)
	VFMADD213SS(Mem{Base: p, Index: to, Scale: 4}, factor, key)
	lo, hi := XMM(), XMM()
	VSUBSS(width, key, lo)
	VADDSS(width, key, hi)
	VBROADCASTSS(lo, low)
	VBROADCASTSS(hi, high)
	MOVQ(t.Mem("base"), p)
	MOVQ(Mem{Base: p, Index: from, Scale: 8, Disp: 8}, to)
	MOVQ(Mem{Base: p, Index: from, Scale: 8}, from)
	// Bits of cuts below low, and of cuts up to high.
	below, most := GP64(), GP64()
	MOVQ(t.Mem("cut"), p)
	LEAQ(Mem{Base: p, Index: from, Scale: 4}, p)
	cuts := ZMM()
	k1, k2 := K(), K()
	VMOVUPS(at(p, 0), cuts)
	VCMPPS(Imm(greater), cuts, low, k1)
	VCMPPS(Imm(greaterEqual), cuts, high, k2)
	KMOVW(k1, below.As32())
	KMOVW(k2, most.As32())
	SUBQ(from, to) // cuts of the query
	CMPQ(to, Imm(16))
	JLE(LabelRef("few"))
	VMOVUPS(at(p, 64), cuts)
	VCMPPS(Imm(greater), cuts, low, k1)
	VCMPPS(Imm(greaterEqual), cuts, high, k2)
	KMOVW(k1, p.As32())
	SHLQ(Imm(16), p)
	ORQ(p, below)
	KMOVW(k2, p.As32())
	SHLQ(Imm(16), p)
	ORQ(p, most)
	Label("few")
	BZHIQ(to, below, below)
	BZHIQ(to, most, most)
	POPCNTQ(below, below)
	POPCNTQ(most, most)
	CMPQ(below, most)
	JNE(LabelRef("between"))
	// Beyond all cuts, as every second pair may be, a number is raised that nobody reads.
	MOVQ(t.Mem("count"), p)
	ADDQ(below, from)
	LEAQ(Mem{Base: p, Index: from, Scale: 4}, p)
	CMPQ(below, to)
	CMOVQEQ(nobody, p)
	INCL(at(p, 0))
	JMP(LabelRef("next"))
	Label("between")
	MOVL(e.As32(), at(unsure, 0))
	ADDQ(Imm(4), unsure)
	Label("next")
	INCQ(e)
	CMPQ(t.Mem("pairs"), e)
	JNE(LabelRef("pair"))
	SUBQ(t.Mem("unsure"), unsure)
	SHRQ(Imm(2), unsure)
	Store(unsure, ReturnIndex(0))
	asm.End()
}
