package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func hinges() {
	for _, s := range isas {
		s.roots()
		s.hinges()
	}
}

// roots emits the end of a row of distances.
func (s isa) roots() {
	s.text("roots", "x2, near float32, n int, y2, row *float32) (most float32", "most = rootsGeneric(x2, near, y2[:n], row[:n])")
	x2, near := s.broadcast(param("x2")), s.broadcast(param("near"))
	n, zero, most, sign := Load(Param("n"), GP64()), s.zero(), s.zero(), s.vec()
	VPCMPEQD(sign.AsY(), sign.AsY(), sign.AsY())
	VPSLLD(Imm(31), sign.AsY(), sign.AsY())
	if s.is512() {
		VPBROADCASTD(sign.AsX(), sign)
	}
	s.each(n, pointers("y2", "row"), false, func(m []Mem, p part) {
		sum, row, limit := s.load(m[0], p), s.load(m[1], p), s.vec()
		VADDPS(x2, sum, sum)
		VMULPS(near, sum, limit)
		VADDPS(row, row, row)
		VSUBPS(row, sum, sum)
		VMAXPS(sum, zero, sum) // keeps the NaN of its second source
		mark := s.keep(greater, limit, sum, sign)
		VSUBPS(sum, limit, limit)
		VPMAXSD(limit, most, most) // above 0, larger numbers are larger integers
		VSQRTPS(sum, sum)
		if s.is512() {
			VPORD(mark, sum, sum)
		} else {
			VORPS(mark, sum, sum)
		}
		s.store(sum, m[1], p)
	})
	y, high := most.AsY(), YMM()
	if s.is512() {
		VEXTRACTI64X4(Imm(1), most, high)
		VPMAXSD(high, y, y)
	}
	x, other := most.AsX(), XMM()
	VEXTRACTI128(Imm(1), y, other)
	VPMAXSD(other, x, x)
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(Imm(order), x, other)
		VPMAXSD(other, x, x)
	}
	VMOVSS(x, result("most"))
	asm.End()
}

// hinges emits the weights of a row of distances, four vectors at a time.
func (s isa) hinges() {
	const unroll = 4
	s.text("hinges", "base float32, m int, cut, add *float32, count *int32, n int, d, w *float32, sums *float64",
		"// n a multiple of 64", "hingesGeneric(base, cut[:m], add[:m], count[:m], d[:n], w[:n], sums)")
	m, n := Load(Param("m"), GP64()), Load(Param("n"), GP64())
	cut, add, count := Load(Param("cut"), GP64()), Load(Param("add"), GP64()), Load(Param("count"), GP64())
	d, w, sums := Load(Param("d"), GP64()), Load(Param("w"), GP64()), Load(Param("sums"), GP64())
	base, r, size := param("base"), GP64(), 4*s.lanes
	Label("block")
	var row, f [unroll]reg.VecVirtual
	for v := range unroll {
		row[v], f[v] = s.vec(), s.broadcast(base)
		VMOVUPS(Mem{Base: d, Disp: size * v}, row[v])
	}
	XORQ(r, r)
	CMPQ(m, Imm(0))
	JEQ(LabelRef("weigh"))
	Label("cut")
	t, a, hits := s.broadcast(Mem{Base: cut, Index: r, Scale: 4}), s.broadcast(Mem{Base: add, Index: r, Scale: 4}), GP32()
	for v := range unroll {
		bits := GP32()
		if s.is512() {
			k := K()
			VCMPPS(Imm(less), t, row[v], k)
			VADDPS(a, f[v], k, f[v])
			KMOVW(k, bits)
		} else {
			below := s.vec()
			VCMPPS(Imm(less), t, row[v], below)
			VMOVMSKPS(below, bits)
			VANDPS(a, below, below)
			VADDPS(below, f[v], f[v])
		}
		POPCNTL(bits, bits)
		if v == 0 {
			MOVL(bits, hits)
		} else {
			ADDL(bits, hits)
		}
	}
	ADDL(hits, Mem{Base: count, Index: r, Scale: 4})
	INCQ(r)
	CMPQ(r, m)
	JLT(LabelRef("cut"))
	Label("weigh")
	zero := s.zero()
	for v := range unroll {
		q := s.vec()
		VDIVPS(row[v], f[v], q)
		q = s.keep(greater, row[v], zero, q)
		VMOVUPS(q, Mem{Base: w, Disp: size * v})
		lane := v * s.lanes % 16
		for half := range 2 {
			at := lane + half*s.lanes/2
			x, y := s.wideHalf(row[v], half), s.wideHalf(f[v], half)
			s.accumulate(Mem{Base: sums, Disp: 8 * at}, func(sum reg.VecVirtual) { VFMADD231PD(x, y, sum) }) // the product is exact
			z := s.wideHalf(q, half)
			s.accumulate(Mem{Base: sums, Disp: 8 * (16 + at)}, func(sum reg.VecVirtual) { VADDPD(z, sum, sum) })
		}
	}
	ADDQ(U32(uint32(unroll*size)), d)
	ADDQ(U32(uint32(unroll*size)), w)
	SUBQ(Imm(uint64(unroll*s.lanes)), n)
	JNZ(LabelRef("block"))
	asm.End()
}

// wideHalf returns the lower (0) or upper (1) numbers of v as float64.
func (s isa) wideHalf(v reg.VecVirtual, half int) reg.VecVirtual {
	out, h := s.vec(), s.half()
	switch {
	case half == 0 && s.is512():
		VCVTPS2PD(v.AsY(), out)
		return out
	case half == 0:
		VCVTPS2PD(v.AsX(), out)
		return out
	case s.is512():
		VEXTRACTF64X4(Imm(1), v, h)
	default:
		VEXTRACTF128(Imm(1), v, h)
	}
	VCVTPS2PD(h, out)
	return out
}

// accumulate changes a vector in memory.
func (s isa) accumulate(m Mem, change func(sum reg.VecVirtual)) {
	sum := s.vec()
	VMOVUPD(m, sum)
	change(sum)
	VMOVUPD(sum, m)
}
