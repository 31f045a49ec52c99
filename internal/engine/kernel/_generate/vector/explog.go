package main

import (
	"math"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func explog() {
	for _, s := range isas {
		s.exp()
		s.log()
	}
}

// constants keeps numbers in registers where there are 32, and reads them from
// memory where there are 16.
type constants struct {
	isa
	held map[uint32]reg.VecVirtual
}

func (s isa) constants(values ...float32) *constants {
	c := &constants{s, map[uint32]reg.VecVirtual{}}
	if s.is512() {
		for _, v := range values {
			b := math.Float32bits(v)
			c.held[b] = s.broadcast(constant(b))
		}
	}
	return c
}

var known = map[uint32]Mem{}

// constant returns the memory of a number of 32 bits.
func constant(bits uint32) Mem {
	m, ok := known[bits]
	if !ok {
		m = ConstData("c"+hex(bits), U32(bits))
		known[bits] = m
	}
	return m
}

func hex(b uint32) string {
	const digits = "0123456789abcdef"
	var s [8]byte
	for i := range s {
		s[i] = digits[b>>(28-4*i)&15]
	}
	return string(s[:])
}

func (c *constants) bits(b uint32) reg.VecVirtual {
	if v, ok := c.held[b]; ok {
		return v
	}
	return c.broadcast(constant(b))
}

func (c *constants) get(v float32) reg.VecVirtual { return c.bits(math.Float32bits(v)) }

// horner returns the polynomial with these coefficients, the highest first.
func (c *constants) horner(x reg.VecVirtual, coefficients []float32) reg.VecVirtual {
	p := c.vec()
	VMOVAPS(c.get(coefficients[0]), p)
	for _, v := range coefficients[1:] {
		VFMADD213PS(c.get(v), x, p)
	}
	return p
}

// expCoefficients approximate (exp(r) - 1 - r) / r^2 for |r| <= log(2)/2
// (Cephes, expf).
var expCoefficients = []float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1}

const (
	expLeast, expMost = -104, 89       // beyond: 0 and infinity
	ln2High           = 0.693359375    // of few bits: its multiples are exact
	ln2Low            = -2.12194440e-4 // log(2) - ln2High
	shifter           = 1.5 * (1 << 23)
)

func (s isa) exp() {
	s.text("exp", "n int, x, y *float32",
		"for i := range n {",
		"\tt := min(max(x[i], -104), 89)",
		"\tk := round(t * log2(e))",
		"\tr := fma(-k, ln2Low, fma(-k, ln2High, t))",
		"\ty[i] = (fma(p(r), r*r, r) + 1) * 2^k",
		"}")
	c := s.constants(expConstants...)
	n := Load(Param("n"), GP64())
	s.each(n, pointers("x", "y"), false, func(m []Mem, part part) {
		s.store(c.exp(s.load(m[0], part)), m[1], part)
	})
	asm.End()
}

// expConstants are those of exp.
var expConstants = append([]float32{expLeast, expMost, math.Log2E, shifter, ln2High, ln2Low, 1}, expCoefficients...)

// exp returns exp(t) and overwrites t.
func (c *constants) exp(t reg.VecVirtual) reg.VecVirtual {
	k, r := c.vec(), c.vec()
	VMAXPS(t, c.get(expLeast), t) // keeps the NaN of its second source
	VMINPS(t, c.get(expMost), t)
	VMOVAPS(c.get(math.Log2E), k)
	VFMADD213PS(c.get(shifter), t, k) // rounds to an integer
	VSUBPS(c.get(shifter), k, k)
	VMOVAPS(t, r)
	VFNMADD231PS(c.get(ln2High), k, r)
	VFNMADD231PS(c.get(ln2Low), k, r)
	p, square := c.horner(r, expCoefficients), c.vec()
	VMULPS(r, r, square)
	VFMADD213PS(r, square, p)
	VADDPS(c.get(1), p, p)
	return c.scaled(c, p, k)
}

// scaled returns v * 2^k, rounded once.
func (s isa) scaled(c *constants, v, k reg.VecVirtual) reg.VecVirtual {
	if s.is512() {
		VSCALEFPS(k, v, v)
		return v
	}
	// Two factors: 2^k alone can be too large or too small.
	whole, half := s.vec(), s.vec()
	VCVTPS2DQ(k, whole)
	VPSRAD(Imm(1), whole, half)
	VPSUBD(half, whole, whole)
	for _, e := range []reg.VecVirtual{half, whole} {
		VPADDD(c.bits(127), e, e)
		VPSLLD(Imm(23), e, e)
		VMULPS(e, v, v)
	}
	return v
}

// logCoefficients approximate (log(1+f) - f + f^2/2) / f^3 for 1+f from sqrt(1/2)
// to sqrt(2) (Cephes, logf).
var logCoefficients = []float32{7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1}

const sqrtHalf = 0x3f3504f3 // bits

func (s isa) log() {
	s.text("log", "n int, x, y *float32",
		"for i := range n {",
		"\tk, m := exponent(x[i]), x[i]/2^k // sqrt(1/2) <= m < sqrt(2)",
		"\tf := m - 1",
		"\ty[i] = fma(k, ln2High, f+fma(-0.5, f*f, fma(k, ln2Low, p(f)*f*(f*f))))",
		"}")
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	c := s.constants(append([]float32{0x1p-126, 0x1p25, 25, 1, -0.5, ln2High, ln2Low, inf, nan, -inf}, logCoefficients...)...)
	n, zero := Load(Param("n"), GP64()), s.zero()
	s.each(n, pointers("x", "y"), false, func(m []Mem, part part) {
		x, v := s.load(m[0], part), s.vec()
		// Subnormal numbers are scaled up.
		VMULPS(c.get(0x1p25), x, v)
		s.choose(notGreater, c.get(0x1p-126), x, x, v)
		back := s.keep(greater, c.get(0x1p-126), x, c.get(25))
		bits, k, e := s.vec(), s.vec(), s.vec()
		VMOVAPS(v, bits)
		VPSUBD(c.bits(sqrtHalf), bits, k)
		VPSRAD(Imm(23), k, k)
		VPSLLD(Imm(23), k, e)
		VPSUBD(e, bits, bits)
		VCVTDQ2PS(k, k)
		VSUBPS(back, k, k)
		f, square := bits, s.vec()
		VSUBPS(c.get(1), f, f)
		VMULPS(f, f, square)
		p := c.horner(f, logCoefficients)
		VMULPS(f, p, p)
		VMULPS(square, p, p)
		VFMADD231PS(c.get(ln2Low), k, p)
		VFMADD231PS(c.get(-0.5), square, p)
		VADDPS(f, p, p)
		VFMADD231PS(c.get(ln2High), k, p)
		s.choose(equal, x, c.get(inf), x, p)
		s.choose(notGreater, x, zero, c.get(nan), p)
		s.choose(equal, x, zero, c.get(-inf), p)
		s.store(p, m[1], part)
	})
	asm.End()
}

// choose moves v to out where a and b compare so.
func (s isa) choose(predicate uint64, a, b, v, out reg.VecVirtual) {
	if s.is512() {
		k := K()
		VCMPPS(Imm(predicate), b, a, k)
		VMOVAPS(v, k, out)
		return
	}
	on := s.vec()
	VCMPPS(Imm(predicate), b, a, on)
	VBLENDVPS(on, v, out, out)
}
