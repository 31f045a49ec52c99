package main

import (
	"strconv"

	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// walk emits the loops over strips, pixels and vectors of 16 channels. The pointers of
// these names advance by their strides; i counts channels.
func walk(t asm.Args, names []string, body func(p []reg.Register, i reg.Register)) {
	strips, pixels, i := t.Load("strips"), GP64(), GP64()
	rows, p := make([]reg.Register, len(names)), make([]reg.Register, len(names))
	for j, name := range names {
		rows[j], p[j] = t.Load(name), GP64()
	}
	Label("strip")
	MOVQ(t.Mem("pixels"), pixels)
	for j := range names {
		MOVQ(rows[j], p[j])
	}
	Label("pixel")
	XORQ(i, i)
	Label("vector")
	body(p, i)
	ADDQ(Imm(16), i)
	CMPQ(i, t.Mem("channels"))
	JLT(LabelRef("vector"))
	for j, name := range names {
		ADDQ(t.Mem(name+"Pixel"), p[j])
	}
	DECQ(pixels)
	JNZ(LabelRef("pixel"))
	for j, name := range names {
		ADDQ(t.Mem(name+"Strip"), rows[j])
	}
	DECQ(strips)
	JNZ(LabelRef("strip"))
	asm.End()
}

// pool emits poolBF16AVX512. A NaN is chosen over numbers, and the first of equal numbers.
func pool() {
	TEXT("poolBF16AVX512", NOSPLIT, "func(t *"+asm.Struct("../bf16_pool.go", "windowArgs")+")")
	t := asm.LoadArgs("t")
	bias := t.Load("bias")
	bits, linear := GP32(), K()
	MOVBLZX(t.Mem("relu"), bits)
	DECL(bits)
	KMOVW(bits, linear)
	r, zero := newRounding(), ZMM()
	VPXORD(zero, zero, zero)
	var places [5]reg.VecVirtual
	for q := 1; q < 5; q++ {
		places[q] = spread(uint64(q))
	}
	walk(t, []string{"x", "y", "won"}, func(p []reg.Register, i reg.Register) {
		in := func(q int) Mem { // two pixels of each of two rows of 16
			m := at(p[0], i, 4)
			m.Disp = q%2*128 + q/2*16*128
			return m
		}
		most, place := ZMM(), ZMM()
		VMOVUPS(in(0), most)
		VPXORD(place, place, place)
		for q := 1; q < 4; q++ {
			v, k, nan := ZMM(), K(), K()
			VMOVUPS(in(q), v)
			VCMPPS(Imm(30), most, v, k) // v above most
			VCMPPS(Imm(3), v, v, nan)
			KORW(nan, k, k)
			VMOVAPS(v, k, most)
			VMOVDQA32(places[q], k, place)
		}
		k := K()
		VADDPS(at(bias, i, 4), most, most)
		VCMPPS(Imm(22), zero, most, k) // not at most 0
		KORW(linear, k, k)
		VMOVAPS_Z(most, k, most)
		VPBLENDMD(place, places[4], k, place)
		VPMOVDB(place, at(p[2], i, 1))
		r.store(most, at(p[1], i, 2))
	})
}

// unpool emits unpoolBF16AVX512.
func unpool() {
	TEXT("unpoolBF16AVX512", NOSPLIT, "func(t *"+asm.Struct("../bf16_pool.go", "windowArgs")+")")
	t := asm.LoadArgs("t")
	r, below := newRounding(), GP64()
	var places [4]reg.VecVirtual
	for q := range places {
		places[q] = XMM()
		b := GP32()
		MOVL(U32(uint64(q)*0x01010101), b)
		VPBROADCASTD(b, places[q])
	}
	walk(t, []string{"x", "y", "won"}, func(p []reg.Register, i reg.Register) {
		v, w, won := ZMM(), YMM(), XMM()
		VMOVUPS(at(p[0], i, 4), v)
		r.round(v)
		VPSRLD(Imm(16), v, v)
		VPMOVDW(v, w)
		VMOVDQU(at(p[2], i, 1), won)
		MOVQ(p[1], below)
		for q, place := range places {
			Comment("place " + strconv.Itoa(q))
			k, u := K(), YMM()
			VPCMPEQB(place, won, k)
			VMOVDQU16_Z(w, k, u)
			VMOVDQU(u, at(below, i, 2))
			switch q {
			case 0, 2:
				ADDQ(t.Mem("next"), below)
			case 1:
				ADDQ(t.Mem("below"), below)
				SUBQ(t.Mem("next"), below)
			}
		}
	})
}
