package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// split makes products of float32 of those of bfloat16. A step of 32 of k takes partBytes
// for each of the three parts of 32 rows of A, or of 32 columns of B: two tiles.
type split struct{}

const (
	parts     = 3
	tileBytes = 1024
	partBytes = 2 * tileBytes
	stepBytes = parts * partBytes
)

// splitOrder is the parts of A and B that are multiplied, in the order of the sum. Each pair
// shares a part with the one before, whose tiles are not loaded again.
var splitOrder = [...][2]int{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {0, 2}}

// product emits the blocks of C.
func (split) product() {
	TEXT("tilesSplit", NOSPLIT, "func(t *"+asm.Struct("../amx_split.go", "splitArgs")+")")
	asm.ConfigureTiles(a)
	MOVQ(U32(64), line)
	t := asm.LoadArgs("t")
	sums, lds, ahead, aheadRow := strip, rsa, strips, panels
	columnC := AllocLocal(48)
	aheadPanel := columnC.Offset(40)
	columnS, rowsLeft, left, bias := columnC.Offset(8), columnC.Offset(16), columnC.Offset(24), columnC.Offset(32)
	for _, f := range []struct {
		name string
		to   Mem
	}{{"bias", bias}, {"cols", left}, {"c", columnC}, {"sums", columnS}, {"ahead", aheadPanel}} {
		MOVQ(t.Mem(f.name), a)
		MOVQ(a, f.to)
	}
	MOVQ(t.Mem("ldc"), ldc)
	SHLQ(Imm(2), ldc)
	MOVQ(t.Mem("aheadRow"), aheadRow)
	MOVQ(t.Mem("b"), panel)

	Label("panel")
	MOVQ(U32(32), below)
	CMPQ(below, left)
	CMOVQGT(left, below)
	MOVQ(I32(-1), b)
	BZHIQ(below, b, b)
	KMOVW(b.As32(), reg.K1)
	SHRQ(Imm(16), b)
	KMOVW(b.As32(), reg.K2)
	MOVQ(bias, b)
	TESTQ(b, b)
	JZ(LabelRef("rows"))
	VMOVUPS_Z(Mem{Base: b}, reg.K1, biases[0])
	VMOVUPS_Z(Mem{Base: b, Disp: 64}, reg.K2, biases[1])
	SUBQ(I8(-128), bias)
	Label("rows")
	MOVQ(t.Mem("rows"), b)
	MOVQ(b, rowsLeft)
	MOVQ(aheadPanel, ahead)
	MOVQ(t.Mem("a"), a)
	MOVQ(columnC, c)
	MOVQ(columnS, sums)

	Label("strip")
	MOVQ(t.Mem("lds"), lds)
	SHLQ(Imm(2), lds)
	CMPB(t.Mem("load"), Imm(0))
	JNE(LabelRef("load"))
	for i := range 4 {
		asm.TileZero(i)
	}
	JMP(LabelRef("begin"))
	Label("load")
	fourTiles(asm.TileLoad, sums, lds)
	Label("begin")
	// C is soon written, and perhaps read.
	MOVQ(c, b)
	for range 32 {
		asm.PrefetchWrite(b, 128)
		asm.PrefetchWrite(b, 192)
		ADDQ(ldc, b)
	}
	MOVQ(panel, b)
	MOVQ(t.Mem("steps"), steps)
	Label("step")
	LEAQ(Mem{Base: ahead, Index: aheadRow, Scale: 2}, below)
	for i, p := range splitOrder {
		before, after := [2]int{-1, -1}, [2]int{-1, -1}
		if i > 0 {
			before = splitOrder[i-1]
		}
		if i+1 < len(splitOrder) {
			after = splitOrder[i+1]
		}
		newA, newB := p[0] != before[0], p[1] != before[1]
		lastA, lastB := p[0] != after[0], p[1] != after[1]
		if newA {
			asm.TileLoad(4, a, line, p[0]*partBytes)
		}
		if newB {
			asm.TileLoad(6, b, line, p[1]*partBytes)
		}
		asm.TileBF16(4, 6, 0)
		if newB {
			asm.TileLoad(7, b, line, p[1]*partBytes+tileBytes)
		}
		asm.TileBF16(4, 7, 1)
		if lastA {
			asm.TileZero(4)
		}
		if newA {
			asm.TileLoad(5, a, line, p[0]*partBytes+tileBytes)
		}
		if i < 4 { // a row of what is cut next
			row := Mem{Base: []reg.Register{ahead, below}[i/2]}
			if i%2 == 1 {
				row.Index, row.Scale = aheadRow, 1
			}
			PREFETCHT1(row)
			PREFETCHT1(row.Offset(64))
		}
		asm.TileBF16(5, 6, 2)
		if lastB {
			asm.TileZero(6)
		}
		asm.TileBF16(5, 7, 3)
		if lastA {
			asm.TileZero(5)
		}
		if lastB {
			asm.TileZero(7)
		}
	}
	ADDQ(U32(stepBytes), a)
	ADDQ(U32(stepBytes), b)
	ADDQ(t.Mem("aheadStep"), ahead)
	DECQ(steps)
	JNZ(LabelRef("step"))

	CMPB(t.Mem("store"), Imm(0))
	JEQ(LabelRef("last"))
	fourTiles(asm.TileStore, sums, lds)
	JMP(LabelRef("next"))
	Label("last")
	CMPB(t.Mem("plain"), Imm(0))
	JEQ(LabelRef("finish"))
	CMPQ(left, Imm(32))
	JLT(LabelRef("finish"))
	CMPQ(rowsLeft, Imm(32))
	JLT(LabelRef("finish"))
	fourTiles(asm.TileStore, c, ldc)
	MOVQ(ldc, below)
	SHLQ(Imm(5), below)
	ADDQ(below, c)
	JMP(LabelRef("next"))
	Label("finish")
	finishSplit(t, rowsLeft)
	Label("next")
	MOVQ(t.Mem("lds"), lds)
	SHLQ(Imm(7), lds)
	ADDQ(lds, sums)
	SUBQ(Imm(32), rowsLeft)
	JG(LabelRef("strip"))

	SUBQ(I8(-128), columnC) // 32 columns
	SUBQ(I8(-128), columnS)
	LEAQ(Mem{Base: aheadRow, Index: aheadRow, Scale: 1}, below)
	LEAQ(Mem{Base: below, Index: below, Scale: 1}, below)
	ADDQ(below, aheadPanel)
	MOVQ(t.Mem("steps"), below)
	IMUL3Q(U32(stepBytes), below, below)
	ADDQ(below, panel)
	SUBQ(Imm(32), left)
	JG(LabelRef("panel"))
	asm.TileRelease()
	asm.End()
}

