package kernel

// resampleRow computes the first n outputs, or none, and returns how many.
func (l Level) resampleRow(n int, t *Taps, src, dst []uint8) int {
	if assembly && l != Generic && n > 0 && t.groups > 0 {
		resampleRowAsm(l, n, t.groups, &t.first[0], &t.spread[0], &src[0], &dst[0])
		return n
	}
	return 0
}

// resampleColumns says whether it did it.
func (l Level) resampleColumns(dst, src []uint8, stride int, w []int32) bool {
	l = l.within(len(dst))
	if assembly && l != Generic {
		resampleColumnsAsm(l, len(dst), len(w), stride, &w[0], &src[0], &dst[0])
	}
	return l != Generic
}
