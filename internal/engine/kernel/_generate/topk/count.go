package main

import (
	"fmt"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// most is the number of cuts that are counted in one pass.
func (s isa) most() int {
	if s.lanes == 16 {
		return 8
	}
	return 4
}

// cutBytes is the distance from one cut of a query to the next.
const cutBytes = 64

// counters are the registers of one pass: cuts and how many keys are below each.
type counters struct {
	s        isa
	cut, num []reg.VecVirtual
	one      reg.VecVirtual // all lanes 1 (AVX-512 only)
}

func (s isa) counters(n int) counters {
	c := counters{s: s}
	for range n {
		v := s.vec()
		s.zero(v)
		c.cut, c.num = append(c.cut, s.vec()), append(c.num, v)
	}
	if s.lanes == 16 {
		c.one = s.vec()
		s.constant(1, c.one)
	}
	return c
}

// add counts the lanes of key that are below each cut.
func (c counters) add(key reg.VecVirtual) {
	for r := range c.cut {
		if c.s.lanes == 16 {
			k := K()
			VCMPPS(Imm(lessThan), c.cut[r], key, k)
			VPADDD(c.one, c.num[r], k, c.num[r])
		} else {
			below := c.s.vec()
			VCMPPS(Imm(lessThan), c.cut[r], key, below)
			VPSUBD(below, c.num[r], c.num[r])
		}
	}
}

// passes emits body for runs of cuts, as many at a time as there are registers
// for, and then for what remains. forward moves to the cuts of the next pass.
func (s isa) passes(left reg.Register, body func(n int), forward func(bytes int)) {
	for n := s.most(); n > 0; n /= 2 {
		skip := fmt.Sprintf("skip%d", n)
		Label(fmt.Sprintf("pass%d", n))
		CMPQ(left, Imm(uint64(n)))
		JLT(LabelRef(skip))
		body(n)
		forward(n * cutBytes)
		SUBQ(Imm(uint64(n)), left)
		JMP(LabelRef(fmt.Sprintf("pass%d", n)))
		Label(skip)
	}
	asm.End()
}

// countRow emits the counts for one query of a row of products.
func (s isa) countRow() {
	asm.Func("countRow", s.name, "cuts, blocks int, x, scale, add *float32, end int32, cut, upper *float32, index, count *int32",
		"counts keys below cuts; what belongs to one cut is 16 numbers after that of the last; cuts, blocks > 0:",
		"",
		"\tfor r := range cuts {",
		"\t\tc := cut[16*r]",
		"\t\tif index[16*r] >= end {",
		"\t\t\tc = upper[16*r]",
		"\t\t}",
		"\t\tfor j := range 16 * blocks {",
		"\t\t\tif fma(x[j], scale[j], add[j]) < c {",
		"\t\t\t\tcount[16*r]++",
		"\t\t\t}",
		"\t\t}",
		"\t}",
	)
	left, blocks := Load(Param("cuts"), GP64()), Load(Param("blocks"), GP64())
	x, scale, add := Load(Param("x"), GP64()), Load(Param("scale"), GP64()), Load(Param("add"), GP64())
	end := Load(Param("end"), GP32())
	cut, upper := Load(Param("cut"), GP64()), Load(Param("upper"), GP64())
	index, count := Load(Param("index"), GP64()), Load(Param("count"), GP64())
	at0, n := GP64(), GP64()
	s.passes(left, func(cuts int) {
		c := s.counters(cuts)
		for r := range cuts {
			from := GP64()
			MOVQ(cut, from)
			CMPL(at(index, r*cutBytes), end)
			CMOVQGE(upper, from)
			VBROADCASTSS(at(from, r*cutBytes), c.cut[r])
		}
		XORQ(at0, at0)
		MOVQ(blocks, n)
		loop := fmt.Sprintf("row%d", cuts)
		Label(loop)
		for v := range 16 / s.lanes {
			key, by := s.vec(), s.vec()
			VMOVUPS(Mem{Base: add, Index: at0, Scale: 1, Disp: v * s.bytes()}, key)
			VMOVUPS(Mem{Base: scale, Index: at0, Scale: 1, Disp: v * s.bytes()}, by)
			VFMADD231PS(Mem{Base: x, Index: at0, Scale: 1, Disp: v * s.bytes()}, by, key)
			c.add(key)
		}
		ADDQ(Imm(64), at0)
		DECQ(n)
		JNZ(LabelRef(loop))
		for r := range cuts {
			total := s.addLanes(c.num[r])
			ADDL(total, at(count, r*cutBytes))
		}
	}, func(bytes int) {
		for _, p := range []reg.Register{cut, upper, index, count} {
			ADDQ(U32(uint32(bytes)), p)
		}
	})
}

// addLanes returns the sum of the 32-bit lanes of v, which it changes.
func (s isa) addLanes(v reg.VecVirtual) reg.Register {
	half := YMM()
	if s.lanes == 16 {
		VEXTRACTI64X4(Imm(1), v, half)
		VPADDD(v.AsY(), half, half)
	} else {
		VMOVDQA(v, half)
	}
	quarter := XMM()
	VEXTRACTI128(Imm(1), half, quarter)
	VPADDD(half.AsX(), quarter, quarter)
	other := XMM()
	VPSHUFD(Imm(0x4e), quarter, other)
	VPADDD(other, quarter, quarter)
	VPSHUFD(Imm(0xb1), quarter, other)
	VPADDD(other, quarter, quarter)
	total := GP32()
	VMOVD(quarter, total)
	return total
}

// countColumns emits the counts for 16 queries, each a column of products.
func (s isa) countColumns() {
	asm.Func("countColumns", s.name, "cuts, rows int, x *float32, ld int, scale, add *float32, end int32, cut, upper *float32, index, count *int32",
		"counts the keys of 16 columns below cuts, 16 numbers each; cuts, rows > 0:",
		"",
		"\tfor r := range cuts {",
		"\t\tfor j := range 16 {",
		"\t\t\tc := cut[16*r+j]",
		"\t\t\tif index[16*r+j] >= end {",
		"\t\t\t\tc = upper[16*r+j]",
		"\t\t\t}",
		"\t\t\tfor i := range rows {",
		"\t\t\t\tif fma(x[i*ld+j], scale[i], add[i]) < c {",
		"\t\t\t\t\tcount[16*r+j]++",
		"\t\t\t\t}",
		"\t\t\t}",
		"\t\t}",
		"\t}",
	)
	left, rows := Load(Param("cuts"), GP64()), Load(Param("rows"), GP64())
	x, ld := Load(Param("x"), GP64()), Load(Param("ld"), GP64())
	scale, add := Load(Param("scale"), GP64()), Load(Param("add"), GP64())
	cut, upper := Load(Param("cut"), GP64()), Load(Param("upper"), GP64())
	index, count := Load(Param("index"), GP64()), Load(Param("count"), GP64())
	SHLQ(Imm(2), ld)
	xp, i := GP64(), GP64()
	s.passes(left, func(cuts int) {
		for v := range 16 / s.lanes {
			disp := v * s.bytes()
			c := s.counters(cuts)
			end, last := s.vec(), GP32()
			MOVL(param("end"), last)
			SUBL(Imm(1), last)
			VMOVD(last, end.AsX())
			VPBROADCASTD(end.AsX(), end)
			for r := range cuts {
				m := r*cutBytes + disp
				VMOVUPS(at(cut, m), c.cut[r])
				which := s.vec()
				VMOVUPS(at(index, m), which)
				if s.lanes == 16 {
					k := K()
					VPCMPD(Imm(6), end, which, k) // index > end-1
					VMOVUPS(at(upper, m), k, c.cut[r])
				} else {
					VPCMPGTD(end, which, which)
					VBLENDVPS(which, at(upper, m), c.cut[r], c.cut[r])
				}
			}
			MOVQ(x, xp)
			XORQ(i, i)
			loop := fmt.Sprintf("columns%dof%d", v, cuts)
			Label(loop)
			key, by := s.vec(), s.vec()
			VBROADCASTSS(Mem{Base: add, Index: i, Scale: 4}, key)
			VBROADCASTSS(Mem{Base: scale, Index: i, Scale: 4}, by)
			VFMADD231PS(at(xp, disp), by, key)
			c.add(key)
			ADDQ(ld, xp)
			INCQ(i)
			CMPQ(i, rows)
			JLT(LabelRef(loop))
			for r := range cuts {
				VPADDD(at(count, r*cutBytes+disp), c.num[r], c.num[r])
				VMOVUPS(c.num[r], at(count, r*cutBytes+disp))
			}
		}
	}, func(bytes int) {
		for _, p := range []reg.Register{cut, upper, index, count} {
			ADDQ(U32(uint32(bytes)), p)
		}
	})
}
