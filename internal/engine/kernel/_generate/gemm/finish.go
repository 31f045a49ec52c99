package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"tercet/internal/engine/kernel/_generate/asm"
)

// finish turns the sums into elements of C: alpha*sum, plus beta*C unless beta
// is 0 (of either sign), plus the bias, the larger of that and 0; and stores. It continues at
// label next, which follows it.
func (s shape) finish(rows int, r regs, next string) {
	label := func(name string) string { return fmt.Sprintf("%s%d", name, rows) }
	t := asm.LoadArgs("t")
	alpha, beta, tmp := s.free(0), s.free(1), s.free(2)
	VBROADCASTSS(t.Mem("alpha"), alpha)
	s.each(rows, func(i, v int) { VMULPS(alpha, s.sum(i, v), s.sum(i, v)) })
	bits := GP32()
	MOVL(t.Mem("beta"), bits)
	SHLL(Imm(1), bits)
	JZ(LabelRef(label("bias")))
	VBROADCASTSS(t.Mem("beta"), beta)
	s.eachC(rows, t, r, func(i, v int, m Mem) {
		s.read(m, tmp, v)
		VFMADD231PS(tmp, beta, s.sum(i, v))
	})

	Label(label("bias"))
	bias := GP64()
	MOVQ(r.bias, bias)
	TESTQ(bias, bias)
	JZ(LabelRef(label("relu")))
	for v := range s.vectors {
		s.read(Mem{Base: bias, Disp: v * s.bytes()}, tmp, v)
		for i := range rows {
			VADDPS(tmp, s.sum(i, v), s.sum(i, v))
		}
	}

	Label(label("relu"))
	CMPB(t.Mem("relu"), Imm(0))
	JEQ(LabelRef(label("store")))
	zero := s.free(0)
	s.zero(zero)
	// The maximum of 0 and NaN, and of 0 and -0, is the second operand; the sum
	// makes -0 into 0.
	s.each(rows, func(i, v int) {
		VMAXPS(s.sum(i, v), zero, s.sum(i, v))
		VADDPS(zero, s.sum(i, v), s.sum(i, v))
	})

	Label(label("store"))
	CMPQ(t.Mem("cols"), Imm(uint64(s.vectors*s.lanes)))
	JNE(LabelRef(label("part")))
	s.eachC(rows, t, r, func(i, v int, m Mem) { VMOVUPS(s.sum(i, v), m) })
	JMP(LabelRef(next))
	Label(label("part"))
	s.eachC(rows, t, r, func(i, v int, m Mem) { s.write(s.sum(i, v), m, v) })
}

func (s shape) each(rows int, f func(i, v int)) {
	for i := range rows {
		for v := range s.vectors {
			f(i, v)
		}
	}
}

// eachC calls f with the address of each vector of the tile of C.
func (s shape) eachC(rows int, t asm.Args, r regs, f func(i, v int, m Mem)) {
	c, ldc := GP64(), t.Bytes("ldc")
	MOVQ(r.atC, c)
	for i := range rows {
		for v := range s.vectors {
			f(i, v, Mem{Base: c, Disp: v * s.bytes()})
		}
		if i+1 < rows {
			ADDQ(ldc, c)
		}
	}
}

func (s shape) zero(z reg.VecPhysical) {
	if s.isa == "AVX512" {
		VPXORD(z, z, z)
	} else {
		VXORPS(z, z, z)
	}
}

// loadMask prepares the mask of the last vector of cols columns.
func (s shape) loadMask() {
	t := asm.LoadArgs("t")
	missing := GP64()
	MOVQ(U32(s.vectors*s.lanes), missing)
	SUBQ(t.Mem("cols"), missing)
	if s.isa == "AVX512" {
		MOVQ(missing, reg.RCX)
		bits := GP32()
		MOVL(U32(1<<s.lanes-1), bits)
		SHRL(reg.CL, bits)
		KMOVW(bits, reg.K1)
		return
	}
	table := GP64()
	LEAQ(avx2Mask(), table)
	VMOVUPS(Mem{Base: table, Index: missing, Scale: 4}, s.free(3))
}

var maskTable *Mem

// avx2Mask is a table of eight ones and eight zeros.
func avx2Mask() Mem {
	if maskTable == nil {
		m := GLOBL("gemmMask", RODATA|NOPTR)
		for i := range 8 {
			DATA(4*i, U32(0xffffffff))
		}
		for i := 8; i < 16; i++ {
			DATA(4*i, U32(0))
		}
		maskTable = &m
	}
	return *maskTable
}

// read loads vector v of a row; of the last vector only the lanes of the mask
// are touched, the others become 0.
func (s shape) read(m Mem, z reg.VecPhysical, v int) {
	switch {
	case v < s.vectors-1:
		VMOVUPS(m, z)
	case s.isa == "AVX512":
		VMOVUPS_Z(m, reg.K1, z)
	default:
		VMASKMOVPS(m, s.free(3), z)
	}
}

// write stores vector v of a row, of the last one only the lanes of the mask.
func (s shape) write(z reg.VecPhysical, m Mem, v int) {
	switch {
	case v < s.vectors-1:
		VMOVUPS(z, m)
	case s.isa == "AVX512":
		VMOVUPS(z, reg.K1, m)
	default:
		VMASKMOVPS(z, s.free(3), m)
	}
}
