//go:build amd64 && !noasm

package kernel

func (l Level) pixels(p []uint8, y []float32) {
	var whole int // what fills vectors
	switch l {
	case AVX512:
		if whole = len(p) &^ 15; whole > 0 {
			pixelsAVX512(whole, &p[0], &y[0])
		}
	case AVX2:
		if whole = len(p) &^ 7; whole > 0 {
			pixelsAVX2(whole, &p[0], &y[0])
		}
	}
	pixelsGeneric(p[whole:], y[whole:])
}
