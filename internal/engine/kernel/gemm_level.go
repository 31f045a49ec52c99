package kernel

import "golang.org/x/sys/cpu"

// available lists the levels that can run here, in their order.
var available = detect()

func detect() []Level {
	levels := []Level{Generic}
	if assembly && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		levels = append(levels, AVX2)
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL {
			levels = append(levels, AVX512)
			if hasTilesBF16 {
				levels = append(levels, AMX)
			}
		}
	}
	return levels
}

func (l Level) shape() tileShape {
	switch {
	case l.avx512():
		return tileShape{rows: 14, wide: 32, narrow: 16}
	case l == AVX2:
		return tileShape{rows: 6, wide: 16, narrow: 8}
	}
	return genericShape
}

// tileAt computes the tiles of t without a check.
func (l Level) tileAt(t *tileArgs) {
	switch {
	case !assembly || l == Generic:
		tilesGeneric(t)
	case l.avx512() && t.cols > 16:
		tile32AVX512(t)
	case l.avx512() && t.cols > 8:
		tile16AVX512(t)
	case l.avx512():
		tile8AVX512(t)
	case t.cols > 8:
		tile16AVX2(t)
	default:
		tile8AVX2(t)
	}
}

// transpose sets dst[p*ldd+i] = src[i*lds+p] for i < rows, p < cols.
func (l Level) transpose(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	if !assembly || l == Generic {
		transposeGeneric(rows, cols, src, lds, dst, ldd)
		return
	}
	r8, c8 := rows&^7, cols&^7
	if c8 > 0 {
		for i := 0; i < r8; i += 8 {
			_ = src[(i+7)*lds+c8-1]
			_ = dst[(c8-1)*ldd+i+7]
			transpose8AVX2(c8/8, &src[i*lds], lds, &dst[i], ldd)
		}
	}
	if r8 > 0 && c8 < cols {
		transposeGeneric(r8, cols-c8, src[c8:], lds, dst[c8*ldd:], ldd)
	}
	if r8 < rows {
		transposeGeneric(rows-r8, cols, src[r8*lds:], lds, dst[r8:], ldd)
	}
}

// packedAtOnce returns how many whole panels packRows copies at once where there are so many:
// memory is read faster in order, so that of narrow panels it is several.
func (l Level) packedAtOnce() int {
	if l.shape().wide == 16 {
		return 4
	}
	return 1
}

// packRows copies k > 0 rows, rs apart, of the first of some whole panels, one after the other,
// to dst. It returns how many.
func (l Level) packRows(k, panels int, src []float32, rs int, dst []float32) int {
	wide := l.shape().wide
	if panels < l.packedAtOnce() {
		panels = 1
	} else {
		panels = l.packedAtOnce()
	}
	_, _ = src[(k-1)*rs+panels*wide-1], dst[k*panels*wide-1]
	switch {
	case !assembly: // no level is left
	case l.avx512():
		pack32AVX512(k, &src[0], rs, &dst[0])
	case panels == 4:
		pack64AVX2(k, &src[0], rs, &dst[0])
	default:
		pack16AVX2(k, &src[0], rs, &dst[0])
	}
	return panels
}

// secondCache returns the size of a core's second cache in bytes, by CPUID's leaf 4 or, where
// the processor does not have it, AMD's of the same form; 0 where neither tells it.
func secondCache() int {
	if !assembly {
		return 0
	}
	for _, leaf := range []uint32{4, 0x8000001d} {
		if last, _, _, _ := cpuid(leaf&(1<<31), 0); last < leaf {
			continue
		}
		for i := range uint32(8) {
			kind, shape, sets, _ := cpuid(leaf, i)
			if level := kind >> 5 & 7; kind&31 != 0 && level == 2 {
				return int(shape>>22+1) * int(shape>>12&1023+1) * int(shape&4095+1) * int(sets+1)
			}
		}
	}
	return 0
}

// peakBF16 is PeakBF16 for steps > 0.
func peakBF16(steps int) float64 {
	if !assembly || !cpu.X86.HasAVX512BF16 {
		return 0
	}
	peakBF16AVX512(steps)
	return 24 * 16 * 2 * 2
}

// peak runs steps steps of independent multiply-adds and returns the number of
// floating-point operations of one.
func (l Level) peak(steps int) float64 {
	switch {
	case !assembly || l == Generic:
		return peakGeneric(steps)
	case l.avx512():
		peakAVX512(steps)
	default:
		peakAVX2(steps)
	}
	return 24 * 2 * float64(l.floats())
}