// fourTiles loads or stores the sums of a block, rows stride bytes apart.
func fourTiles(f func(tile int, base, stride reg.GPPhysical, disp int), at, stride reg.GPPhysical) {
	MOVQ(stride, below)
	SHLQ(Imm(4), below)
	ADDQ(at, below)
	f(0, at, stride, 0)
	f(1, at, stride, 64)
	f(2, below, stride, 0)
	f(3, below, stride, 64)
}

var biases = []reg.VecPhysical{reg.Z0, reg.Z1} // of the panel's columns

// finishSplit moves the tiles of C to a block of 32 by 32, and from there to C, whose next
// rows c points to: alpha*sum, plus beta*C unless beta is 0, plus the bias, the larger of
// that and 0.
func finishSplit(t asm.Args, rowsLeft Mem) {
	block, wide := b, reg.R15
	MOVQ(t.Mem("block"), block)
	MOVQ(U32(128), wide)
	asm.TileStore(0, block, wide, 0)
	asm.TileStore(1, block, wide, 64)
	asm.TileStore(2, block, wide, 16*128)
	asm.TileStore(3, block, wide, 16*128+64)
	alpha, beta, zero := reg.Z2, reg.Z3, reg.Z4
	sums, old := []reg.VecPhysical{reg.Z5, reg.Z6}, reg.Z7
	VBROADCASTSS(t.Mem("alpha"), alpha)
	VBROADCASTSS(t.Mem("beta"), beta)
	VPXORD(zero, zero, zero)
	adds, relu, rows, from := steps, rsa, below, block
	MOVL(t.Mem("beta"), adds.As32())
	SHLL(Imm(1), adds.As32())
	MOVBLZX(t.Mem("relu"), relu.As32())
	MOVQ(U32(32), rows)
	CMPQ(rows, rowsLeft)
	CMOVQGT(rowsLeft, rows)
	each := func(f func(v int, m Mem, mask reg.OpmaskPhysical)) {
		f(0, Mem{Base: c}, reg.K1)
		f(1, Mem{Base: c, Disp: 64}, reg.K2)
	}
	Label("row")
	for v, sum := range sums {
		VMULPS(Mem{Base: from, Disp: 64 * v}, alpha, sum)
	}
	TESTL(adds.As32(), adds.As32())
	JZ(LabelRef("bias"))
	each(func(v int, m Mem, mask reg.OpmaskPhysical) {
		VMOVUPS_Z(m, mask, old)
		VFMADD231PS(old, beta, sums[v])
	})
	Label("bias")
	CMPQ(t.Mem("bias"), Imm(0))
	JEQ(LabelRef("relu"))
	for v, sum := range sums {
		VADDPS(biases[v], sum, sum)
	}
	Label("relu")
	TESTL(relu.As32(), relu.As32())
	JZ(LabelRef("store"))
	// The maximum of 0 and NaN, and of 0 and -0, is the second operand; the sum makes -0
	// into 0.
	for _, sum := range sums {
		VMAXPS(sum, zero, sum)
		VADDPS(zero, sum, sum)
	}
	Label("store")
	each(func(v int, m Mem, mask reg.OpmaskPhysical) { VMOVUPS(sums[v], mask, m) })
	ADDQ(ldc, c)
	SUBQ(I8(-128), from)
	DECQ(rows)
	JNZ(LabelRef("row"))
}

