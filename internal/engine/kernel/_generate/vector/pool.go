package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// counting is 0, 1, 2, ... 15 as integers.
var counting Mem

func pool() {
	counting = GLOBL("counting", 8|16) // read-only, no pointers
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	for _, s := range isas {
		s.maxWindows()
		for _, add := range []bool{false, true} {
			s.maxWindowsBack(add, false)
			s.maxWindowsBack(add, true)
			s.avgWindowsBack(add)
		}
		s.avgWindows()
		s.normalizeMaxWindows(false)
		s.normalizeMaxWindows(true)
		s.normalizeMaxWindowsBack(false)
		s.normalizeMaxWindowsBack(true)
	}
}

const windowArgs = "count, c, kh, kw, row, next int, "

// windows is a loop over a row of windows and, in each, vectors of channels.
type windows struct {
	isa
	cBytes, rowBytes reg.GPVirtual // from a pixel to the next and to the one below
	channel          reg.GPVirtual // the vector's first channel
	image            reg.Register  // the window's first pixel
	offset           reg.GPVirtual // and its offset in the image
	rest             part
	factors          reg.Register // nil, or those of the vector's channels
	perVector        int          // vectors of factors for a vector of channels
	also             reg.Register // nil, or how far away lies another image that is read with it
}

// over emits the loop; flat are pointers to c numbers a window. body is emitted
// for windows of 2x2 pixels without a loop, and for all others.
func (s isa) over(image, first string, flat []reg.Register, prepare func(w *windows), body func(w *windows, label string, m []Mem, p part)) {
	w := &windows{isa: s, cBytes: GP64(), rowBytes: GP64(), channel: GP64(), offset: GP64()}
	w.image = Load(Param(image), GP64())
	if first != "" {
		MOVQ(param(first), w.offset)
	}
	MOVQ(param("c"), w.cBytes)
	few := GP64()
	MOVQ(w.cBytes, few)
	SHLQ(Imm(2), w.cBytes)
	MOVQ(param("row"), w.rowBytes)
	SHLQ(Imm(2), w.rowBytes)
	ANDQ(Imm(uint64(s.lanes-1)), few)
	w.rest = s.first(few, false)
	prepare(w)
	CMPQ(param("kh"), Imm(2))
	JNE(LabelRef("anyWindow"))
	CMPQ(param("kw"), Imm(2))
	JNE(LabelRef("anyWindow"))
	for _, label := range []string{"square", "any"} {
		Label(label + "Window")
		XORQ(w.channel, w.channel)
		if w.factors != nil {
			MOVQ(param("factors"), w.factors)
		}
		var m []Mem
		for _, r := range flat {
			m = append(m, Mem{Base: r, Index: w.channel, Scale: 4})
		}
		left := func() reg.Register {
			r := GP64()
			MOVQ(param("c"), r)
			SUBQ(w.channel, r)
			return r
		}
		CMPQ(left(), Imm(uint64(s.lanes)))
		JLT(LabelRef(label + "Rest"))
		Label(label + "Whole")
		body(w, label+"Whole", m, whole)
		ADDQ(Imm(uint64(s.lanes)), w.channel)
		if w.factors != nil {
			ADDQ(U32(4*s.lanes*w.perVector), w.factors)
		}
		CMPQ(left(), Imm(uint64(s.lanes)))
		JGE(LabelRef(label + "Whole"))
		Label(label + "Rest")
		rest := left()
		TESTQ(rest, rest)
		JEQ(LabelRef(label + "Next"))
		body(w, label+"Rest", m, w.rest)
		Label(label + "Next")
		for _, r := range flat {
			ADDQ(w.cBytes, r)
		}
		next := GP64()
		MOVQ(param("next"), next)
		LEAQ(Mem{Base: w.image, Index: next, Scale: 4}, w.image)
		if first != "" {
			ADDQ(next, w.offset)
		}
		DECQ(param("count"))
		JNZ(LabelRef(label + "Window"))
		asm.End()
	}
}

