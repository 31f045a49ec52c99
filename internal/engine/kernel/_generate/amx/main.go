// Command amx writes amx_amd64.s of package kernel: products in the tiles of Intel's AMX.
// Run it by go generate in package kernel.
package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	products("tilesBF16", asm.TileBF16)
	products("tilesBytes", asm.TileBytes)
	peak("peakTilesBF16", asm.TileBF16)
	peak("peakTilesBytes", asm.TileBytes)
	split{}.product()
	split{}.rows()
	split{}.columns()
	asm.Write()
}

// products emits blocks of C of two by two tiles. T0 to T3 hold the sums, T4 and T5 the
// rows of A, T6 and T7 the columns of B.
//
// A tile is set to zero after its last use. This costs nothing and frees the memory that the
// processor keeps it in, of which there seems to be little where two threads share a core:
// while the core's other thread is busy, a step takes 62 to 70 ns with the zeros and 110 to
// 125 without; while it is idle, 26 ns in both cases (Emerald Rapids).
func products(name string, product func(a, b, c int)) {
	TEXT(name, NOSPLIT, "func(t *"+asm.Struct("../amx.go", "tilesArgs")+")")
	asm.ConfigureTiles(a)
	MOVQ(U32(128), line)
	t := asm.LoadArgs("t")
	MOVQ(t.Mem("rsa"), rsa)
	MOVQ(t.Mem("ldc"), ldc)
	MOVQ(t.Mem("panels"), panels)
	MOVQ(t.Mem("b"), panel)
	column := AllocLocal(8)
	MOVQ(t.Mem("c"), c)
	MOVQ(c, column)

	Label("panel")
	MOVQ(t.Mem("strips"), strips)
	MOVQ(t.Mem("a"), strip)
	Label("strip")
	CMPB(t.Mem("add"), Imm(0))
	JNE(LabelRef("load"))
	for i := range 4 {
		asm.TileZero(i)
	}
	JMP(LabelRef("begin"))
	Label("load")
	fourTiles(asm.TileLoad, c, ldc)
	Label("begin")
	MOVQ(strip, a)
	MOVQ(t.Mem("below"), below)
	ADDQ(a, below)
	MOVQ(panel, b)
	MOVQ(t.Mem("runs"), runs)
	Label("run")
	MOVQ(t.Mem("steps"), steps)
	Label("step")
	asm.TileLoad(6, b, line, 0)
	asm.TileLoad(4, a, rsa, 0)
	product(4, 6, 0)
	asm.TileLoad(7, b, line, 64)
	product(4, 7, 1)
	asm.TileZero(4)
	asm.TileLoad(5, below, rsa, 0)
	product(5, 6, 2)
	asm.TileZero(6)
	product(5, 7, 3)
	asm.TileZero(5)
	asm.TileZero(7)
	ADDQ(t.Mem("nexta"), a)
	ADDQ(t.Mem("nexta"), below)
	ADDQ(U32(16*128), b)
	DECQ(steps)
	JNZ(LabelRef("step"))
	ADDQ(t.Mem("skip"), a)
	ADDQ(t.Mem("skip"), below)
	DECQ(runs)
	JNZ(LabelRef("run"))

	fourTiles(asm.TileStore, c, ldc)
	MOVQ(ldc, a)
	SHLQ(Imm(5), a)
	ADDQ(a, c)
	ADDQ(t.Mem("stripa"), strip)
	DECQ(strips)
	JNZ(LabelRef("strip"))

	MOVQ(column, c)
	SUBQ(I8(-128), c) // 32 columns
	MOVQ(c, column)
	ADDQ(t.Mem("panelb"), panel)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	asm.TileRelease()
	RET()
}

// The registers of products; those that bytes name are chosen here. below is row 16 of A
// or C, line the bytes of a row of a panel of B.
var (
	a, b, c               = reg.RAX, reg.RBX, reg.RCX
	below, rsa, line      = reg.RDX, reg.RSI, reg.RDI
	ldc, strip, panel     = reg.R8, reg.R9, reg.R10
	steps, strips, panels = reg.R11, reg.R12, reg.R13
	runs                  = reg.R15
)

// peak emits steps of four products of registers.
func peak(name string, product func(a, b, c int)) {
	TEXT(name, NOSPLIT, "func(steps int)")
	asm.ConfigureTiles(reg.RAX)
	for i := range 8 {
		asm.TileZero(i)
	}
	Load(Param("steps"), reg.RCX)
	Label("loop")
	for range 4 {
		product(4, 6, 0)
		product(4, 7, 1)
		product(5, 6, 2)
		product(5, 7, 3)
	}
	DECQ(reg.RCX)
	JNZ(LabelRef("loop"))
	asm.TileRelease()
	RET()
}
