// Command bf16 writes bf16_amd64.s of package kernel: what surrounds products of bfloat16.
// Run it by go generate in package kernel.
package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	round()
	pairs()
	finish()
	masked()
	pool()
	unpool()
	asm.Write()
}

// rounding holds the constants of rounding to bfloat16.
type rounding struct{ one, half, quiet reg.VecVirtual }

func spread(v uint64) reg.VecVirtual {
	r, z := GP32(), ZMM()
	MOVL(U32(v), r)
	VPBROADCASTD(r, z)
	return z
}

func newRounding() rounding { return rounding{spread(1), spread(0x7fff), spread(0x400000)} }

// round makes the upper halves of v's numbers those of v rounded to bfloat16.
func (r rounding) round(v reg.VecVirtual) {
	t, nan := ZMM(), K()
	VCMPPS(Imm(3), v, v, nan) // unordered
	VPSRLD(Imm(16), v, t)
	VPANDD(r.one, t, t)
	VPADDD(r.half, t, t)
	VPADDD(v, t, t)
	VPORD(r.quiet, v, nan, t)
	VMOVDQA32(t, v)
}

// store rounds v and writes it.
func (r rounding) store(v reg.VecVirtual, to Mem) {
	r.round(v)
	VPSRLD(Imm(16), v, v)
	VPMOVDW(v, to)
}

// loop runs body for n numbers in vectors of 16, and again with a mask for the rest. i
// counts numbers.
func loop(n reg.GPVirtual, body func(i reg.GPVirtual, mask reg.OpmaskVirtual)) {
	i, end := GP64(), GP64()
	all, part := K(), K()
	KXNORW(all, all, all)
	XORQ(i, i)
	MOVQ(n, end)
	SUBQ(Imm(16), end)
	JLT(LabelRef("rest"))
	Label("loop")
	body(i, all)
	ADDQ(Imm(16), i)
	CMPQ(i, end)
	JLE(LabelRef("loop"))
	Label("rest")
	MOVQ(n, reg.RCX)
	SUBQ(i, reg.RCX)
	JZ(LabelRef("end"))
	bits := GP32()
	MOVL(U32(1), bits)
	SHLL(reg.CL, bits)
	DECL(bits)
	KMOVW(bits, part)
	body(i, part)
	Label("end")
	asm.End()
}

func at(p reg.Register, i reg.Register, size uint8) Mem { return Mem{Base: p, Index: i, Scale: size} }

func pointer(name string) reg.Register { return Load(Param(name), GP64()) }

func round() {
	asm.Only("roundBF16AVX512", "n int, x *float32, y *uint16", "sets y[i] to x[i] rounded to bfloat16, for n above 0.")
	n := GP64()
	Load(Param("n"), n)
	x, y, r := pointer("x"), pointer("y"), newRounding()
	loop(n, func(i reg.GPVirtual, mask reg.OpmaskVirtual) {
		v := ZMM()
		VMOVUPS_Z(at(x, i, 4), mask, v)
		r.round(v)
		VPSRLD(Imm(16), v, v)
		VPMOVDW(v, mask, at(y, i, 2))
	})
}

func pairs() {
	asm.Only("pairsBF16AVX512", "n int, even, odd *float32, y *uint32", "sets y[i] to the bfloat16 of even[i], and in its upper half that of odd[i], for n above 0.")
	n := GP64()
	Load(Param("n"), n)
	even, odd, y, r := pointer("even"), pointer("odd"), pointer("y"), newRounding()
	high := spread(0xffff0000)
	loop(n, func(i reg.GPVirtual, mask reg.OpmaskVirtual) {
		v, w := ZMM(), ZMM()
		VMOVUPS_Z(at(even, i, 4), mask, v)
		VMOVUPS_Z(at(odd, i, 4), mask, w)
		r.round(v)
		r.round(w)
		VPSRLD(Imm(16), v, v)
		VPANDD(high, w, w)
		VPORD(v, w, w)
		VMOVDQU32(w, mask, at(y, i, 4))
	})
}

func finish() {
	asm.Only("finishBF16AVX512", "n int, x, bias *float32, relu bool, y *uint16", "sets y[i] to x[i] + bias[i], or to the larger of that and 0 where relu, rounded to", "bfloat16, for n above 0.")
	n := GP64()
	Load(Param("n"), n)
	x, bias, y, r := pointer("x"), pointer("bias"), pointer("y"), newRounding()
	zero, linear := ZMM(), linearMask()
	VPXORD(zero, zero, zero)
	loop(n, func(i reg.GPVirtual, mask reg.OpmaskVirtual) {
		v, w, k := ZMM(), ZMM(), K()
		VMOVUPS_Z(at(x, i, 4), mask, v)
		VMOVUPS_Z(at(bias, i, 4), mask, w)
		VADDPS(w, v, v)
		VCMPPS(Imm(22), zero, v, k) // not at most
		KORW(linear, k, k)
		VMOVAPS_Z(v, k, v)
		r.round(v)
		VPSRLD(Imm(16), v, v)
		VPMOVDW(v, mask, at(y, i, 2))
	})
}

// linearMask is all ones where relu is false, and otherwise 0.
func linearMask() reg.OpmaskVirtual {
	bits, k := GP32(), K()
	b := GP64()
	Load(Param("relu"), b.As8())
	MOVBLZX(b.As8(), bits)
	DECL(bits)
	KMOVW(bits, k)
	return k
}

func masked() {
	asm.Only("maskBF16AVX512", "n int, x *float32, on, y *uint16", "sets y[i] to x[i] rounded to bfloat16, or to 0 where on[i] is 0, for n above 0.")
	n := GP64()
	Load(Param("n"), n)
	x, on, y, r := pointer("x"), pointer("on"), pointer("y"), newRounding()
	loop(n, func(i reg.GPVirtual, mask reg.OpmaskVirtual) {
		v, w, k := ZMM(), YMM(), K()
		VMOVUPS_Z(at(x, i, 4), mask, v)
		VMOVDQU16_Z(at(on, i, 2), mask, w)
		VPTESTMW(w, w, k)
		r.round(v)
		VPSRLD(Imm(16), v, v)
		VMOVDQA32_Z(v, k, v)
		VPMOVDW(v, mask, at(y, i, 2))
	})
}
