package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// compare emits the masks of numbers that are large or small enough, 64 columns
// at a time.
func (s isa) compare(name, operator string, predicate uint64) {
	asm.Func(name, s.name, "rows, words int, x *float32, ld int, a, b *float32, mask *uint64",
		"compares rows of 64*words numbers, rows and words > 0:",
		"",
		"\tfor i := range rows {",
		"\t\tfor j := range 64 * words {",
		"\t\t\tset(bit j of mask[i*words:], x[i*ld+j] "+operator+" b[j]-a[i])",
		"\t\t}",
		"\t}",
	)
	rows, words := Load(Param("rows"), GP64()), Load(Param("words"), GP64())
	x, ld := Load(Param("x"), GP64()), Load(Param("ld"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	mask := Load(Param("mask"), GP64())
	SHLQ(Imm(2), ld)
	row, xp, bp, left := s.vec(), GP64(), GP64(), GP64()
	Label("row")
	VBROADCASTSS(at(a, 0), row)
	MOVQ(x, xp)
	MOVQ(b, bp)
	MOVQ(words, left)
	Label("word")
	if s.is512() {
		for v := range 4 {
			need, k := s.vec(), K()
			VMOVUPS(at(bp, 64*v), need)
			VSUBPS(row, need, need)
			got := s.vec()
			VMOVUPS(at(xp, 64*v), got)
			VCMPPS(Imm(predicate), need, got, k)
			KMOVW(k, at(mask, 2*v))
		}
	} else {
		for v := range 8 {
			need, got, bits := s.vec(), s.vec(), GP32()
			VMOVUPS(at(bp, 32*v), need)
			VSUBPS(row, need, need)
			VMOVUPS(at(xp, 32*v), got)
			VCMPPS(Imm(predicate), need, got, got)
			VMOVMSKPS(got, bits)
			MOVB(bits.As8(), at(mask, v))
		}
	}
	ADDQ(U32(256), xp)
	ADDQ(U32(256), bp)
	ADDQ(Imm(8), mask)
	DECQ(left)
	JNZ(LabelRef("word"))
	ADDQ(ld, x)
	ADDQ(Imm(4), a)
	DECQ(rows)
	JNZ(LabelRef("row"))
	asm.End()
}
