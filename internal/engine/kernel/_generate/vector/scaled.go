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
	s.blocks("addScaled", "blocks int, c float64, x *float32, sum *float64",
		"sum[i] += float64(c * float64(x[i]))")
	blocks, x, sum := Load(Param("blocks"), GP64()), Load(Param("x"), GP64()), Load(Param("sum"), GP64())
	c := s.broadcast64(param("c"))
	s.overSums(blocks, sum, []reg.Register{x}, func(v int) {
		wide := s.widened(x, v)
		VMULPD(c, wide, wide)
		VADDPD(at(sum, v*s.bytes()), wide, wide)
		VMOVUPD(wide, at(sum, v*s.bytes()))
	})
}

// addDifference emits sum += c (x - y + eps) in float64, each operation rounded.
func (s isa) addDifference() {
	s.blocks("addDifference", "blocks int, c, eps float64, x, y *float32, sum *float64",
		"sum[i] += float64(c * (float64(x[i]) - float64(y[i]) + eps))")
	blocks, sum := Load(Param("blocks"), GP64()), Load(Param("sum"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	c, eps := s.broadcast64(param("c")), s.broadcast64(param("eps"))
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
	s.blocks("subtractFour", "blocks int, w *float64, x0, x1, x2, x3 *float32, sum *float64",
		"sum[i] -= (float64(w[0]*float64(x0[i])) + float64(w[1]*float64(x1[i]))) +",
		"\t(float64(w[2]*float64(x2[i])) + float64(w[3]*float64(x3[i])))")
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

// widened is vector v of the float32 numbers at x, in float64.
func (s isa) widened(x reg.Register, v int) reg.VecVirtual {
	return s.widen(at(x, v*s.bytes()/2), whole)
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

// blocks begins a function that does a line for each of 16*blocks numbers.
func (s isa) blocks(name, signature string, line ...string) {
	doc := []string{"is, for i from 0 to 16*blocks - 1, blocks above 0:", ""}
	for _, l := range line {
		doc = append(doc, "\t"+l)
	}
	asm.Func(name, s.name, signature, doc...)
}

// addRow emits sum += x and sum -= x, sums in float64.
func (s isa) addRow(minus bool) {
	name, op := "addRow", "+="
	if minus {
		name, op = "subtractRow", "-="
	}
	s.blocks(name, "blocks int, sum *float64, x *float32", "sum[i] "+op+" float64(x[i])")
	p := pointers("blocks", "sum", "x")
	s.overSums(p[0], p[1], p[2:], func(v int) {
		wide, total := s.widened(p[2], v), s.vec()
		if minus {
			VMOVUPD(at(p[1], v*s.bytes()), total)
			VSUBPD(wide, total, total)
		} else {
			VADDPD(at(p[1], v*s.bytes()), wide, total)
		}
		VMOVUPD(total, at(p[1], v*s.bytes()))
	})
}

// shiftRow emits the centering of a row.
func (s isa) shiftRow() {
	s.blocks("shiftRow", "blocks int, x *float32, mean *float64, scale float64, out *float32",
		"out[i] = float32((float64(x[i]) - mean[i]) * scale)")
	p, scale := pointers("blocks", "mean", "x", "out"), s.broadcast64(param("scale"))
	s.overSums(p[0], p[1], p[2:], func(v int) {
		wide := s.widened(p[2], v)
		VSUBPD(at(p[1], v*s.bytes()), wide, wide)
		VMULPD(scale, wide, wide)
		s.narrow(wide, at(p[3], v*s.bytes()/2), whole)
	})
}
