package kernel

import "math"

func maxWindowsGeneric(w windows, x, y []float32, arg []int32) {
	for o := range w.count {
		y, arg := y[o*w.c:(o+1)*w.c], arg[o*w.c:(o+1)*w.c]
		x, first := x[o*w.next:], w.first+o*w.next
		copy(y, x[:w.c])
		for c := range arg {
			arg[c] = int32(first + c)
		}
		for r := range w.kh {
			for k := range w.kw {
				if off := r*w.row + k*w.c; off > 0 {
					maxInto(y, arg, x[off:off+w.c], first+off)
				}
			}
		}
	}
}

// maxInto replaces y and arg where x is greater, or is the first NaN.
func maxInto(y []float32, arg []int32, x []float32, off int) {
	y, arg = y[:len(x)], arg[:len(x)]
	for c, v := range x {
		old := y[c]
		best, won := math.Float32bits(old), arg[c]
		bits, at := math.Float32bits(v), int32(off+c)
		// Which pixel wins is random, so these must compile to conditional moves: of
		// integers, one for each comparison.
		if v > old {
			best = bits
		}
		if v > old {
			won = at
		}
		if v != v && old == old {
			best, won = bits, at
		}
		y[c], arg[c] = math.Float32frombits(best), won
	}
}

func maxWindowsBackGeneric(w windows, add bool, dy, mask []float32, arg []int32, dx []float32) {
	for o := range w.count {
		dy, arg := dy[o*w.c:(o+1)*w.c], arg[o*w.c:(o+1)*w.c]
		dx, first := dx[o*w.next:], w.first+o*w.next
		if !add {
			for r := range w.kh {
				clear(dx[r*w.row : r*w.row+w.kw*w.c])
			}
		}
		for c, g := range dy {
			if mask != nil {
				g = where(mask[o*w.c+c], g)
			}
			if at := int(arg[c]) - first; add {
				dx[at] += g
			} else {
				dx[at] = g
			}
		}
	}
}

func avgWindowsGeneric(w windows, scale float32, x, y []float32) {
	for o := range w.count {
		y, x := y[o*w.c:(o+1)*w.c], x[o*w.next:]
		clear(y)
		for r := range w.kh {
			for k := range w.kw {
				off := r*w.row + k*w.c
				addGeneric(y, x[off:off+w.c], y)
			}
		}
		scaleGeneric(scale, y)
	}
}

func avgWindowsBackGeneric(w windows, add bool, scale float32, dy, dx []float32) {
	for o := range w.count {
		dy, dx := dy[o*w.c:(o+1)*w.c], dx[o*w.next:]
		for r := range w.kh {
			for k := range w.kw {
				d := dx[r*w.row+k*w.c:][:w.c]
				for c, g := range dy {
					v := float32(g * scale)
					if add {
						v += d[c]
					}
					d[c] = v
				}
			}
		}
	}
}
