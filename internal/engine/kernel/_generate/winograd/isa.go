package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is what the transforms need of an instruction set.
type isa interface {
	name() string
	lanes() int
	vec() reg.VecVirtual
	// begin prepares constants; coefficient is one as an operand of arithmetic.
	begin(values []float32)
	coefficient(v float32) Op
	// lane selects the lanes of a pass: all, or the first n of a last vector.
	all()
	first(n reg.Register)
	load(m Mem, to reg.Register)
	store(v reg.Register, m Mem)
	// masked reports whether one body serves whole vectors and tails.
	masked() bool
}

// avx512 keeps constants in registers and selects lanes by a mask register.
type avx512 struct{}

var (
	held map[float32]Op
	mask reg.Register
)

// mostHeld is the number of constants for which registers are left.
const mostHeld = 8

func (avx512) name() string        { return "AVX512" }
func (avx512) lanes() int          { return 16 }
func (avx512) vec() reg.VecVirtual { return ZMM() }
func (avx512) masked() bool        { return true }

func (avx512) begin(values []float32) {
	held = map[float32]Op{}
	for i, v := range values {
		if i < mostHeld {
			z := ZMM()
			VBROADCASTSS(table(v), z)
			held[v] = z
		} else {
			held[v] = table(v)
		}
	}
	mask = K()
}

func (avx512) coefficient(v float32) Op { return held[v] }

func (avx512) all() {
	ones := GP32()
	MOVL(U32(0xffff), ones)
	KMOVW(ones, mask)
}

func (avx512) first(n reg.Register) {
	ones := GP32()
	MOVL(U32(0xffff), ones)
	BZHIL(n.(reg.GPVirtual).As32(), ones, ones)
	KMOVW(ones, mask)
}

func (avx512) load(m Mem, to reg.Register) { VMOVUPS_Z(m, mask, to) }
func (avx512) store(v reg.Register, m Mem) { VMOVUPS(v, mask, m) }

// avx2 reads constants from memory and, in a body of their own, tails by masks.
type avx2 struct{}

var tail reg.Register // address of the mask, nil outside tails

func (avx2) name() string        { return "AVX2" }
func (avx2) lanes() int          { return 8 }
func (avx2) vec() reg.VecVirtual { return YMM() }
func (avx2) masked() bool        { return false }

func (avx2) begin(values []float32) {
	held = map[float32]Op{}
	for _, v := range values {
		held[v] = table(v)
	}
}

func (avx2) coefficient(v float32) Op { return held[v] }
func (avx2) all()                     { tail = nil }

// first points at the mask of n lanes: 8 ones and 8 zeros, from 8-n on.
func (avx2) first(n reg.Register) {
	p := GP64()
	LEAQ(masks(), p)
	at := GP64()
	MOVQ(n, at)
	NEGQ(at)
	LEAQ(Mem{Base: p, Index: at, Scale: 4, Disp: 32}, p)
	tail = p
}

func (avx2) load(m Mem, to reg.Register) {
	if tail == nil {
		VMOVUPS(m, to)
		return
	}
	VMOVUPS(Mem{Base: tail}, to)
	VMASKMOVPS(m, to, to)
}

func (avx2) store(v reg.Register, m Mem) {
	if tail == nil {
		VMOVUPS(v, m)
		return
	}
	ones := YMM()
	VMOVUPS(Mem{Base: tail}, ones)
	VMASKMOVPS(v, ones, m)
}

var tables = map[float32]Mem{}

// table returns eight copies of v in read-only memory.
func table(v float32) Mem {
	if m, ok := tables[v]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("winogradConstant%08x", math.Float32bits(v)), RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, F32(v))
	}
	tables[v] = m
	return m
}

var maskTable *Mem

func masks() Mem {
	if maskTable == nil {
		m := GLOBL("winogradMasks", RODATA|NOPTR)
		for i := range 16 {
			v := uint32(0)
			if i < 8 {
				v = 0xffffffff
			}
			DATA(4*i, U32(v))
		}
		maskTable = &m
	}
	return *maskTable
}
