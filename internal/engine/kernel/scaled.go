package kernel

// AddScaled adds c x to sum, of equal length, in float64, products rounded. The work is
// done on the calling goroutine, with the same bits on all levels.
func AddScaled(c float64, x []float32, sum []float64) {
	sum = sum[:len(x)]
	l, n := laned(len(x))
	if assembly && n > 0 {
		addScaledAsm(l, n/exactLanes, c, &x[0], &sum[0])
	}
	addScaledGeneric(c, x[n:], sum[n:])
}

// AddDifference adds c (x - y + eps) to sum, of equal length, in float64, each operation
// rounded. The work is done on the calling goroutine, with the same bits on all levels.
func AddDifference(c, eps float64, x, y []float32, sum []float64) {
	y, sum = y[:len(x)], sum[:len(x)]
	l, n := laned(len(x))
	if assembly && n > 0 {
		addDifferenceAsm(l, n/exactLanes, c, eps, &x[0], &y[0], &sum[0])
	}
	addDifferenceGeneric(c, eps, x[n:], y[n:], sum[n:])
}

// SubtractFour subtracts (w0 x0 + w1 x1) + (w2 x2 + w3 x3) from sum, of equal length, in
// float64, each operation rounded. The work is done on the calling goroutine, with the same
// bits on all levels.
func SubtractFour(w *[4]float64, x0, x1, x2, x3 []float32, sum []float64) {
	x0, x1, x2, x3 = x0[:len(sum)], x1[:len(sum)], x2[:len(sum)], x3[:len(sum)]
	l, n := laned(len(sum))
	if assembly && n > 0 {
		subtractFourAsm(l, n/exactLanes, &w[0], &x0[0], &x1[0], &x2[0], &x3[0], &sum[0])
	}
	subtractFourGeneric(w, x0[n:], x1[n:], x2[n:], x3[n:], sum[n:])
}

func addScaledGeneric(c float64, x []float32, sum []float64) {
	sum = sum[:len(x)]
	for k, v := range x {
		sum[k] += float64(c * float64(v))
	}
}

func addDifferenceGeneric(c, eps float64, x, y []float32, sum []float64) {
	y, sum = y[:len(x)], sum[:len(x)]
	for k, v := range x {
		sum[k] += float64(c * (float64(v) - float64(y[k]) + eps))
	}
}

func subtractFourGeneric(w *[4]float64, x0, x1, x2, x3 []float32, sum []float64) {
	w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
	x0, x1, x2, x3 = x0[:len(sum)], x1[:len(sum)], x2[:len(sum)], x3[:len(sum)]
	for k := range sum {
		sum[k] -= (float64(w0*float64(x0[k])) + float64(w1*float64(x1[k]))) + (float64(w2*float64(x2[k])) + float64(w3*float64(x3[k])))
	}
}
