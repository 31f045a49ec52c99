package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func update() {
	for _, s := range isas {
		s.adamStep()
		s.sgdStep("sgdStep", false, false)
		s.sgdStep("momentumStep", true, false)
		s.sgdStep("nesterovStep", true, true)
		s.signStep()
	}
}

// factors reads the first n float32 fields of the struct that f points to.
func (s isa) factors(n int) []reg.VecVirtual {
	f := Load(Param("f"), GP64())
	var out []reg.VecVirtual
	for i := range n {
		out = append(out, s.broadcast(Mem{Base: f, Disp: 4 * i}))
	}
	return out
}

// decayed returns w = keep*p and d = g + l2*w.
func (s isa) decayed(keep, l2 reg.VecVirtual, p, g Mem, q part) (w, d reg.VecVirtual) {
	w, d = s.load(p, q), s.load(g, q)
	VMULPS(keep, w, w)
	t := s.vec()
	VMULPS(l2, w, t)
	VADDPS(t, d, d)
	return w, d
}

func (s isa) adamStep() {
	s.text("adamStep", "f *float32, n int, p, grad, m, v *float32", "adamStepGeneric(f, p[:n], grad[:n], m[:n], v[:n])")
	f := s.factors(8)
	keep, l2, beta1, rest1, beta2, rest2, size, eps := f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
	n := Load(Param("n"), GP64())
	s.each(n, pointers("p", "grad", "m", "v"), false, func(at []Mem, q part) {
		w, d := s.decayed(keep, l2, at[0], at[1], q)
		m, t := s.load(at[2], q), s.vec()
		VMULPS(beta1, m, m)
		VMULPS(rest1, d, t)
		VADDPS(t, m, m)
		s.store(m, at[2], q)
		v := s.load(at[3], q)
		VMULPS(rest2, d, t)
		VMULPS(d, t, t)
		VMULPS(beta2, v, v)
		VADDPS(t, v, v)
		s.store(v, at[3], q)
		VSQRTPS(v, v)
		VADDPS(eps, v, v)
		VDIVPS(v, m, m)
		VMULPS(size, m, m)
		VSUBPS(m, w, w)
		s.store(w, at[0], q)
	})
	asm.End()
}

func (s isa) sgdStep(name string, momentum, nesterov bool) {
	args, call, at := "p, grad *float32", "nil, false", []string{"p", "grad"}
	if momentum {
		args, call, at = "p, grad, buf *float32", "buf[:n], false", append(at, "buf")
	}
	if nesterov {
		call = "buf[:n], true"
	}
	s.text(name, "f *float32, n int, "+args, "sgdStepGeneric(f, p[:n], grad[:n], "+call+")")
	f := s.factors(4)
	keep, l2, rate, mu := f[0], f[1], f[2], f[3]
	n := Load(Param("n"), GP64())
	s.each(n, pointers(at...), false, func(m []Mem, q part) {
		w, d := s.decayed(keep, l2, m[0], m[1], q)
		if momentum {
			b := s.load(m[2], q)
			VMULPS(mu, b, b)
			VADDPS(d, b, b)
			s.store(b, m[2], q)
			if nesterov {
				VMULPS(mu, b, b)
				VADDPS(b, d, d)
			} else {
				d = b
			}
		}
		VMULPS(rate, d, d)
		VSUBPS(d, w, w)
		s.store(w, m[0], q)
	})
	asm.End()
}

func (s isa) signStep() {
	s.text("signStep", "step, eps, low, high float32, n int, x, grad, clean *float32",
		"signStepGeneric(x[:n], grad[:n], clean[:n], step, eps, low, high)")
	step, eps, low, high := s.broadcast(param("step")), s.broadcast(param("eps")), s.broadcast(param("low")), s.broadcast(param("high"))
	zero, back := s.zero(), s.vec()
	VSUBPS(step, zero, back)
	n := Load(Param("n"), GP64())
	s.each(n, pointers("x", "grad", "clean"), false, func(m []Mem, p part) {
		x, g := s.load(m[0], p), s.load(m[1], p)
		VSUBPS(s.signed(g, zero, step, back), x, x)
		clean, least, most := s.load(m[2], p), s.vec(), s.vec()
		VSUBPS(eps, clean, least)
		VADDPS(eps, clean, most)
		v := s.extreme(false, s.extreme(true, s.extreme(true, x, least), low), most)
		v = s.extreme(false, v, high)
		s.spoil(v, x, least)
		s.store(v, m[0], p)
	})
	asm.End()
}

// signed returns up where g > 0, down where g < 0, else 0.
func (s isa) signed(g, zero, up, down reg.VecVirtual) reg.VecVirtual {
	out := s.keep(greater, g, zero, up)
	if s.is512() {
		k := K()
		VCMPPS(Imm(greater), g, zero, k)
		VMOVUPS(down, k, out)
		return out
	}
	VORPS(s.keep(greater, zero, g, down), out, out)
	return out
}

// extreme returns the larger or the smaller one of numbers, with -0 below 0.
func (s isa) extreme(larger bool, a, b reg.VecVirtual) reg.VecVirtual {
	// The instructions give the second one of two zeros: both orders differ in the
	// sign alone.
	x, y := s.vec(), s.vec()
	if larger {
		VMAXPS(a, b, x)
		VMAXPS(b, a, y)
	} else {
		VMINPS(a, b, x)
		VMINPS(b, a, y)
	}
	switch {
	case s.is512() && larger:
		VPANDD(x, y, x)
	case s.is512():
		VPORD(x, y, x)
	case larger:
		VANDPS(x, y, x)
	default:
		VORPS(x, y, x)
	}
	return x
}

// spoil makes v NaN where a or b is.
func (s isa) spoil(v, a, b reg.VecVirtual) {
	if s.is512() {
		k := K()
		VCMPPS(Imm(unordered), a, b, k)
		VADDPS(a, b, k, v)
		return
	}
	on, sum := s.vec(), s.vec()
	VCMPPS(Imm(unordered), a, b, on)
	VADDPS(a, b, sum)
	VBLENDVPS(on, sum, v, v)
}
