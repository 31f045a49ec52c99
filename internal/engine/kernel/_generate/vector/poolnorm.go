package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Batch norm fused with the pooling that follows. Factors come in vectors: those
// of each kind for the first vector of channels, then for the next.

func (s isa) normalizeMaxWindows(relu bool) {
	name, on := "normalizeMaxWindows", "false"
	if relu {
		name, on = "normalizeReLUMaxWindows", "true"
	}
	s.text(name, windowArgs+"first int, x, factors, y *float32, arg *int32, won *float32",
		"normalizeMaxWindowsGeneric(windows{count, c, kh, kw, row, next, first}, mean, scale, shift, "+on+", x, y, arg, won)")
	var o *offsets
	var zero reg.VecVirtual
	s.over("x", "first", pointers("y", "arg", "won"), func(w *windows) {
		w.factors, w.perVector = GP64(), 3
		o = w.offsets()
		if relu {
			zero = s.zero()
		}
	}, func(w *windows, label string, m []Mem, p part) {
		o.begin()
		value := func(x reg.VecVirtual) reg.VecVirtual {
			v := s.vec()
			VSUBPS(w.factor(0), x, v)
			VMULPS(w.factor(1), v, v)
			VADDPS(w.factor(2), v, v)
			if relu {
				v = s.positive(v, zero)
			}
			return v
		}
		winner := s.load(Mem{Base: w.image, Index: w.channel, Scale: 4}, p)
		best, at := value(winner), s.vec()
		VMOVUPS(o.now, at)
		w.pixels(label, func(m Mem) {
			x := s.load(m, p)
			s.replace(value(x), best, o.now, at, x, winner)
		}, o.column, o.down)
		s.store(best, m[0], p)
		s.store(at, m[1], p)
		s.store(winner, m[2], p)
	})
}

func (s isa) normalizeMaxWindowsBack(masked bool) {
	name, args, mask, flat := "normalizeMaxWindowsBack", "dy *float32, arg *int32, dx *float32", "nil", []string{"dy", "arg"}
	if masked {
		name, args, mask, flat = "normalizeMaxWindowsBackMasked", "dy, mask *float32, arg *int32, dx *float32", "mask", append(flat, "mask")
	}
	s.text(name, windowArgs+"first int, x, factors, "+args,
		"normalizeMaxWindowsBackGeneric(windows{count, c, kh, kw, row, next, first}, mean, scale, shift, slope, x, dy, "+mask+", arg, dx)")
	var o *offsets
	apart := GP64() // from dx to x
	s.over("dx", "first", pointers(flat...), func(w *windows) {
		w.factors, w.perVector = GP64(), 4
		MOVQ(param("x"), apart)
		SUBQ(w.image, apart)
		w.also = apart
		o = w.offsets()
	}, func(w *windows, label string, m []Mem, p part) {
		o.begin()
		g, arg := s.load(m[0], p), s.load(m[1], p)
		if masked {
			g = s.keep(greater, s.load(m[2], p), s.zero(), g)
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
			VMULPS(w.factor(1), out, out)
			from := m
			if m.Index == nil {
				from.Index, from.Scale = apart, 1
			} else {
				there := GP64()
				LEAQ(m, there)
				from = Mem{Base: there, Index: apart, Scale: 1}
			}
			x := s.load(from, p)
			VSUBPS(w.factor(0), x, x)
			VMULPS(w.factor(3), x, x)
			VADDPS(w.factor(2), x, x)
			VSUBPS(x, out, out)
			s.store(out, m, p)
		}, o.column, o.down)
	})
}
