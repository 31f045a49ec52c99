package kernel

// The loops of level Generic. Conversions forbid fused multiply-adds, so that
// the bits are those of the assembly on every architecture.

func normalizeGeneric(rows, cols int, x, mean, scale, shift, add []float32, relu bool, y []float32) {
	for r := range rows {
		x, y := x[r*cols:(r+1)*cols], y[r*cols:(r+1)*cols]
		mean, scale, shift := mean[:len(x)], scale[:len(x)], shift[:len(x)]
		for c, v := range x {
			v = float32((v-mean[c])*scale[c]) + shift[c]
			if add != nil {
				v += add[r*cols+c]
			}
			if relu {
				v = positive(v)
			}
			y[c] = v
		}
	}
}

func normalizeBackGeneric(rows, cols int, x, dy, mask, mean, scale, shift, slope, dx []float32) {
	mean, scale, shift, slope = mean[:cols], scale[:cols], shift[:cols], slope[:cols]
	for r := range rows {
		x, dy, dx := x[r*cols:(r+1)*cols], dy[r*cols:(r+1)*cols], dx[r*cols:(r+1)*cols]
		for c, g := range dy {
			if mask != nil {
				g = where(mask[r*cols+c], g)
			}
			t := float32(slope[c]*(x[c]-mean[c])) + shift[c]
			dx[c] = float32(scale[c]*g) - t
		}
	}
}

func normalizeBackReLUGeneric(rows, cols int, x, dy, mean, scale, shift, slope, bias, dx []float32) {
	mean, scale, shift, slope, bias = mean[:cols], scale[:cols], shift[:cols], slope[:cols], bias[:cols]
	for r := range rows {
		x, dy, dx := x[r*cols:(r+1)*cols], dy[r*cols:(r+1)*cols], dx[r*cols:(r+1)*cols]
		for c, g := range dy {
			d := x[c] - mean[c]
			g = where(float32(d*scale[c])+bias[c], g)
			t := float32(slope[c]*d) + shift[c]
			dx[c] = float32(scale[c]*g) - t
		}
	}
}

func scaleRowsGeneric(rows, cols int, dy, mask, scale, dx []float32) {
	for r := range rows {
		dy, dx, scale := dy[r*cols:(r+1)*cols], dx[r*cols:(r+1)*cols], scale[:cols]
		for c, g := range dy {
			if mask != nil {
				g = where(mask[r*cols+c], g)
			}
			dx[c] = scale[c] * g
		}
	}
}

func columnSumsGeneric(rows, cols int, x []float32, s []float64) {
	s = s[:cols]
	for r := range rows {
		for c, v := range x[r*cols : (r+1)*cols] {
			s[c] += float64(v)
		}
	}
}

func columnMomentsGeneric(rows, cols int, x []float32, center, s, q []float64) {
	center, s, q = center[:cols], s[:cols], q[:cols]
	for r := range rows {
		for c, v := range x[r*cols : (r+1)*cols] {
			d := float64(v) - center[c]
			s[c] += d
			q[c] += float64(d * d)
		}
	}
}

func columnProductsGeneric(rows, cols int, x, dy, mask []float32, center, s, q []float64) {
	center, s, q = center[:cols], s[:cols], q[:cols]
	for r := range rows {
		x := x[r*cols : (r+1)*cols]
		for c, g := range dy[r*cols : (r+1)*cols] {
			if mask != nil {
				g = where(mask[r*cols+c], g)
			}
			s[c] += float64(g)
			q[c] += float64(float64(g) * (float64(x[c]) - center[c]))
		}
	}
}

func columnProductsReLUGeneric(rows, cols int, x, dy, mean, scale, bias []float32, center, s, q []float64) {
	mean, scale, bias, center, s, q = mean[:cols], scale[:cols], bias[:cols], center[:cols], s[:cols], q[:cols]
	for r := range rows {
		x := x[r*cols : (r+1)*cols]
		for c, g := range dy[r*cols : (r+1)*cols] {
			g = where(float32((x[c]-mean[c])*scale[c])+bias[c], g)
			s[c] += float64(g)
			q[c] += float64(float64(g) * (float64(x[c]) - center[c]))
		}
	}
}
