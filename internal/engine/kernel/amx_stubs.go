package kernel

// tilesBF16 computes what tilesArgs says in tiles of bfloat16:
//
//	for each row i and column j of a block {
//		s := float32(0) // or C's number, where add
//		for o := range steps {
//			var even, odd float32
//			for r := range 16 {
//				even = fma(A's number 2r of step o, the first of B's word j of row r, even)
//				odd = fma(A's number 2r+1, the second, odd)
//			}
//			s += even + odd
//		}
//	}
//
// Numbers below 2^-126 in magnitude count as 0, read or, after rounding, computed. The bits
// of a NaN are the processor's own.
//
//go:noescape
func tilesBF16(t *tilesArgs)

// tilesBytes computes what tilesArgs says in tiles of signed bytes:
//
//	for each row i and column j of a block {
//		s := int32(0) // or C's number, where add
//		for o := range steps {
//			for r := range 16 {
//				for q := range 4 {
//					s += int32(A's byte 4r+q of step o) * int32(byte q of B's word j of row r)
//				}
//			}
//		}
//	}
//
//go:noescape
func tilesBytes(t *tilesArgs)

// The peaks run 16 products of tiles in each of steps > 0 steps.

//go:noescape
func peakTilesBF16(steps int)

//go:noescape
func peakTilesBytes(steps int)

//go:noescape
func tilesSplit(t *splitArgs)

//go:noescape
func splitRowsAVX512(rows, k int, src *float32, rs int, dst *float32)

//go:noescape
func splitColumnsAVX512(steps, cols int, src *float32, rs int, dst *float32)
