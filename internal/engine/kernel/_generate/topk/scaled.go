package main

import (
	"fmt"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addScaled emits sum += c x in float64, products rounded.
func (s isa) addScaled() {
	asm.Func("addScaled", s.name, "blocks int, c float64, x *float32, sum *float64",
		"does 16*blocks numbers, blocks > 0:",
		"",
		"\tfor i := range 16 * blocks {",
		"\t\tsum[i] += float64(c * float64(x[i]))",
		"\t}",
	)
	blocks, x, sum := Load(Param("blocks"), GP64()), Load(Param("x"), GP64()), Load(Param("sum"), GP64())
	c := s.wideParam("c")
	s.overSums(blocks, sum, []reg.Register{x}, func(v int) {
		wide := s.widened(x, v)
		VMULPD(c, wide, wide)
		VADDPD(at(sum, v*s.bytes()), wide, wide)
		VMOVUPD(wide, at(sum, v*s.bytes()))
	})
}

// addDifference emits sum += c (x - y + eps) in float64, each operation rounded.
func (s isa) addDifference() {
	asm.Func("addDifference", s.name, "blocks int, c, eps float64, x, y *float32, sum *float64",
		"does 16*blocks numbers, blocks > 0:",
		"",
		"\tfor i := range 16 * blocks {",
		"\t\tsum[i] += float64(c * (float64(x[i]) - float64(y[i]) + eps))",
		"\t}",
	)
	blocks, sum := Load(Param("blocks"), GP64()), Load(Param("sum"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	c, eps := s.wideParam("c"), s.wideParam("eps")
	s.overSums(blocks, sum, []reg.Register{x, y}, func(v int) {
		wide := s.widened(x, v)
		VSUBPD(s.widened(y, v), wide, wide)
		VADDPD(eps, wide, wide)
		VMULPD(c, wide, wide)
		VADDPD(at(sum, v*s.bytes()), wide, wide)
		VMOVUPD(wide, at(sum, v*s.bytes()))
	})
}

// subtractFour emits sum -= (w0 x0 + w1 x1) + (w2 x2 + w3 x3) in float64, each operation
// rounded.
func (s isa) subtractFour() {
	asm.Func("subtractFour", s.name, "blocks int, w *float64, x0, x1, x2, x3 *float32, sum *float64",
		"does 16*blocks numbers, blocks > 0:",
		"",
		"\tfor i := range 16 * blocks {",
		"\t\tsum[i] -= (float64(w[0]*float64(x0[i])) + float64(w[1]*float64(x1[i]))) +",
		"\t\t\t(float64(w[2]*float64(x2[i])) + float64(w[3]*float64(x3[i])))",
		"\t}",
	)
	blocks, from, sum := Load(Param("blocks"), GP64()), Load(Param("w"), GP64()), Load(Param("sum"), GP64())
	var x []reg.Register
	var w []reg.VecVirtual
	for i := range 4 {
		x = append(x, Load(Param(fmt.Sprint("x", i)), GP64()))
		w = append(w, s.vec())
		VBROADCASTSD(at(from, 8*i), w[i])
	}
	s.overSums(blocks, sum, x, func(v int) {
		var p [4]reg.VecVirtual
		for i := range p {
			p[i] = s.widened(x[i], v)
			VMULPD(w[i], p[i], p[i])
		}
		VADDPD(p[1], p[0], p[0])
		VADDPD(p[3], p[2], p[2])
		VADDPD(p[2], p[0], p[0])
		total := s.vec()
		VMOVUPD(at(sum, v*s.bytes()), total)
		VSUBPD(p[0], total, total)
		VMOVUPD(total, at(sum, v*s.bytes()))
	})
}

// wideParam is a float64 parameter in every lane.
func (s isa) wideParam(name string) reg.VecVirtual {
	v := s.vec()
	VBROADCASTSD(param(name), v)
	return v
}

// widened is vector v of the float32 numbers at x, in float64.
func (s isa) widened(x reg.Register, v int) reg.VecVirtual {
	wide := s.vec()
	VCVTPS2PD(at(x, v*s.bytes()/2), wide)
	return wide
}

// overSums emits body for the vectors of 16 sums, and goes on to the next 16, so many
// times, then the function's end.
func (s isa) overSums(blocks, sum reg.Register, x []reg.Register, body func(vector int)) {
	Label("block")
	for v := range 32 / s.lanes {
		body(v)
	}
	ADDQ(U32(128), sum)
	for _, p := range x {
		ADDQ(Imm(64), p)
	}
	DECQ(blocks)
	JNZ(LabelRef("block"))
	asm.End()
}
