package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packAhead is how many rows before its turn a row is asked for.
const packAhead = 8

// pack emits the copy of rows of two vectors.
func pack() {
	TEXT("pack32AVX512", NOSPLIT, "func(k int, src *float32, rs int, dst *float32)")
	k, src, rs, dst := Load(Param("k"), GP64()), Load(Param("src"), GP64()), Load(Param("rs"), GP64()), Load(Param("dst"), GP64())
	SHLQ(Imm(2), rs)
	Label("row")
	for at := 0; at < 128; at += 64 {
		PREFETCHT0(Mem{Base: src, Index: rs, Scale: packAhead, Disp: at})
	}
	for i, z := range []reg.VecPhysical{reg.Z0, reg.Z1} {
		VMOVUPS(Mem{Base: src, Disp: 64 * i}, z)
	}
	for i, z := range []reg.VecPhysical{reg.Z0, reg.Z1} {
		VMOVUPS(z, Mem{Base: dst, Disp: 64 * i})
	}
	ADDQ(rs, src)
	ADDQ(Imm(128), dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	asm.End()
}

// packPanels emits the copy of rows of some panels of 16 numbers: what is read in order is
// written to each panel.
func packPanels(name string, panels int) {
	TEXT(name, NOSPLIT, "func(k int, src *float32, rs int, dst *float32)")
	k, src, rs, dst := Load(Param("k"), GP64()), Load(Param("src"), GP64()), Load(Param("rs"), GP64()), Load(Param("dst"), GP64())
	SHLQ(Imm(2), rs)
	to := []reg.Register{dst}
	if panels > 1 {
		size := GP64()
		MOVQ(k, size)
		SHLQ(Imm(6), size)
		for i := 1; i < panels; i++ {
			next := GP64()
			LEAQ(Mem{Base: to[i-1], Index: size, Scale: 1}, next)
			to = append(to, next)
		}
	}
	at := GP64()
	XORQ(at, at)
	Label("row")
	for i := range panels {
		PREFETCHT0(Mem{Base: src, Index: rs, Scale: packAhead, Disp: 64 * i})
	}
	var v []reg.VecVirtual
	for i := range 2 * panels {
		v = append(v, YMM())
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, v[i])
	}
	for i := range v {
		VMOVUPS(v[i], Mem{Base: to[i/2], Index: at, Scale: 1, Disp: 32 * (i % 2)})
	}
	ADDQ(rs, src)
	ADDQ(Imm(64), at)
	DECQ(k)
	JNZ(LabelRef("row"))
	asm.End()
}

// cpuid emits the instruction.
func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (a, b, c, d uint32)")
	Load(Param("leaf"), reg.EAX)
	Load(Param("sub"), reg.ECX)
	CPUID()
	Store(reg.EAX, Return("a"))
	Store(reg.EBX, Return("b"))
	Store(reg.ECX, Return("c"))
	Store(reg.EDX, Return("d"))
	RET()
}
