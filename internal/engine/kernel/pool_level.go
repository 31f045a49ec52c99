package kernel

// The methods of Level choose the code, for windows and channels above 0.
// Slices of images begin with the first window's first pixel and end with the
// last window's last.

func (l Level) maxWindows(w windows, x, y []float32, arg []int32) {
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _ = x[end-w.first-1], y[n-1], arg[n-1]
	if assembly && l != Generic {
		maxWindowsAsm(l, w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &y[0], &arg[0])
	} else {
		maxWindowsGeneric(w, x, y, arg)
	}
}

func (l Level) maxWindowsBack(w windows, add bool, dy, mask []float32, arg []int32, dx []float32) {
	if !assembly || l == Generic {
		maxWindowsBackGeneric(w, add, dy, mask, arg, dx)
		return
	}
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _ = dx[end-w.first-1], dy[n-1], arg[n-1]
	if mask == nil {
		run := maxWindowsBackAsm
		if add {
			run = maxWindowsBackAddAsm
		}
		run(l, w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &dy[0], &arg[0], &dx[0])
		return
	}
	run := maxWindowsBackMaskedAsm
	if add {
		run = maxWindowsBackMaskedAddAsm
	}
	run(l, w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &dy[0], &mask[:n][0], &arg[0], &dx[0])
}

func (l Level) avgWindows(w windows, scale float32, x, y []float32) {
	_, end := w.from(0, 0)
	_, _ = x[end-w.first-1], y[w.count*w.c-1]
	if assembly && l != Generic {
		avgWindowsAsm(l, scale, w.count, w.c, w.kh, w.kw, w.row, w.next, &x[0], &y[0])
	} else {
		avgWindowsGeneric(w, scale, x, y)
	}
}

func (l Level) avgWindowsBack(w windows, add bool, scale float32, dy, dx []float32) {
	if !assembly || l == Generic {
		avgWindowsBackGeneric(w, add, scale, dy, dx)
		return
	}
	_, end := w.from(0, 0)
	_, _ = dx[end-w.first-1], dy[w.count*w.c-1]
	run := avgWindowsBackAsm
	if add {
		run = avgWindowsBackAddAsm
	}
	run(l, scale, w.count, w.c, w.kh, w.kw, w.row, w.next, &dy[0], &dx[0])
}

func (l Level) normalizeMaxWindows(w windows, f *poolFactors, relu bool, x, y []float32, arg []int32, won []float32) {
	if !assembly || l == Generic {
		normalizeMaxWindowsGeneric(w, f, relu, x, y, arg, won)
		return
	}
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _, _ = x[end-w.first-1], y[n-1], arg[n-1], won[n-1]
	run := normalizeMaxWindowsAsm
	if relu {
		run = normalizeReLUMaxWindowsAsm
	}
	run(l, w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &y[0], &arg[0], &won[0])
}

func (l Level) normalizeMaxWindowsBack(w windows, f *poolFactors, x, dy, mask []float32, arg []int32, dx []float32) {
	_, end := w.from(0, 0)
	n := w.count * w.c
	_, _, _, _ = x[end-w.first-1], dx[end-w.first-1], dy[n-1], arg[n-1]
	switch {
	case !assembly || l == Generic:
		normalizeMaxWindowsBackGeneric(w, f, x, dy, mask, arg, dx)
	case mask == nil:
		normalizeMaxWindowsBackAsm(l, w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &dy[0], &arg[0], &dx[0])
	default:
		normalizeMaxWindowsBackMaskedAsm(l, w.count, w.c, w.kh, w.kw, w.row, w.next, w.first, &x[0], &f.vectors[0], &dy[0], &mask[:n][0], &arg[0], &dx[0])
	}
}