// parting is the registers by which numbers are cut into their parts.
type parting struct{ half, high reg.VecVirtual }

func newParting() parting {
	p := parting{ZMM(), ZMM()}
	for _, c := range []struct {
		bits uint32
		to   reg.VecVirtual
	}{{0x8000, p.half}, {0xffff0000, p.high}} {
		r := GP32()
		MOVL(U32(c.bits), r)
		VPBROADCASTD(r, c.to)
	}
	return p
}

// words cuts the numbers of low and high, which it overwrites, and calls store with each
// part: words with a part of low in their lower half, of high in their upper half.
func (p parting) words(low, high reg.VecVirtual, store func(part int, words reg.VecVirtual)) {
	for part := range parts {
		var rounded [2]reg.VecVirtual
		for i, x := range []reg.VecVirtual{low, high} {
			rounded[i] = x
			if part < parts-1 {
				rounded[i] = ZMM()
				VPADDD(p.half, x, rounded[i])
				VPANDD(p.high, rounded[i], rounded[i])
				VSUBPS(rounded[i], x, x)
			}
		}
		words := ZMM()
		VPSRLD(Imm(16), rounded[0], words)
		VPTERNLOGD(Imm(0xf8), p.high, rounded[1], words) // words | rounded & high
		store(part, words)
	}
}