// factor is the operand of the vector's k-th factors.
func (w *windows) factor(k int) Mem { return Mem{Base: w.factors, Disp: 4 * w.lanes * k} }

// pixels emits what is done with each pixel of a window; column and row follow
// every step to the right and to the row below.
func (w *windows) pixels(label string, pixel func(m Mem), column, row func()) {
	p := GP64()
	LEAQ(Mem{Base: w.image, Index: w.channel, Scale: 4}, p)
	if label[0] == 's' {
		for r := range 2 {
			w.fetch(p)
			pixel(Mem{Base: p})
			column()
			pixel(Mem{Base: p, Index: w.cBytes, Scale: 1})
			if r == 0 {
				ADDQ(w.rowBytes, p)
				row()
			}
		}
		return
	}
	q, rows, columns := GP64(), GP64(), GP64()
	MOVQ(param("kh"), rows)
	Label(label + "Row")
	MOVQ(p, q)
	MOVQ(param("kw"), columns)
	Label(label + "Column")
	pixel(Mem{Base: q})
	ADDQ(w.cBytes, q)
	column()
	DECQ(columns)
	JNZ(LabelRef(label + "Column"))
	ADDQ(w.rowBytes, p)
	row()
	DECQ(rows)
	JNZ(LabelRef(label + "Row"))
}

// fetch asks for the pixels two rows below p and beside it, which the windows below read.
func (w *windows) fetch(p reg.Register) {
	below := GP64()
	LEAQ(Mem{Base: p, Index: w.rowBytes, Scale: 2}, below)
	PREFETCHT0(Mem{Base: below})
	PREFETCHT0(Mem{Base: below, Index: w.cBytes, Scale: 1})
	if w.also != nil {
		PREFETCHT0(Mem{Base: below, Index: w.also, Scale: 1})
		ADDQ(w.cBytes, below)
		PREFETCHT0(Mem{Base: below, Index: w.also, Scale: 1})
	}
}

// offsets follows the pixels' offsets in the image.
type offsets struct {
	*windows
	right, below reg.VecVirtual // c and row in all lanes
	now, line    reg.VecVirtual
}

// spread copies an integer to all lanes.
func (s isa) spread(r reg.Register) reg.VecVirtual {
	x, v := XMM(), s.vec()
	VMOVQ(r, x)
	VPBROADCASTD(x, v)
	return v
}

func (w *windows) offsets() *offsets {
	c, row := GP64(), GP64()
	MOVQ(param("c"), c)
	MOVQ(param("row"), row)
	return &offsets{windows: w, right: w.spread(c), below: w.spread(row), now: w.vec(), line: w.vec()}
}

func (o *offsets) begin() {
	at := GP64()
	LEAQ(Mem{Base: o.offset, Index: o.channel, Scale: 1}, at)
	v := o.spread(at)
	VPADDD(counting, v, o.line)
	VMOVUPS(o.line, o.now)
}

func (o *offsets) column() { VPADDD(o.right, o.now, o.now) }

func (o *offsets) down() {
	VPADDD(o.below, o.line, o.line)
	VMOVUPS(o.line, o.now)
}

func (s isa) maxWindows() {
	s.text("maxWindows", windowArgs+"first int, x, y *float32, arg *int32", "maxWindowsGeneric(windows{count, c, kh, kw, row, next, first}, x, y, arg)")
	var o *offsets
	s.over("x", "first", pointers("y", "arg"), func(w *windows) { o = w.offsets() }, func(w *windows, label string, m []Mem, p part) {
		o.begin()
		best := s.load(Mem{Base: w.image, Index: w.channel, Scale: 4}, p)
		won := s.vec()
		VMOVUPS(o.now, won)
		w.pixels(label, func(m Mem) { s.replace(s.load(m, p), best, o.now, won) }, o.column, o.down)
		s.store(best, m[0], p)
		s.store(won, m[1], p)
	})
}

