package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// nearer emits the update of distances by one candidate, and their sum.
func (s isa) nearer() {
	s.blocks("nearer", "blocks int, x, norm *float32, own float32, nearest, out *float32, sums *float64",
		"out[i] = min(nearest[i], max(0, x[i]+(norm[i]+own)))",
		"sums[i%16] += float64(out[i])")
	blocks := Load(Param("blocks"), GP64())
	x, norm := Load(Param("x"), GP64()), Load(Param("norm"), GP64())
	nearest, out := Load(Param("nearest"), GP64()), Load(Param("out"), GP64())
	to := Load(Param("sums"), GP64())
	own, zero := s.vec(), s.vec()
	VBROADCASTSS(param("own"), own)
	s.clear(zero)
	sums := s.loadSums(to)
	Label("block")
	for v := range 16 / s.lanes {
		d := s.vec()
		VADDPS(at(norm, v*s.bytes()), own, d)
		VADDPS(at(x, v*s.bytes()), d, d)
		VMAXPS(zero, d, d)
		VMINPS(at(nearest, v*s.bytes()), d, d)
		VMOVUPS(d, at(out, v*s.bytes()))
	}
	for v := range sums {
		wide := s.vec()
		VCVTPS2PD(at(out, v*s.bytes()/2), wide)
		VADDPD(wide, sums[v], sums[v])
	}
	for _, p := range []reg.Register{x, norm, nearest, out} {
		ADDQ(Imm(64), p)
	}
	DECQ(blocks)
	JNZ(LabelRef("block"))
	s.storeSums(sums, to)
	asm.End()
}

// loadSums loads 16 float64 sums.
func (s isa) loadSums(from reg.Register) []reg.VecVirtual {
	sums := make([]reg.VecVirtual, 32/s.lanes)
	for v := range sums {
		sums[v] = s.vec()
		VMOVUPD(at(from, v*s.bytes()), sums[v])
	}
	return sums
}

func (s isa) storeSums(sums []reg.VecVirtual, to reg.Register) {
	for v := range sums {
		VMOVUPD(sums[v], at(to, v*s.bytes()))
	}
}
