package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"tercet/internal/engine/kernel/_generate/asm"
)

// shape is a register tile: up to rows x (vectors * lanes) sums in registers,
// the vectors of one row of B, and one element of A in all lanes. The last
// register holds the mask of the last vector where the level has no mask
// registers.
type shape struct {
	isa     string
	rows    int
	vectors int
	lanes   int
	vec     []reg.VecPhysical
}

func avx512(vectors int) shape {
	return shape{"AVX512", 14, vectors, 16, []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
		reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21,
		reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}}
}

// avx512Half has vectors of half the length, for at most eight columns.
func avx512Half() shape {
	s := avx512(1)
	s.lanes = 8
	s.vec = []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10,
		reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15, reg.Y16, reg.Y17, reg.Y18, reg.Y19, reg.Y20, reg.Y21,
		reg.Y22, reg.Y23, reg.Y24, reg.Y25, reg.Y26, reg.Y27, reg.Y28, reg.Y29, reg.Y30, reg.Y31}
	return s
}

func avx2(vectors int) shape {
	return shape{"AVX2", 6, vectors, 8, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}}
}

func (s shape) sum(i, v int) reg.VecPhysical { return s.vec[i*s.vectors+v] }

// free is one of the four registers that hold no sum: 0 to vectors-1 are the
// row of B, 2 is the element of A, 3 the mask of AVX2.
func (s shape) free(i int) reg.VecPhysical { return s.vec[len(s.vec)-4+i] }
func (s shape) bytes() int                 { return 4 * s.lanes }

// tile emits one function: a ladder of comparisons to the body for its number
// of rows, which computes one tile after the other. Every body sums each element over outer and k in index order with
// one fused multiply-add a step, so that an element has the same bits in all of
// them.
func (s shape) tile() {
	TEXT(fmt.Sprintf("tile%d%s", s.vectors*s.lanes, s.isa), NOSPLIT, "func(t *"+asm.Struct("../gemm_tile.go", "tileArgs")+")")
	r := s.load()
	rows := asm.LoadArgs("t").Load("rows")
	for n := s.rows; n > 1; n-- {
		CMPQ(rows, Imm(uint64(n)))
		JEQ(LabelRef(fmt.Sprintf("rows%d", n)))
	}
	for n := 1; n <= s.rows; n++ {
		Label(fmt.Sprintf("rows%d", n))
		s.body(n, r)
	}
}

// regs are the general registers of one tile. odd[i] holds i*rsa in bytes for
// odd i; the other multiples are one of them times 2, 4 or 8. On the stack lie
// what the outer loop needs, and where the current tile begins.
type regs struct {
	a, b, csa, rsb       reg.Register
	odd                  map[int]reg.Register
	k, outer, endA, endB Mem
	left, steps          Mem // tiles that are left, outer steps
	atA, atB, atC, bias  Mem
}

func (s shape) load() regs {
	s.loadMask()
	local := AllocLocal(80)
	at := func(i int) Mem { return local.Offset(8 * i) }
	r := regs{
		odd: map[int]reg.Register{}, k: at(0), outer: at(1), endA: at(2), endB: at(3),
		left: at(4), steps: at(5), atA: at(6), atB: at(7), atC: at(8), bias: at(9),
	}
	t := asm.LoadArgs("t")
	for _, f := range []struct {
		field string
		to    Mem
	}{{"tiles", r.left}, {"a", r.atA}, {"b", r.atB}, {"c", r.atC}, {"bias", r.bias}} {
		MOVQ(t.Load(f.field), f.to)
	}
	r.csa, r.rsb = t.Bytes("csa"), t.Bytes("rsb")
	k, outer := t.Load("k"), t.Load("outer")
	MOVQ(k, r.k)
	MOVQ(outer, r.steps)
	// After k steps, what is left of the way to the next outer step.
	end := func(step reg.Register, next string, to Mem) {
		way, left := GP64(), t.Bytes(next)
		MOVQ(step, way)
		IMULQ(k, way)
		SUBQ(way, left)
		MOVQ(left, to)
	}
	end(r.csa, "nexta", r.endA)
	end(r.rsb, "nextb", r.endB)
	r.a, r.b = GP64(), GP64()
	one := t.Bytes("rsa")
	r.odd[1] = one
	for i := 3; i < s.rows; i += 2 {
		next := GP64()
		LEAQ(Mem{Base: r.odd[i-2], Index: one, Scale: 2}, next)
		r.odd[i] = next
	}
	return r
}