// replace moves v to best where v is greater, or the first NaN, and with it each
// of the following pairs' first to the second.
func (s isa) replace(v, best reg.VecVirtual, pairs ...reg.VecVirtual) {
	if s.is512() {
		number, k := K(), K()
		VCMPPS(Imm(ordered), best, best, number)
		VCMPPS(Imm(notLessOrEqual), best, v, number, k)
		VMOVAPS(v, k, best)
		for i := 0; i < len(pairs); i += 2 {
			VMOVAPS(pairs[i], k, pairs[i+1])
		}
		return
	}
	number, on := s.vec(), s.vec()
	VCMPPS(Imm(ordered), best, best, number)
	VCMPPS(Imm(notLessOrEqual), best, v, on)
	VANDPS(number, on, on)
	VBLENDVPS(on, v, best, best)
	for i := 0; i < len(pairs); i += 2 {
		VBLENDVPS(on, pairs[i], pairs[i+1], pairs[i+1])
	}
}

func (s isa) maxWindowsBack(add, masked bool) {
	name, args, mask := "maxWindowsBack", "dy *float32, arg *int32, dx *float32", "nil"
	flat := []string{"dy", "arg"}
	if masked {
		name, args, mask = "maxWindowsBackMasked", "dy, mask *float32, arg *int32, dx *float32", "mask"
		flat = append(flat, "mask")
	}
	on := "false"
	if add {
		name, on = name+"Add", "true"
	}
	s.text(name, windowArgs+"first int, "+args, "maxWindowsBackGeneric(windows{count, c, kh, kw, row, next, first}, "+on+", dy, "+mask+", arg, dx)")
	var o *offsets
	var zero reg.VecVirtual
	s.over("dx", "first", pointers(flat...), func(w *windows) {
		o = w.offsets()
		if masked {
			zero = s.zero()
		}
	}, func(w *windows, label string, m []Mem, p part) {
		o.begin()
		g, arg := s.load(m[0], p), s.load(m[1], p)
		if masked {
			g = s.keep(greater, s.load(m[2], p), zero, g)
		}
		w.pixels(label, func(m Mem) {
			out := s.vec()
			if s.is512() {
				k := K()
				VPCMPEQD(o.now, arg, k)
				VMOVUPS_Z(g, k, out)
			} else {
				VPCMPEQD(o.now, arg, out)
				VANDPS(g, out, out)
			}
			if add {
				VADDPS(s.load(m, p), out, out)
			}
			s.store(out, m, p)
		}, o.column, o.down)
	})
}

func nothing() {}

func (s isa) avgWindows() {
	s.text("avgWindows", "scale float32, "+windowArgs+"x, y *float32", "avgWindowsGeneric(windows{count, c, kh, kw, row, next, 0}, scale, x, y)")
	var scale reg.VecVirtual
	s.over("x", "", pointers("y"), func(*windows) { scale = s.broadcast(param("scale")) }, func(w *windows, label string, m []Mem, p part) {
		sum := s.zero()
		w.pixels(label, func(m Mem) { VADDPS(s.load(m, p), sum, sum) }, nothing, nothing)
		VMULPS(scale, sum, sum)
		s.store(sum, m[0], p)
	})
}

func (s isa) avgWindowsBack(add bool) {
	name, on := "avgWindowsBack", "false"
	if add {
		name, on = name+"Add", "true"
	}
	s.text(name, "scale float32, "+windowArgs+"dy, dx *float32", "avgWindowsBackGeneric(windows{count, c, kh, kw, row, next, 0}, "+on+", scale, dy, dx)")
	var scale reg.VecVirtual
	s.over("dx", "", pointers("dy"), func(*windows) { scale = s.broadcast(param("scale")) }, func(w *windows, label string, m []Mem, p part) {
		g := s.load(m[0], p)
		VMULPS(scale, g, g)
		w.pixels(label, func(m Mem) {
			if !add {
				s.store(g, m, p)
				return
			}
			sum := s.load(m, p)
			VADDPS(g, sum, sum)
			s.store(sum, m, p)
		}, nothing, nothing)
	})
}
