package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set: lanes float32 numbers a vector.
type isa struct {
	name  string
	lanes int
}

var (
	avx512 = isa{"AVX512", 16}
	avx2   = isa{"AVX2", 8}
)

// vec returns a new vector register.
func (i isa) vec() reg.VecVirtual {
	if i.lanes == 16 {
		return ZMM()
	}
	return YMM()
}

// bytes of a vector.
func (i isa) bytes() int { return 4 * i.lanes }

func (i isa) zero(v reg.VecVirtual) {
	if i.lanes == 16 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }
