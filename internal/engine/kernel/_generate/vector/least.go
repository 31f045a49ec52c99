package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// leastKeys emits the choice of the least key of each column, two vectors of
// columns at a time.
func (s isa) leastKeys() {
	asm.Func("leastKeys", s.name, "rows, words int, x *float32, ld int, b *float32, old, index *int32, value *float32, moved *uint64",
		"finds the least of rows keys in each of 64*words columns, rows and words > 0:",
		"",
		"\tfor j := range 64 * words {",
		"\t\tleast, at := inf, 0",
		"\t\tfor c := range rows {",
		"\t\t\tv := x[c*ld+j] + b[c]",
		"\t\t\tif v < least {",
		"\t\t\t\tleast, at = v, c",
		"\t\t\t}",
		"\t\t}",
		"\t\tset(bit j of moved, old[j] != at)",
		"\t\tindex[j], value[j] = at, least",
		"\t}",
	)
	rows, words := Load(Param("rows"), GP64()), Load(Param("words"), GP64())
	x, ld := Load(Param("x"), GP64()), Load(Param("ld"), GP64())
	b := Load(Param("b"), GP64())
	old, index := Load(Param("old"), GP64()), Load(Param("index"), GP64())
	value, moved := Load(Param("value"), GP64()), Load(Param("moved"), GP64())
	SHLQ(Imm(2), ld)
	inf := s.vec()
	s.constant(0x7f800000, inf)
	one := s.vec()
	s.constant(1, one)
	pairs := 64 / (2 * s.lanes) // of vectors in a word
	turns := GP64()
	MOVQ(words, turns)
	IMUL3Q(Imm(uint64(pairs)), turns, turns)
	xp, bp, left := GP64(), GP64(), GP64()
	Label("columns")
	var least, place [2]reg.VecVirtual
	at32 := s.vec() // the row's number in all lanes
	s.clear(at32)
	for v := range 2 {
		least[v], place[v] = s.vec(), s.vec()
		VMOVAPS(inf, least[v])
		s.clear(place[v])
	}
	MOVQ(x, xp)
	MOVQ(b, bp)
	MOVQ(rows, left)
	Label("key")
	own := s.vec()
	VBROADCASTSS(at(bp, 0), own)
	for v := range 2 {
		key := s.vec()
		VADDPS(at(xp, v*s.bytes()), own, key)
		if s.is512() {
			k := K()
			VCMPPS(Imm(less), least[v], key, k)
			VMOVDQA32(at32, k, place[v])
		} else {
			below := s.vec()
			VCMPPS(Imm(less), least[v], key, below)
			VBLENDVPS(below, at32, place[v], place[v])
		}
		VMINPS(least[v], key, least[v])
	}
	VPADDD(one, at32, at32)
	ADDQ(ld, xp)
	ADDQ(Imm(4), bp)
	DECQ(left)
	JNZ(LabelRef("key"))
	for v := range 2 {
		before := s.vec()
		VMOVUPS(at(old, v*s.bytes()), before)
		s.differ(before, place[v], moved, v)
		VMOVUPS(place[v], at(index, v*s.bytes()))
		VMOVUPS(least[v], at(value, v*s.bytes()))
	}
	step := 2 * s.bytes()
	for _, p := range []reg.Register{x, old, index, value} {
		ADDQ(U32(uint32(step)), p)
	}
	ADDQ(Imm(uint64(s.lanes/4)), moved)
	DECQ(turns)
	JNZ(LabelRef("columns"))
	asm.End()
}

// constant fills v with 32 bits.
func (s isa) constant(bits uint32, v reg.VecVirtual) {
	r := GP32()
	MOVL(U32(bits), r)
	VMOVD(r, v.AsX())
	VBROADCASTSS(v.AsX(), v)
}

// differ stores the bits of a != b for integers.
func (s isa) differ(a, b reg.VecVirtual, to reg.Register, v int) {
	if s.is512() {
		k := K()
		VPCMPD(Imm(4), b, a, k)
		KMOVW(k, at(to, 2*v))
		return
	}
	same, bits := s.vec(), GP32()
	VPCMPEQD(b, a, same)
	VMOVMSKPS(same, bits)
	NOTL(bits)
	MOVB(bits.As8(), at(to, v))
}
