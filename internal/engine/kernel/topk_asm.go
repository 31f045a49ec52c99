//go:build amd64 && !noasm

package kernel

func above(l Level, rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	switch l {
	case AVX512:
		aboveAVX512(rows, cols/64, &x[0], ld, &a[0], &b[0], &mask[0])
	case AVX2:
		aboveAVX2(rows, cols/64, &x[0], ld, &a[0], &b[0], &mask[0])
	default:
		aboveGeneric(rows, cols, x, ld, a, b, mask)
	}
}

func squares32(n int, a, b []float32, s *[exactLanes]float64) {
	switch Current() {
	case AVX512:
		squares32AVX512(n/exactLanes, &a[0], &b[0], &s[0])
	case AVX2:
		squares32AVX2(n/exactLanes, &a[0], &b[0], &s[0])
	default:
		squares32Generic(a[:n], b[:n], s)
	}
}

func squares64(n int, a []float32, b []float64, s *[exactLanes]float64) {
	switch Current() {
	case AVX512:
		squares64AVX512(n/exactLanes, &a[0], &b[0], &s[0])
	case AVX2:
		squares64AVX2(n/exactLanes, &a[0], &b[0], &s[0])
	default:
		squares64Generic(a[:n], b[:n], s)
	}
}