// rows emits the cutting of rows of A: one step is 32 numbers of a row, of which word w gets
// w and w+16.
func (split) rows() {
	TEXT("splitRowsAVX512", NOSPLIT, "func(rows, k int, src *float32, rs int, dst *float32)")
	rows, k, rs := Load(Param("rows"), GP64()), Load(Param("k"), GP64()), Load(Param("rs"), GP64())
	row, dst := Load(Param("src"), GP64()), Load(Param("dst"), GP64())
	SHLQ(Imm(2), rs)
	// The last step's numbers, 1 to 32.
	last, bits := GP64(), GP64()
	MOVQ(k, last)
	DECQ(last)
	ANDQ(Imm(31), last)
	INCQ(last)
	MOVQ(I32(-1), bits)
	BZHIQ(last, bits, bits)
	KMOVW(bits.As32(), reg.K1)
	SHRQ(Imm(16), bits)
	KMOVW(bits.As32(), reg.K2)
	DECQ(k)
	SHRQ(Imm(5), k) // whole steps before the last

	p := newParting()
	src, to, n := GP64(), GP64(), GP64()
	step := func(low, high reg.VecVirtual) {
		p.words(low, high, func(part int, words reg.VecVirtual) { VMOVDQU32(words, Mem{Base: to, Disp: part * partBytes}) })
	}
	Label("row")
	MOVQ(row, src)
	MOVQ(dst, to)
	MOVQ(k, n)
	TESTQ(n, n)
	JZ(LabelRef("last"))
	Label("step")
	low, high := ZMM(), ZMM()
	VMOVUPS(Mem{Base: src}, low)
	VMOVUPS(Mem{Base: src, Disp: 64}, high)
	step(low, high)
	SUBQ(I8(-128), src)
	ADDQ(U32(stepBytes), to)
	DECQ(n)
	JNZ(LabelRef("step"))
	Label("last")
	VMOVUPS_Z(Mem{Base: src}, reg.K1, low)
	VMOVUPS_Z(Mem{Base: src, Disp: 64}, reg.K2, high)
	step(low, high)
	ADDQ(rs, row)
	ADDQ(Imm(64), dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	asm.End()
}

// columns emits the cutting of a panel of B: one step is 32 rows, of which row r and r+16
// make the words of row r of the tiles.
func (split) columns() {
	TEXT("splitColumnsAVX512", NOSPLIT, "func(steps, cols int, src *float32, rs int, dst *float32)")
	steps, cols, rs := Load(Param("steps"), GP64()), Load(Param("cols"), GP64()), Load(Param("rs"), GP64())
	src, dst := Load(Param("src"), GP64()), Load(Param("dst"), GP64())
	SHLQ(Imm(2), rs)
	bits := GP64()
	MOVQ(I32(-1), bits)
	BZHIQ(cols, bits, bits)
	KMOVW(bits.As32(), reg.K1)
	SHRQ(Imm(16), bits)
	KMOVW(bits.As32(), reg.K2)
	p := newParting()
	far, n := GP64(), GP64()
	Label("step")
	MOVQ(rs, far)
	SHLQ(Imm(4), far)
	ADDQ(src, far)
	MOVQ(U32(16), n)
	Label("row")
	for v, mask := range []reg.OpmaskPhysical{reg.K1, reg.K2} {
		low, high := ZMM(), ZMM()
		VMOVUPS_Z(Mem{Base: src, Disp: 64 * v}, mask, low)
		VMOVUPS_Z(Mem{Base: far, Disp: 64 * v}, mask, high)
		p.words(low, high, func(part int, words reg.VecVirtual) {
			VMOVDQU32(words, Mem{Base: dst, Disp: part*partBytes + v*tileBytes})
		})
	}
	ADDQ(rs, src)
	ADDQ(rs, far)
	ADDQ(Imm(64), dst)
	DECQ(n)
	JNZ(LabelRef("row"))
	MOVQ(far, src)
	ADDQ(U32(stepBytes-tileBytes), dst)
	DECQ(steps)
	JNZ(LabelRef("step"))
	asm.End()
}
