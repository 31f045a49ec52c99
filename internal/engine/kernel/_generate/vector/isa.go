package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set: every kernel is written once for both.
type isa struct {
	name  string
	lanes int // float32 numbers in a vector
}

var isas = []isa{{"AVX512", 16}, {"AVX2", 8}}

func (s isa) is512() bool { return s.lanes == 16 }

func (s isa) vec() reg.VecVirtual {
	if s.is512() {
		return ZMM()
	}
	return YMM()
}

// half returns a register for as many float32 as a vector holds float64.
func (s isa) half() reg.VecVirtual {
	if s.is512() {
		return YMM()
	}
	return XMM()
}

// part says which lanes of a vector exist: all, or the first ones.
type part struct {
	k    reg.Register // AVX-512: a mask register
	v    reg.Register // AVX2: sign bits of 32-bit lanes
	rest bool
}

var whole = part{}

// ones is 32 numbers of all bits, then 32 of none: the masks of AVX2 are read
// from its middle.
var ones Mem

func tables() {
	ones = GLOBL("ones", 8|16) // read-only, no pointers
	for i := range 64 {
		v := uint32(0)
		if i < 32 {
			v = 0xffffffff
		}
		DATA(4*i, U32(v))
	}
}

// first returns the part of the first n lanes, n below the number of lanes. With
// wide the lanes are of 64 bits. It overwrites CX.
func (s isa) first(n reg.Register, wide bool) part {
	if s.is512() {
		bits, k := GP64(), K()
		MOVQ(n, reg.RCX)
		MOVQ(U32(1), bits)
		SHLQ(reg.CL, bits)
		DECQ(bits)
		KMOVW(bits.As32(), k)
		return part{k: k, rest: true}
	}
	v, at, i := s.vec(), GP64(), GP64()
	if wide {
		v = s.half()
	}
	LEAQ(ones, at)
	MOVQ(U32(32), i)
	SUBQ(n, i)
	VMOVUPS(Mem{Base: at, Index: i, Scale: 4}, v)
	return part{v: v, rest: true}
}

// load reads a vector; lanes that do not exist become 0.
func (s isa) load(m Mem, p part) reg.VecVirtual {
	v := s.vec()
	switch {
	case !p.rest:
		VMOVUPS(m, v)
	case s.is512():
		VMOVUPS_Z(m, p.k, v)
	default:
		VMASKMOVPS(m, p.v, v)
	}
	return v
}

// store writes the lanes that exist.
func (s isa) store(v reg.Register, m Mem, p part) {
	switch {
	case !p.rest:
		VMOVUPS(v, m)
	case s.is512():
		VMOVUPS(v, p.k, m)
	default:
		VMASKMOVPS(v, p.v, m)
	}
}

func (s isa) zero() reg.VecVirtual {
	v := s.vec()
	s.clear(v)
	return v
}

func (s isa) clear(v reg.VecVirtual) {
	if s.is512() {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// bytes of a vector.
func (s isa) bytes() int { return 4 * s.lanes }

func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// broadcast reads one float32 argument, or constant, into all lanes.
func (s isa) broadcast(m Mem) reg.VecVirtual {
	v := s.vec()
	VBROADCASTSS(m, v)
	return v
}

// Predicates of comparisons; all are quiet.
const (
	greater        = 0x1e // false for NaN
	greaterEqual   = 0x1d // false for NaN
	less           = 0x11 // false for NaN
	lessEqual      = 0x12 // false for NaN
	notLessOrEqual = 0x16 // true for NaN
	notGreater     = 0x1a // true for NaN
	equal          = 0x00
	unordered      = 0x03
	ordered        = 0x07
)

// keep returns v where a and b compare so, else 0.
func (s isa) keep(predicate uint64, a, b, v reg.Register) reg.VecVirtual {
	out := s.vec()
	if s.is512() {
		k := K()
		VCMPPS(Imm(predicate), b, a, k)
		VMOVUPS_Z(v, k, out)
	} else {
		VCMPPS(Imm(predicate), b, a, out)
		VANDPS(v, out, out)
	}
	return out
}

// param returns the memory operand of an argument.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// each emits a loop over n numbers behind each pointer: four vectors at a time,
// then one, then the masked rest, all by the same body. It keeps n and the
// pointers. With wide a vector is as many numbers as it holds float64.
func (s isa) each(n reg.Register, at []reg.Register, wide bool, body func(m []Mem, p part)) {
	few := GP64()
	MOVQ(n, few)
	ANDQ(Imm(uint64(s.step(wide)-1)), few)
	s.loop("", n, s.first(few, wide), at, wide, body)
}

func (s isa) step(wide bool) int {
	if wide {
		return s.lanes / 2
	}
	return s.lanes
}

// loop is each with the rest given and labels that begin with a name.
func (s isa) loop(label string, n reg.Register, rest part, at []reg.Register, wide bool, body func(m []Mem, p part)) {
	const unroll = 4
	step := s.step(wide)
	i, left := GP64(), GP64()
	mems := func(u int) []Mem {
		var m []Mem
		for _, r := range at {
			m = append(m, Mem{Base: r, Index: i, Scale: 4, Disp: 4 * step * u})
		}
		return m
	}
	XORQ(i, i)
	MOVQ(n, left)
	SUBQ(Imm(uint64(unroll*step)), left)
	JLT(LabelRef(label + "few"))
	Label(label + "many")
	for u := range unroll {
		body(mems(u), whole)
	}
	ADDQ(Imm(uint64(unroll*step)), i)
	SUBQ(Imm(uint64(unroll*step)), left)
	JGE(LabelRef(label + "many"))
	Label(label + "few")
	ADDQ(Imm(uint64((unroll-1)*step)), left)
	JLT(LabelRef(label + "last"))
	Label(label + "one")
	body(mems(0), whole)
	ADDQ(Imm(uint64(step)), i)
	SUBQ(Imm(uint64(step)), left)
	JGE(LabelRef(label + "one"))
	Label(label + "last")
	ADDQ(Imm(uint64(step)), left)
	JEQ(LabelRef(label + "end"))
	body(mems(0), rest)
	Label(label + "end")
}
