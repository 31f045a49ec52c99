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
