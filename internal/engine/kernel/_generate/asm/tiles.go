package asm

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Instructions of Intel's AMX, in bytes: the assembler does not know them. Tiles are T0 to
// T7; a thread configures them before use and releases them, within one function.

// The prefixes by which instructions of one opcode differ.
const (
	prefixNone = iota
	prefix66
	prefixF3
	prefixF2
)

// vex emits an instruction of map 0F38 without W: its bytes after the VEX prefix are rest.
// vvvv is its third tile; x and b are the high bits of the index and the base.
func vex(comment string, prefix, vvvv, x, b int, rest []int, uses ...reg.Register) {
	Comment(comment)
	emit(append([]int{0xc4, 0x80 | (1-x)<<6 | (1-b)<<5 | 2, (15-vvvv)<<3 | prefix}, rest...), uses...)
}

// PrefetchWrite asks for a line that is soon written. The base is one of the first eight
// registers.
func PrefetchWrite(base reg.GPPhysical, disp int) {
	Comment(fmt.Sprintf("PREFETCHW %d(%s)", disp, base.Asm()))
	emit([]int{0x0f, 0x0d, 0x88 | number(base), disp & 255, disp >> 8 & 255, 0, 0}, base)
}

func emit(code []int, uses ...reg.Register) {
	for i, c := range code {
		one := &ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(c)}}
		if i == 0 {
			for _, r := range uses {
				one.Inputs = append(one.Inputs, r)
			}
		}
		Instruction(one)
	}
}

func number(r reg.GPPhysical) int { return int(r.PhysicalIndex()) }

// indexed is an access of a tile's rows at base+disp and every stride bytes after it.
func indexed(name string, prefix, tile int, base, stride reg.GPPhysical, disp int) {
	n, s := number(base), number(stride)
	code := []int{0x4b, 0x80 | tile<<3 | 4, (s&7)<<3 | n&7}
	for i := range 4 {
		code = append(code, disp>>(8*i)&255)
	}
	vex(fmt.Sprintf("%s T%d: %d(%s)(%s*1)", name, tile, disp, base.Asm(), stride.Asm()), prefix, 0, s>>3, n>>3, code, base, stride)
}

// TileLoad reads a tile.
func TileLoad(tile int, base, stride reg.GPPhysical, disp int) {
	indexed("TILELOADD", prefixF2, tile, base, stride, disp)
}

// TileStream is TileLoad of what is not to stay in the first cache.
func TileStream(tile int, base, stride reg.GPPhysical, disp int) {
	indexed("TILELOADDT1", prefix66, tile, base, stride, disp)
}

// TileStore writes a tile.
func TileStore(tile int, base, stride reg.GPPhysical, disp int) {
	indexed("TILESTORED", prefixF3, tile, base, stride, disp)
}

// TileZero clears a tile.
func TileZero(tile int) {
	vex(fmt.Sprintf("TILEZERO T%d", tile), prefixF2, 0, 0, 0, []int{0x49, 0xc0 | tile<<3})
}

// TileRelease makes all tiles unused.
func TileRelease() { vex("TILERELEASE", prefixNone, 0, 0, 0, []int{0x49, 0xc0}) }

// TileBF16 adds to tile c the products of pairs of bfloat16 of tiles a and b.
func TileBF16(a, b, c int) {
	vex(fmt.Sprintf("TDPBF16PS T%d += T%d*T%d", c, a, b), prefixF3, b, 0, 0, []int{0x5c, 0xc0 | c<<3 | a})
}

// TileBytes adds to tile c the products of fours of signed bytes of tiles a and b.
func TileBytes(a, b, c int) {
	vex(fmt.Sprintf("TDPBSSD T%d += T%d*T%d", c, a, b), prefixF2, b, 0, 0, []int{0x5e, 0xc0 | c<<3 | a})
}

var tileConfig *Mem

// ConfigureTiles makes all eight tiles 16 rows of 64 bytes. It uses the register.
func ConfigureTiles(r reg.GPPhysical) {
	if tileConfig == nil {
		m := GLOBL("tileConfig", RODATA|NOPTR)
		const bytes, rows = 0x0040004000400040, 0x1010101010101010
		for i, v := range []uint64{1, 0, bytes, bytes, 0, 0, rows, 0} { // palette 1
			DATA(8*i, U64(v))
		}
		tileConfig = &m
	}
	LEAQ(*tileConfig, r)
	vex(fmt.Sprintf("LDTILECFG (%s)", r.Asm()), prefixNone, 0, 0, number(r)>>3, []int{0x49, number(r) & 7}, r)
}
