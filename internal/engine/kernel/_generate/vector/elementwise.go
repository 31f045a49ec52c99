package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// text begins a function and says which Go loop it equals.
func (s isa) text(name, signature string, loop ...string) {
	doc := []string{"is, for sizes above 0:", ""}
	for _, l := range loop {
		doc = append(doc, "\t"+l)
	}
	asm.Func(name, s.name, signature, doc...)
}

// vector is text for a line that is done for each number.
func (s isa) vector(name, signature, line string) {
	asm.Func(name, s.name, signature, "is, for i from 0 to n - 1, n above 0:", "", "\t"+line)
}

// pointers loads arguments that are addresses or sizes.
func pointers(names ...string) []reg.Register {
	var out []reg.Register
	for _, n := range names {
		out = append(out, Load(Param(n), GP64()))
	}
	return out
}

func elementwise() {
	for _, s := range isas {
		s.relu()
		s.reluBackward()
		s.add(false)
		s.add(true)
		s.axpy()
		s.scale()
	}
}

// positive returns v, or 0 where v <= 0; NaN stays.
func (s isa) positive(v, zero reg.Register) reg.VecVirtual {
	return s.keep(notLessOrEqual, v, zero, v)
}

func (s isa) relu() {
	s.vector("relu", "n int, x, y *float32", "y[i] = positive(x[i])")
	n := Load(Param("n"), GP64())
	zero := s.zero()
	s.each(n, pointers("x", "y"), false, func(m []Mem, p part) {
		s.store(s.positive(s.load(m[0], p), zero), m[1], p)
	})
	asm.End()
}

func (s isa) reluBackward() {
	s.vector("reluBackward", "n int, y, dy, dx *float32", "dx[i] = where(y[i], dy[i])")
	n := Load(Param("n"), GP64())
	zero := s.zero()
	s.each(n, pointers("y", "dy", "dx"), false, func(m []Mem, p part) {
		y := s.load(m[0], p)
		s.store(s.keep(greater, y, zero, s.load(m[1], p)), m[2], p)
	})
	asm.End()
}

func (s isa) add(relu bool) {
	name, sum := "add", "a[i] + b[i]"
	if relu {
		name, sum = "addReLU", "positive(a[i] + b[i])"
	}
	s.vector(name, "n int, a, b, out *float32", "out[i] = "+sum)
	n := Load(Param("n"), GP64())
	var zero reg.VecVirtual
	if relu {
		zero = s.zero()
	}
	s.each(n, pointers("a", "b", "out"), false, func(m []Mem, p part) {
		a, b := s.load(m[0], p), s.load(m[1], p)
		VADDPS(b, a, a)
		if relu {
			a = s.positive(a, zero)
		}
		s.store(a, m[2], p)
	})
	asm.End()
}

func (s isa) axpy() {
	s.vector("axpy", "alpha float32, n int, x, y *float32", "y[i] += float32(alpha * x[i])")
	n, alpha := Load(Param("n"), GP64()), s.broadcast(param("alpha"))
	s.each(n, pointers("x", "y"), false, func(m []Mem, p part) {
		x, y := s.load(m[0], p), s.load(m[1], p)
		VMULPS(alpha, x, x)
		VADDPS(x, y, y)
		s.store(y, m[1], p)
	})
	asm.End()
}

func (s isa) scale() {
	s.vector("scale", "alpha float32, n int, x *float32", "x[i] *= alpha")
	n, alpha := Load(Param("n"), GP64()), s.broadcast(param("alpha"))
	s.each(n, pointers("x"), false, func(m []Mem, p part) {
		x := s.load(m[0], p)
		VMULPS(alpha, x, x)
		s.store(x, m[0], p)
	})
	asm.End()
}
