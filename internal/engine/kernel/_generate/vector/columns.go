package main

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func columns() {
	for _, s := range isas {
		for _, relu := range []bool{false, true} {
			for _, add := range []bool{false, true} {
				s.normalize(add, relu)
			}
		}
		for _, masked := range []bool{false, true} {
			s.normalizeBack(masked)
			s.scaleRows(masked)
		}
		s.columnSums()
		s.columnMoments()
		s.columnProducts(false)
		s.columnProducts(true)
		s.normalizeBackReLU()
		s.columnProductsReLU()
	}
}

// byRows emits a loop over rows of cols numbers. The first of the pointers move
// from row to row, the others are per-column factors.
func (s isa) byRows(moving int, at []reg.Register, body func(m []Mem, p part)) {
	rows, cols, few := Load(Param("rows"), GP64()), Load(Param("cols"), GP64()), GP64()
	MOVQ(cols, few)
	ANDQ(Imm(uint64(s.lanes-1)), few)
	rest := s.first(few, false)
	Label("row")
	s.loop("", cols, rest, at, false, body)
	for _, r := range at[:moving] {
		LEAQ(Mem{Base: r, Index: cols, Scale: 4}, r)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	asm.End()
}

// matrix is text for a line that is done for each element i = r*cols + c.
func (s isa) matrix(name, signature, line string) {
	asm.Func(name, s.name, signature, "is, for all rows r and columns c, with i = r*cols + c, sizes above 0:", "", "\t"+line)
}

func (s isa) normalize(add, relu bool) {
	name, args, value := "normalize", "rows, cols int, x, mean, scale, shift, y *float32", "(x[i]-mean[c])*scale[c] + shift[c]"
	if add {
		name += "Add"
		args = "rows, cols int, x, mean, scale, shift, add, y *float32"
		value += " + add[i]"
	}
	if relu {
		name += "ReLU"
		value = "positive(" + value + ")"
	}
	s.matrix(name, args, "y[i] = "+value)
	at, moving := []string{"x", "y", "mean", "scale", "shift"}, 2
	if add {
		at, moving = []string{"x", "y", "add", "mean", "scale", "shift"}, 3
	}
	var zero reg.VecVirtual
	if relu {
		zero = s.zero()
	}
	s.byRows(moving, pointers(at...), func(m []Mem, p part) {
		x, factors := s.load(m[0], p), m[moving:]
		VSUBPS(s.load(factors[0], p), x, x)
		VMULPS(s.load(factors[1], p), x, x)
		VADDPS(s.load(factors[2], p), x, x)
		if add {
			VADDPS(s.load(m[2], p), x, x)
		}
		if relu {
			x = s.positive(x, zero)
		}
		s.store(x, m[1], p)
	})
}

func (s isa) normalizeBack(masked bool) {
	name, args, g := "normalizeBack", "rows, cols int, x, dy, mean, scale, shift, slope, dx *float32", "dy[i]"
	at, moving := []string{"x", "dy", "dx", "mean", "scale", "shift", "slope"}, 3
	if masked {
		name, args, g = "normalizeBackMasked", "rows, cols int, x, dy, mask, mean, scale, shift, slope, dx *float32", "where(mask[i], dy[i])"
		at, moving = []string{"x", "dy", "dx", "mask", "mean", "scale", "shift", "slope"}, 4
	}
	s.matrix(name, args, "dx[i] = scale[c]*"+g+" - (slope[c]*(x[i]-mean[c]) + shift[c])")
	var zero reg.VecVirtual
	if masked {
		zero = s.zero()
	}
	s.byRows(moving, pointers(at...), func(m []Mem, p part) {
		x, g, factors := s.load(m[0], p), s.load(m[1], p), m[moving:]
		if masked {
			g = s.keep(greater, s.load(m[3], p), zero, g)
		}
		VSUBPS(s.load(factors[0], p), x, x)
		VMULPS(s.load(factors[3], p), x, x)
		VADDPS(s.load(factors[2], p), x, x)
		VMULPS(s.load(factors[1], p), g, g)
		VSUBPS(x, g, g)
		s.store(g, m[2], p)
	})
}

func (s isa) scaleRows(masked bool) {
	name, args, g := "scaleRows", "rows, cols int, dy, scale, dx *float32", "dy[i]"
	at, moving := []string{"dy", "dx", "scale"}, 2
	if masked {
		name, args, g = "scaleRowsMasked", "rows, cols int, dy, mask, scale, dx *float32", "where(mask[i], dy[i])"
		at, moving = []string{"dy", "dx", "mask", "scale"}, 3
	}
	s.matrix(name, args, "dx[i] = scale[c] * "+g)
	var zero reg.VecVirtual
	if masked {
		zero = s.zero()
	}
	s.byRows(moving, pointers(at...), func(m []Mem, p part) {
		g := s.load(m[0], p)
		if masked {
			g = s.keep(greater, s.load(m[2], p), zero, g)
		}
		VMULPS(s.load(m[moving], p), g, g)
		s.store(g, m[1], p)
	})
}

// byColumns emits sums by columns, in blocks of four vectors of float64: their
// sums stay in registers while the rows pass. at are pointers to the matrices;
// wide are pointers to cols float64 numbers each, of which the first keep only
// are read; factors to cols float32 numbers. step adds one vector of one row.
func (s isa) byColumns(at, factors, wide []reg.Register, keep int, step func(m []Mem, w []reg.VecVirtual, p part)) {
	most, lanes := 4, s.lanes/2
	if len(factors) > 0 && !s.is512() {
		most = 2 // of 16 registers
	}
	rows, cols, left := Load(Param("rows"), GP64()), Load(Param("cols"), GP64()), GP64()
	body := func(name string, vectors int, last part) {
		w := make([][]reg.VecVirtual, vectors)
		pick := func(v int) part {
			if v == vectors-1 {
				return last
			}
			return whole
		}
		for v := range w {
			for _, r := range wide {
				w[v] = append(w[v], s.load64(Mem{Base: r, Disp: 8 * lanes * v}, pick(v)))
			}
		}
		MOVQ(rows, left)
		i := GP64()
		XORQ(i, i)
		Label(name + "row")
		for v := range w {
			var m []Mem
			for _, r := range at {
				m = append(m, Mem{Base: r, Index: i, Scale: 4, Disp: 4 * lanes * v})
			}
			for _, r := range factors {
				m = append(m, Mem{Base: r, Disp: 4 * lanes * v})
			}
			step(m, w[v], pick(v))
		}
		ADDQ(cols, i)
		DECQ(left)
		JNZ(LabelRef(name + "row"))
		for v := range w {
			for k, r := range wide[keep:] {
				s.store64(w[v][keep+k], Mem{Base: r, Disp: 8 * lanes * v}, pick(v))
			}
		}
	}
	todo := GP64()
	MOVQ(cols, todo)
	SUBQ(Imm(uint64(most*lanes)), todo)
	JLT(LabelRef("narrow"))
	Label("block")
	body("block", most, whole)
	for _, r := range slices.Concat(at, factors) {
		ADDQ(U32(4*most*lanes), r)
	}
	for _, r := range wide {
		ADDQ(U32(8*most*lanes), r)
	}
	SUBQ(Imm(uint64(most*lanes)), todo)
	JGE(LabelRef("block"))
	Label("narrow")
	ADDQ(Imm(uint64(most*lanes)), todo)
	JEQ(LabelRef("end"))
	// 1 to 4 vectors are left, the last one of 1 to all lanes.
	few := GP64()
	LEAQ(Mem{Base: todo, Disp: -1}, few)
	ANDQ(Imm(uint64(lanes-1)), few)
	INCQ(few)
	last := s.first(few, true)
	for v := 1; v < most; v++ {
		CMPQ(todo, Imm(uint64(v*lanes)))
		JLE(LabelRef(fmt.Sprintf("narrow%d", v)))
	}
	for v := most; v > 0; v-- {
		Label(fmt.Sprintf("narrow%d", v))
		body(fmt.Sprintf("narrow%d", v), v, last)
		if v > 1 {
			JMP(LabelRef("end"))
		}
	}
	Label("end")
	asm.End()
}

func (s isa) columnSums() {
	s.matrix("columnSums", "rows, cols int, x *float32, s *float64", "s[c] += float64(x[i])")
	s.byColumns(pointers("x"), nil, pointers("s"), 0, func(m []Mem, w []reg.VecVirtual, p part) {
		VADDPD(s.widen(m[0], p), w[0], w[0])
	})
}

func (s isa) columnMoments() {
	s.matrix("columnMoments", "rows, cols int, x *float32, center, s, q *float64",
		"d := float64(x[i]) - center[c]; s[c] += d; q[c] = fma(d, d, q[c])")
	s.byColumns(pointers("x"), nil, pointers("center", "s", "q"), 1, func(m []Mem, w []reg.VecVirtual, p part) {
		d := s.widen(m[0], p)
		VSUBPD(w[0], d, d)
		VADDPD(d, w[1], w[1])
		VFMADD231PD(d, d, w[2])
	})
}

func (s isa) columnProducts(masked bool) {
	name, args, g := "columnProducts", "rows, cols int, x, dy *float32, center, s, q *float64", "dy[i]"
	at := []string{"x", "dy"}
	if masked {
		name, g = "columnProductsMasked", "where(mask[i], dy[i])"
		args = strings.Replace(args, "dy", "dy, mask", 1)
		at = append(at, "mask")
	}
	s.matrix(name, args, "g := float64("+g+"); s[c] += g; q[c] = fma(g, float64(x[i])-center[c], q[c])")
	var zero reg.VecVirtual
	if masked {
		zero = s.zero()
	}
	s.byColumns(pointers(at...), nil, pointers("center", "s", "q"), 1, func(m []Mem, w []reg.VecVirtual, p part) {
		var g reg.VecVirtual
		if masked {
			g = s.widenWhere(m[2], m[1], zero, p)
		} else {
			g = s.widen(m[1], p)
		}
		VADDPD(g, w[1], w[1])
		d := s.widen(m[0], p)
		VSUBPD(w[0], d, d)
		VFMADD231PD(d, g, w[2])
	})
}

// widenWhere reads v as float64 where mask is above 0, else 0.
func (s isa) widenWhere(mask, v Mem, zero reg.VecVirtual, p part) reg.VecVirtual {
	if s.is512() {
		on := s.widen(mask, p) // comparing 256 bits would ask for AVX-512 VL
		k := K()
		VCMPPD(Imm(greater), zero, on, k)
		return s.widen(v, part{k: k, rest: true})
	}
	on := s.half()
	if p.rest {
		VMASKMOVPS(mask, p.v, on)
	} else {
		VMOVUPS(mask, on)
	}
	VCMPPS(Imm(greater), zero.AsX(), on, on)
	h := s.half()
	if p.rest {
		VMASKMOVPS(v, p.v, h)
		VANDPS(h, on, on)
	} else {
		VANDPS(v, on, on)
	}
	out := s.vec()
	VCVTPS2PD(on, out)
	return out
}

// The ReLU kernels compute the output of normalize again and let dy pass where
// it is above 0: cheaper than reading it.

func (s isa) normalizeBackReLU() {
	s.matrix("normalizeBackReLU", "rows, cols int, x, dy, mean, scale, shift, slope, bias, dx *float32",
		"d := x[i]-mean[c]; dx[i] = scale[c]*where(d*scale[c]+bias[c], dy[i]) - (slope[c]*d + shift[c])")
	zero := s.zero()
	s.byRows(3, pointers("x", "dy", "dx", "mean", "scale", "shift", "slope", "bias"), func(m []Mem, p part) {
		x, g, out, scale := s.load(m[0], p), s.load(m[1], p), s.vec(), s.load(m[4], p)
		VSUBPS(s.load(m[3], p), x, x)
		VMULPS(scale, x, out)
		VADDPS(s.load(m[7], p), out, out)
		g = s.keep(greater, out, zero, g)
		VMULPS(s.load(m[6], p), x, x)
		VADDPS(s.load(m[5], p), x, x)
		VMULPS(scale, g, g)
		VSUBPS(x, g, g)
		s.store(g, m[2], p)
	})
}

func (s isa) columnProductsReLU() {
	s.matrix("columnProductsReLU", "rows, cols int, x, dy, mean, scale, bias *float32, center, s, q *float64",
		"g := float64(where((x[i]-mean[c])*scale[c]+bias[c], dy[i])); s[c] += g; q[c] = fma(g, float64(x[i])-center[c], q[c])")
	zero := XMM()
	VXORPS(zero, zero, zero)
	s.byColumns(pointers("x", "dy"), pointers("mean", "scale", "bias"), pointers("center", "s", "q"), 1, func(m []Mem, w []reg.VecVirtual, p part) {
		y, d, g := s.loadHalf(m[0], p), s.vec(), s.vec()
		VCVTPS2PD(y, d)
		VSUBPS(s.loadHalf(m[2], p), y, y)
		VMULPS(s.loadHalf(m[3], p), y, y)
		VADDPS(s.loadHalf(m[4], p), y, y)
		if s.is512() {
			VCMPPS(Imm(greater), zero.AsY(), y, y)
		} else {
			VCMPPS(Imm(greater), zero, y, y)
		}
		VANDPS(s.loadHalf(m[1], p), y, y)
		VCVTPS2PD(y, g)
		VADDPD(g, w[1], w[1])
		VSUBPD(w[0], d, d)
		VFMADD231PD(d, g, w[2])
	})
}
