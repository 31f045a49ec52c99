package main

import (
	"fmt"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// countKeys emits the counts of keys below some cuts. Keys above the limit are dropped first:
// AVX-512 keeps the others close together, AVX2 whole vectors that have another.
func (s isa) countKeys() {
	asm.Func("countKeys", s.name, "panels int, x *float32, stride int, scale, add *float32, limit float32, vectors int, cut *float32, below, most *int32, keys *float32) (kept int",
		"counts keys below cuts, and keys at most there; panels, vectors > 0; keys is scratch. Where kept is 0 nothing is counted:",
		"",
		"\tfor p := range panels {",
		"\t\tfor j := range 32 {",
		"\t\t\tif key := fma(x[p*stride+j], scale[32*p+j], add[32*p+j]); key <= limit {",
		"\t\t\t\tkeys = append(keys, key)",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"\tfor r := range 16 * vectors {",
		"\t\tfor _, key := range keys {",
		"\t\t\tbelow[r] += key < cut[r]",
		"\t\t\tmost[r] += key <= cut[r]",
		"\t\t}",
		"\t}",
	)
	panels, stride := Load(Param("panels"), GP64()), Load(Param("stride"), GP64())
	x, scale, add := Load(Param("x"), GP64()), Load(Param("scale"), GP64()), Load(Param("add"), GP64())
	end := Load(Param("keys"), GP64())
	SHLQ(Imm(2), stride)
	limit := s.vec()
	VBROADCASTSS(param("limit"), limit)
	Label("panel")
	for v := range 32 / s.lanes {
		key, by, disp := s.vec(), s.vec(), v*s.bytes()
		VMOVUPS(at(add, disp), key)
		VMOVUPS(at(scale, disp), by)
		VFMADD231PS(at(x, disp), by, key)
		s.keepKeys(key, limit, end, fmt.Sprintf("kept%d", v))
	}
	ADDQ(stride, x)
	ADDQ(U32(128), scale)
	ADDQ(U32(128), add)
	DECQ(panels)
	JNZ(LabelRef("panel"))

	keys, kept := Load(Param("keys"), GP64()), GP64()
	MOVQ(end, kept)
	SUBQ(keys, kept)
	SHRQ(Imm(2), kept)
	Store(kept, ReturnIndex(0))
	JZ(LabelRef("done"))
	vectors, cut := Load(Param("vectors"), GP64()), Load(Param("cut"), GP64())
	below, most := Load(Param("below"), GP64()), Load(Param("most"), GP64())
	if !s.is512() {
		SHLQ(Imm(1), vectors)
	}
	var one reg.VecVirtual
	if s.is512() {
		one = s.vec()
		s.constant(1, one)
	}
	Label("vector")
	cuts, low, high, p := s.vec(), s.vec(), s.vec(), GP64()
	VMOVUPS(at(cut, 0), cuts)
	s.clear(low)
	s.clear(high)
	MOVQ(keys, p)
	Label("key")
	for _, c := range []struct {
		predicate uint64
		to        reg.VecVirtual
	}{{greater, low}, {greaterEqual, high}} {
		if s.is512() {
			k := K()
			VCMPPS_BCST(Imm(c.predicate), at(p, 0), cuts, k)
			VPADDD(one, c.to, k, c.to)
			continue
		}
		key := s.vec()
		VBROADCASTSS(at(p, 0), key)
		VCMPPS(Imm(c.predicate), key, cuts, key)
		VPSUBD(key, c.to, c.to)
	}
	ADDQ(Imm(4), p)
	CMPQ(p, end)
	JNE(LabelRef("key"))
	VMOVUPS(low, at(below, 0))
	VMOVUPS(high, at(most, 0))
	for _, q := range []reg.Register{cut, below, most} {
		ADDQ(Imm(uint64(s.bytes())), q)
	}
	DECQ(vectors)
	JNZ(LabelRef("vector"))
	Label("done")
	asm.End()
}

// keepKeys appends the keys that are at most limit at end, which moves.
func (s isa) keepKeys(key, limit reg.VecVirtual, end reg.Register, label string) {
	bits := GP32()
	if !s.is512() {
		mask := s.vec()
		VCMPPS(Imm(lessEqual), limit, key, mask)
		VMOVMSKPS(mask, bits)
		TESTL(bits, bits)
		JZ(LabelRef(label))
		VMOVUPS(key, at(end, 0))
		ADDQ(Imm(uint64(s.bytes())), end)
		Label(label)
		return
	}
	k, close := K(), s.vec()
	VCMPPS(Imm(lessEqual), limit, key, k)
	VCOMPRESSPS_Z(key, k, close)
	VMOVUPS(close, at(end, 0))
	KMOVW(k, bits)
	POPCNTL(bits, bits)
	LEAQ(Mem{Base: end, Index: bits.(reg.GPVirtual).As64(), Scale: 4}, end)
}
