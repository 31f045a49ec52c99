//go:build amd64 && !noasm

package kernel

// The methods of Level choose the code, for windows and channels above 0.
// Slices of images begin with the first window's first pixel and end with the
// last window's last.

func (l Level) maxWindows(w windows, x, y []float32, arg []int32) {
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _ = x[end-w.first-1], y[n-1], arg[n-1]
	switch l {
	case AVX512:
		maxWindowsAVX512(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &y[0], &arg[0])
	case AVX2:
		maxWindowsAVX2(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &y[0], &arg[0])
	default:
		maxWindowsGeneric(w, x, y, arg)
	}
}

func (l Level) maxWindowsBack(w windows, add bool, dy, mask []float32, arg []int32, dx []float32) {
	if l == Generic {
		maxWindowsBackGeneric(w, add, dy, mask, arg, dx)
		return
	}
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _ = dx[end-w.first-1], dy[n-1], arg[n-1]
	if mask == nil {
		run := maxWindowsBackAVX2
		switch {
		case l == AVX512 && add:
			run = maxWindowsBackAddAVX512
		case l == AVX512:
			run = maxWindowsBackAVX512
		case add:
			run = maxWindowsBackAddAVX2
		}
		run(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &dy[0], &arg[0], &dx[0])
		return
	}
	_ = mask[n-1]
	run := maxWindowsBackMaskedAVX2
	switch {
	case l == AVX512 && add:
		run = maxWindowsBackMaskedAddAVX512
	case l == AVX512:
		run = maxWindowsBackMaskedAVX512
	case add:
		run = maxWindowsBackMaskedAddAVX2
	}
	run(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &dy[0], &mask[0], &arg[0], &dx[0])
}

func (l Level) avgWindows(w windows, scale float32, x, y []float32) {
	_, end := w.from(0, 0)
	_, _ = x[end-w.first-1], y[w.count*w.c-1]
	switch l {
	case AVX512:
		avgWindowsAVX512(scale, w.count, w.c, w.kh, w.kw, w.row, w.next, &x[0], &y[0])
	case AVX2:
		avgWindowsAVX2(scale, w.count, w.c, w.kh, w.kw, w.row, w.next, &x[0], &y[0])
	default:
		avgWindowsGeneric(w, scale, x, y)
	}
}

func (l Level) avgWindowsBack(w windows, add bool, scale float32, dy, dx []float32) {
	if l == Generic {
		avgWindowsBackGeneric(w, add, scale, dy, dx)
		return
	}
	_, end := w.from(0, 0)
	_, _ = dx[end-w.first-1], dy[w.count*w.c-1]
	run := avgWindowsBackAVX2
	switch {
	case l == AVX512 && add:
		run = avgWindowsBackAddAVX512
	case l == AVX512:
		run = avgWindowsBackAVX512
	case add:
		run = avgWindowsBackAddAVX2
	}
	run(scale, w.count, w.c, w.kh, w.kw, w.row, w.next, &dy[0], &dx[0])
}

// floats is the number of float32 numbers in a vector.
func (l Level) floats() int {
	if l == AVX2 {
		return 8
	}
	return 16
}

func (l Level) normalizeMaxWindows(w windows, f *poolFactors, relu bool, x, y []float32, arg []int32, won []float32) {
	if l == Generic {
		normalizeMaxWindowsGeneric(w, f, relu, x, y, arg, won)
		return
	}
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _, _ = x[end-w.first-1], y[n-1], arg[n-1], won[n-1]
	run := normalizeMaxWindowsAVX2
	switch {
	case l == AVX512 && relu:
		run = normalizeReLUMaxWindowsAVX512
	case l == AVX512:
		run = normalizeMaxWindowsAVX512
	case relu:
		run = normalizeReLUMaxWindowsAVX2
	}
	run(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &y[0], &arg[0], &won[0])
}

func (l Level) normalizeMaxWindowsBack(w windows, f *poolFactors, x, dy, mask []float32, arg []int32, dx []float32) {
	if l == Generic {
		normalizeMaxWindowsBackGeneric(w, f, x, dy, mask, arg, dx)
		return
	}
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _, _ = x[end-w.first-1], dx[end-w.first-1], dy[n-1], arg[n-1]
	if mask != nil {
		_ = mask[n-1]
	}
	switch {
	case mask == nil && l == AVX512:
		normalizeMaxWindowsBackAVX512(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &dy[0], &arg[0], &dx[0])
	case mask == nil:
		normalizeMaxWindowsBackAVX2(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &dy[0], &arg[0], &dx[0])
	case l == AVX512:
		normalizeMaxWindowsBackMaskedAVX512(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &dy[0], &mask[0], &arg[0], &dx[0])
	default:
		normalizeMaxWindowsBackMaskedAVX2(w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &dy[0], &mask[0], &arg[0], &dx[0])
	}
}
