package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shape is a register tile: up to rows x (vectors * lanes) sums in registers,
// the vectors of one row of B, and two registers that take turns holding one
// element of A in all lanes.
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

func avx2(vectors int) shape {
	return shape{"AVX2", 6, vectors, 8, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}}
}

func (s shape) sum(i, v int) reg.VecPhysical { return s.vec[i*s.vectors+v] }
func (s shape) b(v int) reg.VecPhysical      { return s.vec[len(s.vec)-4+v] }
func (s shape) a(i int) reg.VecPhysical      { return s.vec[len(s.vec)-2+i%2] }
func (s shape) bytes() int                   { return 4 * s.lanes }

// tile emits one function: a ladder of comparisons to the body for its number
// of rows. Every body sums each element over k in index order with one fused
// multiply-add a step, so that an element has the same bits in all of them.
func (s shape) tile() {
	width := s.vectors * s.lanes
	TEXT(fmt.Sprintf("tile%d%s", width, s.isa), NOSPLIT,
		"func(rows, k int, a *float32, rsa, csa int, b *float32, rsb int, c *float32, ldc int, alpha, beta float32)")
	Doc(
		fmt.Sprintf("tile%d%s computes rows (1 to %d) rows and %d columns of C, k > 0:", width, s.isa, s.rows, width),
		"",
		"\tfor i := range rows {",
		fmt.Sprintf("\t\tfor j := range %d {", width),
		"\t\t\ts := float32(0)",
		"\t\t\tfor p := range k {",
		"\t\t\t\ts = fma(a[i*rsa+p*csa], b[p*rsb+j], s)",
		"\t\t\t}",
		"\t\t\tif beta == 0 {",
		"\t\t\t\tc[i*ldc+j] = alpha * s",
		"\t\t\t} else {",
		"\t\t\t\tc[i*ldc+j] = fma(beta, c[i*ldc+j], alpha*s)",
		"\t\t\t}",
		"\t\t}",
		"\t}",
	)
	Pragma("noescape")
	r := s.load()
	rows := Load(Param("rows"), GP64())
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
// odd i; the other multiples are one of them times 2, 4 or 8.
type regs struct {
	a, b, csa, rsb, k reg.Register
	odd               map[int]reg.Register
}

func (s shape) load() regs {
	r := regs{odd: map[int]reg.Register{}}
	r.k = Load(Param("k"), GP64())
	r.a = Load(Param("a"), GP64())
	r.b = Load(Param("b"), GP64())
	r.csa = Load(Param("csa"), GP64())
	r.rsb = Load(Param("rsb"), GP64())
	SHLQ(Imm(2), r.csa)
	SHLQ(Imm(2), r.rsb)
	one := Load(Param("rsa"), GP64())
	SHLQ(Imm(2), one)
	r.odd[1] = one
	for i := 3; i < s.rows; i += 2 {
		next := GP64()
		LEAQ(Mem{Base: r.odd[i-2], Index: one, Scale: 2}, next)
		r.odd[i] = next
	}
	return r
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
	for i := range rows {
		for v := range s.vectors {
			z := s.sum(i, v)
			if s.isa == "AVX512" {
				VPXORD(z, z, z)
			} else {
				VXORPS(z, z, z)
			}
		}
	}
	loop := fmt.Sprintf("loop%d", rows)
	Label(loop)
	for v := range s.vectors {
		VMOVUPS(Mem{Base: r.b, Disp: v * s.bytes()}, s.b(v))
	}
	for i := range rows {
		VBROADCASTSS(r.row(i), s.a(i))
		for v := range s.vectors {
			VFMADD231PS(s.b(v), s.a(i), s.sum(i, v))
		}
	}
	ADDQ(r.csa, r.a)
	ADDQ(r.rsb, r.b)
	DECQ(r.k)
	JNZ(LabelRef(loop))
	s.store(rows)
}

// store writes alpha*sums to C, plus beta*C unless beta is 0 (of either sign).
func (s shape) store(rows int) {
	alpha, beta := s.a(0), s.a(1)
	VBROADCASTSS(param("alpha"), alpha)
	VBROADCASTSS(param("beta"), beta)
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	SHLQ(Imm(2), ldc)
	bits := GP32()
	MOVL(param("beta"), bits)
	SHLL(Imm(1), bits)
	overwrite := fmt.Sprintf("overwrite%d", rows)
	JZ(LabelRef(overwrite))
	s.rowsOut(rows, c, ldc, func(z reg.VecPhysical, m Mem) {
		VMULPS(alpha, z, z)
		VFMADD231PS(m, beta, z)
		VMOVUPS(z, m)
	})
	Label(overwrite)
	s.rowsOut(rows, c, ldc, func(z reg.VecPhysical, m Mem) {
		VMULPS(alpha, z, z)
		VMOVUPS(z, m)
	})
}

func (s shape) rowsOut(rows int, c, ldc reg.Register, f func(z reg.VecPhysical, m Mem)) {
	for i := range rows {
		for v := range s.vectors {
			f(s.sum(i, v), Mem{Base: c, Disp: v * s.bytes()})
		}
		if i+1 < rows {
			ADDQ(ldc, c)
		}
	}
	VZEROUPPER()
	RET()
}

// param returns the memory operand of an argument.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