// begin sets what a tile needs.
func (r regs) begin() {
	outer := GP64()
	MOVQ(r.steps, outer)
	MOVQ(outer, r.outer)
	MOVQ(r.atA, r.a)
	MOVQ(r.atB, r.b)
}

// next continues with the next tile, which begins at label, or returns.
func (r regs) next(label string) {
	done := "last_" + label
	DECQ(r.left)
	JLE(LabelRef(done))
	t := asm.LoadArgs("t")
	for _, f := range []struct {
		field string
		at    Mem
	}{{"stepa", r.atA}, {"stepb", r.atB}, {"stepc", r.atC}, {"stepbias", r.bias}} {
		ADDQ(t.Bytes(f.field), f.at)
	}
	JMP(LabelRef(label))
	Label(done)
	asm.End()
}

// row returns the address of A's element in row i at the current k.
func (r regs) row(i int) Mem {
	if i == 0 {
		return Mem{Base: r.a}
	}
	scale := 1
	for i%2 == 0 {
		i, scale = i/2, scale*2
	}
	return Mem{Base: r.a, Index: r.odd[i], Scale: uint8(scale)}
}

func (s shape) body(rows int, r regs) {
	tile := fmt.Sprintf("tile%d", rows)
	Label(tile)
	r.begin()
	s.prefetchC(rows, r)
	for i := range rows {
		for v := range s.vectors {
			s.zero(s.sum(i, v))
		}
	}
	if s.isa == "AVX512" {
		s.loop(rows, r, true)
	} else { // where a masked load costs as much as a multiplication
		cols, masked, done := asm.LoadArgs("t").Mem("cols"), fmt.Sprintf("masked%d", rows), fmt.Sprintf("done%d", rows)
		CMPQ(cols, Imm(uint64(s.vectors*s.lanes)))
		JNE(LabelRef(masked))
		s.loop(rows, r, false)
		JMP(LabelRef(done))
		Label(masked)
		s.loop(rows, r, true)
		Label(done)
	}
	s.finish(rows, r, "next_"+tile)
	Label("next_" + tile)
	r.next(tile)
}

// loop sums over outer and k.
func (s shape) loop(rows int, r regs, masked bool) {
	outer, loop := fmt.Sprintf("outer%d_%t", rows, masked), fmt.Sprintf("loop%d_%t", rows, masked)
	Label(outer)
	k := GP64()
	MOVQ(r.k, k)
	Label(loop)
	for v := range s.vectors {
		m := Mem{Base: r.b, Disp: v * s.bytes()}
		if masked {
			s.read(m, s.free(v), v)
		} else {
			VMOVUPS(m, s.free(v))
		}
	}
	for i := range rows {
		if s.embeds(i) {
			for v := range s.vectors {
				VFMADD231PS_BCST(r.row(i), s.free(v), s.sum(i, v))
			}
			continue
		}
		VBROADCASTSS(r.row(i), s.free(2))
		for v := range s.vectors {
			VFMADD231PS(s.free(v), s.free(2), s.sum(i, v))
		}
	}
	ADDQ(r.csa, r.a)
	ADDQ(r.rsb, r.b)
	DECQ(k)
	JNZ(LabelRef(loop))
	ADDQ(r.endA, r.a)
	ADDQ(r.endB, r.b)
	DECQ(r.outer)
	JNZ(LabelRef(outer))
}

// embeds reports whether the multiply-adds of row i read A's element themselves.
// On Zen 4 a separate broadcast to 512 bits takes the place of half a
// multiply-add in the vector units, an embedded one only a load: with one vector
// all rows embed, with two some do, as many as leave the loads no bottleneck.
func (s shape) embeds(i int) bool {
	return s.isa == "AVX512" && (s.vectors == 1 || i%4 == 3)
}

// prefetchC asks for the tile of C, which is wanted when the sums are done.
func (s shape) prefetchC(rows int, r regs) {
	c, ldc := GP64(), asm.LoadArgs("t").Bytes("ldc")
	MOVQ(r.atC, c)
	for i := range rows {
		for at := 0; at < s.vectors*s.bytes(); at += 64 {
			PREFETCHT0(Mem{Base: c, Disp: at})
		}
		if i+1 < rows {
			ADDQ(ldc, c)
		}
	}
}
