//go:build !amd64 || noasm

package kernel

func above(_ Level, rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	aboveGeneric(rows, cols, x, ld, a, b, mask)
}

func below(_ Level, rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	belowGeneric(rows, cols, x, ld, a, b, mask)
}

func squares32(n int, a, b []float32, s *[exactLanes]float64) { squares32Generic(a[:n], b[:n], s) }

func squares64(n int, a []float32, b []float64, s *[exactLanes]float64) {
	squares64Generic(a[:n], b[:n], s)
}

func leastKeys(_ Level, l *LeastKeys) { leastKeysGeneric(l) }

func nearer(x, norm []float32, own float32, nearest, out []float32, sums *[SumLanes]float64) {
	nearerGeneric(x, norm, own, nearest, out, sums)
}

func addRow(sum []float64, x []float32) { addRowGeneric(sum, x) }

func subtractRow(sum []float64, x []float32) { subtractRowGeneric(sum, x) }

func addScaled(c float64, x []float32, sum []float64) { addScaledGeneric(c, x, sum) }

func addDifference(c, eps float64, x, y []float32, sum []float64) {
	addDifferenceGeneric(c, eps, x, y, sum)
}

func subtractFour(w *[4]float64, x0, x1, x2, x3 []float32, sum []float64) {
	subtractFourGeneric(w, x0, x1, x2, x3, sum)
}

func countKeys(x []float32, stride int, scale, add []float32, limit float32, cuts []float32, vectors int, c *KeyCounts) int {
	return countKeysGeneric(x, stride, scale, add, limit, cuts, vectors, c)
}

func hasByteDots(Level) bool { return false }

func byteTile(rows, k int, a, b []uint32, start []int32, scale, add, by, out []float32, ld int) {
	byteTileGeneric(rows, k, a, b, start, scale, add, by, out, ld)
}

func dot32(a, b []float32) float32 { return dot32Generic(a, b) }

func shiftRow(x []float32, mean []float64, scale float64, out []float32) {
	shiftRowGeneric(x, mean, scale, out)
}

func quantize([]float32, float32, []uint32, *[64]float32) int { return 0 }
