package kernel

// chromaRow computes columns 1 to the one that it returns.
func (l Level) chromaRow(dst, near, far []uint8, even, odd int) int {
	n := (len(near) - 2) &^ 15
	if !assembly || l == Generic || n < 16 {
		return 0
	}
	chromaRowAVX2(n, &near[1], &far[1], even, odd, &dst[2])
	return n
}

// ycbcrRow computes the first columns and returns how many.
func (l Level) ycbcrRow(dst, y, cb, cr []uint8) int {
	n := (len(y) - 3) &^ 7 // the last vector writes 8 bytes too many
	if !assembly || l == Generic || n < 8 {
		return 0
	}
	ycbcrRowAVX2(n, &y[0], &cb[0], &cr[0], &dst[0])
	return n
}
