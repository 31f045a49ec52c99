package kernel

import "golang.org/x/sys/cpu"

//go:generate go run -C _generate ./amx -out ../amx_amd64.s -pkg kernel

// Intel's AMX multiplies tiles of 16 rows of 64 bytes: matrices of bfloat16 with float32
// sums, and matrices of bytes with 32-bit sums.
//
// Sums of bytes are exact: a function of any level may use multiplyBytes where hasTilesBytes,
// and another way elsewhere, with the same bits. Sums of bfloat16 are rounded in an order of
// their own: a result that depends on them belongs to a level of its own, or to an option that
// names them. Without tiles both
// functions are plain Go, far slower than the vectors of other levels.
//
// Pad operands by zeros to whole blocks, and give a call some thousand steps of blocks, but
// well below a millisecond of work (10^9 multiply-adds): to configure and release the tiles
// takes some hundred cycles, and a call runs to its end before its thread can be stopped.
// A block of 32 rows of A and the panel of B should fit the first cache together.

// hasTiles reports whether this process may use tiles: the processor has them, and the
// system keeps them when it switches between threads.
var hasTiles = assembly && cpu.X86.HasAMXTile && cpu.X86.HasAVX512F && tilesAllowed()

// hasTilesBF16 and hasTilesBytes report whether tiles have products of that type.
var (
	hasTilesBF16  = hasTiles && cpu.X86.HasAMXBF16
	hasTilesBytes = hasTiles && cpu.X86.HasAMXInt8
)

// tilesArgs are blocks of C, 32 by 32 numbers each, strips of them down and panels across,
// and what they are made of. Strides are in bytes. One step of k is 64 bytes of a row of A:
// 32 numbers of bfloat16 or 64 signed bytes. Row i of strip u of A has step o at
//
//	a + u*stripa + i*rsa + o*nexta
//
// for i below 16; rows from 16 on begin at a + below. A convolution has a run of steps for each
// row of its kernel: after each run, skip more bytes follow. Runs of 0 stand for one, with
// rows that are all rsa apart.
//
// Panel v of B, at b + v*panelb, is packed: for each step, 16 rows of 32 words of 4 bytes,
// word j of row r having the pair (or the four bytes) of column j that meet number r of the
// pairs (or fours) in A's step. C's rows are ldc apart; it is float32 or int32.
// All counts are at least 1; rows and columns that C does not have must be padded.
type tilesArgs struct {
	steps, strips, panels int
	a                     *byte
	rsa, nexta, stripa    int
	runs, skip, below     int
	b                     *byte
	panelb                int
	c                     *byte
	ldc                   int
	add                   bool // to C, which is otherwise overwritten
}

// multiplyBF16 computes blocks of products of bfloat16, in the tiles where the processor has
// them, with the same bits otherwise.
func multiplyBF16(t *tilesArgs) {
	t.complete()
	if assembly && hasTilesBF16 {
		tilesBF16(t)
		return
	}
	tilesBF16Generic(t)
}

// multiplyBytes computes blocks of products of signed bytes; sums beyond 32 bits wrap around.
func multiplyBytes(t *tilesArgs) {
	t.complete()
	if assembly && hasTilesBytes {
		tilesBytes(t)
		return
	}
	tilesBytesGeneric(t)
}

// complete sets what stands for one run.
func (t *tilesArgs) complete() {
	if t.runs == 0 {
		t.runs, t.skip, t.below = 1, 0, 16*t.rsa
	}
}

// PeakTiles is PeakFMA of products of tiles: of bfloat16, or of bytes; 0 where the processor
// or the system has none.
func PeakTiles(bytes bool, steps int) (operations float64) {
	switch {
	case !assembly || steps < 1 || bytes && !hasTilesBytes || !bytes && !hasTilesBF16:
		return 0
	case bytes:
		peakTilesBytes(steps)
		return 16 * 16 * 16 * 64 * 2 * float64(steps)
	default:
		peakTilesBF16(steps)
		return 16 * 16 * 16 * 32 * 2 * float64(steps)
	}
}
