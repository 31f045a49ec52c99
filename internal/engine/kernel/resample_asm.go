//go:build amd64 && !noasm

package kernel

// resampleRow computes the first n outputs, or none, and returns how many.
func (l Level) resampleRow(n int, t *Taps, src, dst []uint8) int {
	if n < 1 || t.groups < 1 {
		return 0
	}
	switch l {
	case AVX512:
		resampleRowAVX512(n, t.groups, &t.first[0], &t.spread[0], &src[0], &dst[0])
	case AVX2:
		resampleRowAVX2(n, t.groups, &t.first[0], &t.spread[0], &src[0], &dst[0])
	default:
		return 0
	}
	return n
}

// resampleColumns says whether it did it.
func (l Level) resampleColumns(dst, src []uint8, stride int, w []int32) bool {
	switch {
	case l == AVX512 && len(dst) >= 16:
		resampleColumnsAVX512(len(dst), len(w), stride, &w[0], &src[0], &dst[0])
	case l != Generic && len(dst) >= 8:
		resampleColumnsAVX2(len(dst), len(w), stride, &w[0], &src[0], &dst[0])
	default:
		return false
	}
	return true
}
