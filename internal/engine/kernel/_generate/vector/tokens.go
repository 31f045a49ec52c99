package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tokens emits the kernels of transformers: GELU, softmax, layer normalization.
func tokens() {
	for _, s := range isas {
		s.gelu(false)
		s.gelu(true)
		s.greatest()
		s.expLess()
		s.softmaxBack()
		s.center()
		s.scaleAdd(false)
		s.scaleAdd(true)
		s.standardizeBack()
	}
}

// tailCoefficients are halves of those of formula 7.1.26 of Abramowitz and Stegun, the
// highest first; tailSlope is its p / sqrt(2).
var tailCoefficients = []float32{1.061405429 / 2, -1.453152027 / 2, 1.421413741 / 2, -0.284496736 / 2, 0.254829592 / 2}

const (
	tailSlope     = 0.3275911 * 0.7071067811865476
	normalDensity = 0.3989422804014327
)

func (s isa) gelu(back bool) {
	name, signature, last := "gelu", "n int, x, y *float32", "y[i] = x[i] * phi"
	at := []string{"x", "y"}
	if back {
		name, signature, last = "geluBack", "n int, x, dy, dx *float32", "dx[i] = dy[i] * (phi + x[i]*e*density)"
		at = []string{"x", "dy", "dx"}
	}
	s.text(name, signature,
		"for i := range n {",
		"\te := exp(-0.5 * x[i] * x[i])",
		"\tt := 1 / (1 + tailSlope*abs(x[i]))",
		"\ttail := tailOf(t) * e",
		"\tphi := tail // 1 - tail unless x[i] < 0",
		"\t"+last,
		"}")
	values := append([]float32{-0.5, tailSlope}, append(expConstants, tailCoefficients...)...)
	if back {
		values = append(values, normalDensity)
	}
	c, n, zero := s.constants(values...), Load(Param("n"), GP64()), s.zero()
	s.each(n, pointers(at...), false, func(m []Mem, p part) {
		x, e := s.load(m[0], p), s.vec()
		VMULPS(c.get(-0.5), x, e)
		VMULPS(x, e, e)
		e = c.exp(e)
		t := s.vec() // |x|
		VPSLLD(Imm(1), x, t)
		VPSRLD(Imm(1), t, t)
		VMULPS(c.get(tailSlope), t, t)
		VADDPS(c.get(1), t, t)
		VDIVPS(t, c.get(1), t)
		tail := s.vec()
		VMOVAPS(c.get(tailCoefficients[0]), tail)
		for _, v := range tailCoefficients[1:] {
			VMULPS(t, tail, tail)
			VADDPS(c.get(v), tail, tail)
		}
		VMULPS(t, tail, tail)
		VMULPS(e, tail, tail)
		phi := s.vec()
		VSUBPS(tail, c.get(1), phi)
		s.choose(less, x, zero, tail, phi)
		if !back {
			VMULPS(phi, x, x)
			s.store(x, m[1], p)
			return
		}
		VMULPS(e, x, x)
		VMULPS(c.get(normalDensity), x, x)
		VADDPS(phi, x, x)
		VMULPS(s.load(m[1], p), x, x)
		s.store(x, m[2], p)
	})
	asm.End()
}

// greatest has no masked rest: its last vector may overlap the one before.
func (s isa) greatest() {
	s.text("greatest", "n int, x *float32) (ret float32",
		"ret = max(x[:n]...) // n is at least a vector's lanes; a NaN may be passed over")
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	most := s.vec()
	VMOVUPS(Mem{Base: x}, most)
	SUBQ(Imm(uint64(s.lanes)), n)
	i := GP64()
	XORQ(i, i)
	Label("next")
	CMPQ(i, n)
	JGE(LabelRef("last"))
	VMAXPS(Mem{Base: x, Index: i, Scale: 4}, most, most)
	ADDQ(Imm(uint64(s.lanes)), i)
	JMP(LabelRef("next"))
	Label("last")
	VMAXPS(Mem{Base: x, Index: n, Scale: 4}, most, most)
	y, high := most.AsY(), YMM()
	if s.is512() {
		VEXTRACTF64X4(Imm(1), most, high)
		VMAXPS(high, y, y)
	}
	low, other := most.AsX(), XMM()
	VEXTRACTF128(Imm(1), y, other)
	VMAXPS(other, low, low)
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(Imm(order), low, other)
		VMAXPS(other, low, low)
	}
	VMOVSS(low, result("ret"))
	asm.End()
}

func (s isa) expLess() {
	s.vector("expLess", "top float32, n int, x *float32", "x[i] = exp(x[i] - top)")
	c, n, top := s.constants(expConstants...), Load(Param("n"), GP64()), s.broadcast(param("top"))
	s.each(n, pointers("x"), false, func(m []Mem, p part) {
		x := s.load(m[0], p)
		VSUBPS(top, x, x)
		s.store(c.exp(x), m[0], p)
	})
	asm.End()
}

func (s isa) softmaxBack() {
	s.vector("softmaxBack", "along float32, n int, p, dp *float32", "dp[i] = p[i] * (dp[i] - along)")
	n, along := Load(Param("n"), GP64()), s.broadcast(param("along"))
	s.each(n, pointers("p", "dp"), false, func(m []Mem, p part) {
		d := s.load(m[1], p)
		VSUBPS(along, d, d)
		VMULPS(s.load(m[0], p), d, d)
		s.store(d, m[1], p)
	})
	asm.End()
}

func (s isa) center() {
	s.vector("center", "mean float64, n int, x, y *float32", "y[i] = float32(float64(x[i]) - mean)")
	n, mean := Load(Param("n"), GP64()), s.broadcast64(param("mean"))
	s.each(n, pointers("x", "y"), true, func(m []Mem, p part) {
		x := s.widen(m[0], p)
		VSUBPD(mean, x, x)
		s.narrow(x, m[1], p)
	})
	asm.End()
}

func (s isa) scaleAdd(add bool) {
	name, signature, loop := "scaleBy", "n int, x, scale, y *float32", "y[i] = x[i] * scale[i]"
	at := []string{"x", "scale", "y"}
	if add {
		name, signature, loop = "scaleAdd", "n int, x, scale, y, shift *float32", "y[i] = float32(x[i]*scale[i]) + shift[i]"
		at = append(at, "shift")
	}
	s.vector(name, signature, loop)
	n := Load(Param("n"), GP64())
	s.each(n, pointers(at...), false, func(m []Mem, p part) {
		x := s.load(m[0], p)
		VMULPS(s.load(m[1], p), x, x)
		if add {
			VADDPS(s.load(m[3], p), x, x)
		}
		s.store(x, m[2], p)
	})
	asm.End()
}

func (s isa) standardizeBack() {
	s.vector("standardizeBack", "mean, along, inv float32, n int, y, dy, dx *float32",
		"dx[i] = (dy[i] - mean - float32(y[i]*along)) * inv")
	n := Load(Param("n"), GP64())
	var of [3]reg.VecVirtual
	for i, name := range []string{"mean", "along", "inv"} {
		of[i] = s.broadcast(param(name))
	}
	s.each(n, pointers("y", "dy", "dx"), false, func(m []Mem, p part) {
		y, dy := s.load(m[0], p), s.load(m[1], p)
		VMULPS(of[1], y, y)
		VSUBPS(of[0], dy, dy)
		VSUBPS(y, dy, dy)
		VMULPS(of[2], dy, dy)
		s.store(dy, m[2], p)
	})
	asm.End()
}
