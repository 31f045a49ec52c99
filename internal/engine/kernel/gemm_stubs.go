package kernel

// The tiles compute what tileArgs says: up to 14 rows and 32, 16 or 8 columns with
// AVX-512, up to 6 rows and 16 or 8 columns with AVX2 and FMA. They check nothing.

//go:noescape
func tile32AVX512(t *tileArgs)

//go:noescape
func tile16AVX512(t *tileArgs)

//go:noescape
func tile8AVX512(t *tileArgs)

//go:noescape
func tile16AVX2(t *tileArgs)

//go:noescape
func tile8AVX2(t *tileArgs)

// transpose8AVX2 transposes eight rows of 8*blocks numbers, blocks > 0:
//
//	for i := range 8 {
//		for p := range 8 * blocks {
//			dst[p*ldd+i] = src[i*lds+p]
//		}
//	}
//
//go:noescape
func transpose8AVX2(blocks int, src *float32, lds int, dst *float32, ldd int)

// pack32AVX512 copies k > 0 rows of 32 numbers, rs apart, to dst, one after the other. It
// asks for the eighth row ahead: rows far apart are no pattern that the processor sees.
//
//go:noescape
func pack32AVX512(k int, src *float32, rs int, dst *float32)

// pack16AVX2 copies k > 0 rows of 16 numbers, rs apart, as pack32AVX512 does.
//
//go:noescape
func pack16AVX2(k int, src *float32, rs int, dst *float32)

// pack64AVX2 is pack16AVX2 for four panels, one after the other in dst:
//
//	for p := range k {
//		for j := range 64 {
//			dst[(j/16*k+p)*16+j%16] = src[p*rs+j]
//		}
//	}
//
//go:noescape
func pack64AVX2(k int, src *float32, rs int, dst *float32)

// cpuid returns what the instruction does.
//
//go:noescape
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// The peaks run 24 fused multiply-adds of a vector in each of steps > 0 steps; that of
// bfloat16 runs as many dot products of pairs (VDPBF16PS).

//go:noescape
func peakAVX512(steps int)

//go:noescape
func peakAVX2(steps int)

//go:noescape
func peakBF16AVX512(steps int)
