package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func reduce() {
	for _, s := range isas {
		s.sum()
		s.dot()
		s.squaredDistance()
		s.maxAbs()
		s.stretch()
		s.radial()
		s.finishDistances()
	}
}

// fold emits a sum in float64 over n numbers behind each pointer, in 32 lanes by
// the index modulo 32, and adds the lanes by halves: one order for both sets of
// instructions and for Go.
func (s isa) fold(names []string, term func(m []Mem, p part, sum reg.VecVirtual)) {
	lanes := s.lanes / 2
	n, at := Load(Param("n"), GP64()), pointers(names...)
	sums := make([]reg.VecVirtual, 32/lanes)
	for v := range sums {
		sums[v] = s.zero()
	}
	mems := func(v int) []Mem {
		var m []Mem
		for _, r := range at {
			m = append(m, Mem{Base: r, Disp: 4 * lanes * v})
		}
		return m
	}
	SUBQ(Imm(32), n)
	JLT(LabelRef("rest"))
	Label("block")
	for v := range sums {
		term(mems(v), whole, sums[v])
	}
	for _, r := range at {
		ADDQ(U32(128), r)
	}
	SUBQ(Imm(32), n)
	JGE(LabelRef("block"))
	Label("rest")
	ADDQ(Imm(32), n)
	JEQ(LabelRef("add"))
	if s.is512() {
		bits := GP64()
		MOVQ(n, reg.RCX)
		MOVQ(U32(1), bits)
		SHLQ(reg.CL, bits)
		DECQ(bits)
		for v := range sums {
			k := K()
			KMOVW(bits.As32(), k)
			term(mems(v), part{k: k, rest: true}, sums[v])
			SHRQ(Imm(8), bits)
			JEQ(LabelRef("add"))
		}
	} else {
		mask, i := GP64(), GP64()
		LEAQ(ones, mask)
		MOVQ(U32(32), i)
		SUBQ(n, i)
		LEAQ(Mem{Base: mask, Index: i, Scale: 4}, mask)
		for v := range sums {
			x := XMM()
			VMOVUPS(Mem{Base: mask, Disp: 16 * v}, x)
			term(mems(v), part{v: x, rest: true}, sums[v])
			SUBQ(Imm(4), n)
			JLE(LabelRef("add"))
		}
	}
	Label("add")
	for half := len(sums) / 2; half > 0; half /= 2 {
		for v := range half {
			VADDPD(sums[v+half], sums[v], sums[v])
		}
	}
	y := sums[0].AsY()
	if s.is512() {
		high := YMM()
		VEXTRACTF64X4(Imm(1), sums[0], high)
		VADDPD(high, y, y)
	}
	x, high := sums[0].AsX(), XMM()
	VEXTRACTF128(Imm(1), y, high)
	VADDPD(high, x, x)
	VUNPCKHPD(x, x, high)
	VADDSD(high, x, x)
	VMOVSD(x, result("ret"))
	asm.End()
}

// result returns the memory operand of the function's result.
func result(name string) Mem {
	b, err := Return(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

func (s isa) sum() {
	s.text("sum", "n int, x *float32) (ret float64", "ret = sumGeneric(x[:n])")
	s.fold([]string{"x"}, func(m []Mem, p part, sum reg.VecVirtual) { VADDPD(s.widen(m[0], p), sum, sum) })
}

func (s isa) dot() {
	s.text("dot", "n int, a, b *float32) (ret float64", "ret = dotGeneric(a[:n], b[:n])")
	s.fold([]string{"a", "b"}, func(m []Mem, p part, sum reg.VecVirtual) {
		a, b := s.widen(m[0], p), s.widen(m[1], p)
		VFMADD231PD(a, b, sum) // the product is exact
	})
}

func (s isa) squaredDistance() {
	s.text("squaredDistance", "n int, a, b *float32) (ret float64", "ret = squaredDistanceGeneric(a[:n], b[:n])")
	s.fold([]string{"a", "b"}, func(m []Mem, p part, sum reg.VecVirtual) {
		a, b := s.widen(m[0], p), s.widen(m[1], p)
		VSUBPD(b, a, a)
		VMULPD(a, a, a)
		VADDPD(a, sum, sum)
	})
}

func (s isa) maxAbs() {
	s.text("maxAbs", "n int, x *float32) (ret float32", "ret = maxAbsGeneric(x[:n])")
	n, most := Load(Param("n"), GP64()), s.zero()
	s.each(n, pointers("x"), false, func(m []Mem, p part) {
		x := s.load(m[0], p)
		VPSLLD(Imm(1), x, x) // without the sign, magnitudes are ordered as integers
		VPMAXUD(x, most, most)
	})
	y, high := most.AsY(), YMM()
	if s.is512() {
		VEXTRACTI64X4(Imm(1), most, high)
		VPMAXUD(high, y, y)
	}
	x, other := most.AsX(), XMM()
	VEXTRACTI128(Imm(1), y, other)
	VPMAXUD(other, x, x)
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(Imm(order), x, other)
		VPMAXUD(other, x, x)
	}
	VPSRLD(Imm(1), x, x)
	VMOVSS(x, result("ret"))
	asm.End()
}

// broadcast64 reads one float64 argument into all lanes.
func (s isa) broadcast64(m Mem) reg.VecVirtual {
	v := s.vec()
	VBROADCASTSD(m, v)
	return v
}

func (s isa) stretch() {
	s.vector("stretch", "factor float64, n int, x, y *float32", "y[i] = float32(float64(x[i]) * factor)")
	n, factor := Load(Param("n"), GP64()), s.broadcast64(param("factor"))
	s.each(n, pointers("x", "y"), true, func(m []Mem, p part) {
		x := s.widen(m[0], p)
		VMULPD(factor, x, x)
		s.narrow(x, m[1], p)
	})
	asm.End()
}

func (s isa) radial() {
	s.vector("radial", "dot, factor float64, n int, y, dy, dx *float32",
		"dx[i] = float32((float64(dy[i]) - float64(y[i])*dot) * factor)")
	n, dot, factor := Load(Param("n"), GP64()), s.broadcast64(param("dot")), s.broadcast64(param("factor"))
	s.each(n, pointers("y", "dy", "dx"), true, func(m []Mem, p part) {
		y, dy := s.widen(m[0], p), s.widen(m[1], p)
		VMULPD(dot, y, y)
		VSUBPD(y, dy, dy)
		VMULPD(factor, dy, dy)
		s.narrow(dy, m[2], p)
	})
	asm.End()
}

func (s isa) finishDistances() {
	s.vector("finishDistances", "x2 float64, n int, y2 *float64, out *float32",
		"out[i] = float32(max(x2+y2[i]-2*float64(out[i]), 0))")
	n, x2, zero := Load(Param("n"), GP64()), s.broadcast64(param("x2")), s.zero()
	at := pointers("y2", "out")
	s.each(n, at, true, func(m []Mem, p part) {
		y2 := m[0]
		y2.Scale, y2.Disp = 8, 2*y2.Disp
		sum, c := s.load64(y2, p), s.widen(m[1], p)
		VADDPD(x2, sum, sum)
		VADDPD(c, c, c)
		VSUBPD(c, sum, sum)
		VMAXPD(sum, zero, sum) // keeps the NaN of its second source
		s.narrow(sum, m[1], p)
	})
	asm.End()
}
