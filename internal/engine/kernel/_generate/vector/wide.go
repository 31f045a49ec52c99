package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Vectors of float64, half as many numbers as of float32. Parts are wide ones.

// widen reads float32 numbers as float64; lanes that do not exist become 0.
func (s isa) widen(m Mem, p part) reg.VecVirtual {
	v := s.vec()
	switch {
	case !p.rest:
		VCVTPS2PD(m, v)
	case s.is512():
		VCVTPS2PD_Z(m, p.k, v)
	default:
		h := s.half()
		VMASKMOVPS(m, p.v, h)
		VCVTPS2PD(h, v)
	}
	return v
}

// loadHalf reads float32 numbers, as many as a vector holds float64.
func (s isa) loadHalf(m Mem, p part) reg.VecVirtual {
	h := s.half()
	switch {
	case !p.rest:
		VMOVUPS(m, h)
	case s.is512(): // a masked load of 256 bits would ask for AVX-512 VL
		VMOVUPS_Z(m, p.k, h.AsZ())
	default:
		VMASKMOVPS(m, p.v, h)
	}
	return h
}

// narrow rounds to float32 and writes the lanes that exist.
func (s isa) narrow(v reg.VecVirtual, m Mem, p part) {
	h := s.half()
	if !s.is512() {
		VCVTPD2PSY(v, h)
		if p.rest {
			VMASKMOVPS(h, p.v, m)
		} else {
			VMOVUPS(h, m)
		}
		return
	}
	VCVTPD2PS(v, h)
	if p.rest { // a masked store of 256 bits would ask for AVX-512 VL
		VMOVUPS(h.AsZ(), p.k, m)
	} else {
		VMOVUPS(h, m)
	}
}

// part64 returns the mask of 64-bit lanes that AVX2 wants.
func (s isa) part64(p part) reg.VecVirtual {
	m := s.vec()
	VPMOVSXDQ(p.v, m)
	return m
}

// load64 reads float64 numbers; lanes that do not exist become 0.
func (s isa) load64(m Mem, p part) reg.VecVirtual {
	v := s.vec()
	switch {
	case !p.rest:
		VMOVUPD(m, v)
	case s.is512():
		VMOVUPD_Z(m, p.k, v)
	default:
		VMASKMOVPD(m, s.part64(p), v)
	}
	return v
}

// store64 writes the lanes that exist.
func (s isa) store64(v reg.Register, m Mem, p part) {
	switch {
	case !p.rest:
		VMOVUPD(v, m)
	case s.is512():
		VMOVUPD(v, p.k, m)
	default:
		VMASKMOVPD(v, s.part64(p), m)
	}
}
