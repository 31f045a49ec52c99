//go:build !amd64 || noasm

package kernel

func (Level) relu(x, y []float32)                { reluGeneric(x, y) }
func (Level) reluBackward(y, dy, dx []float32)   { reluBackwardGeneric(y, dy, dx) }
func (Level) add(a, b, out []float32)            { addGeneric(a, b, out) }
func (Level) addReLU(a, b, out []float32)        { addReLUGeneric(a, b, out) }
func (Level) axpy(alpha float32, x, y []float32) { axpyGeneric(alpha, x, y) }
func (Level) scale(alpha float32, x []float32)   { scaleGeneric(alpha, x) }

func (Level) normalize(rows, cols int, x, mean, scale, shift, add []float32, relu bool, y []float32) {
	normalizeGeneric(rows, cols, x, mean, scale, shift, add, relu, y)
}

func (Level) normalizeBack(rows, cols int, x, dy, mask, mean, scale, shift, slope, dx []float32) {
	normalizeBackGeneric(rows, cols, x, dy, mask, mean, scale, shift, slope, dx)
}

func (Level) scaleRows(rows, cols int, dy, mask, scale, dx []float32) {
	scaleRowsGeneric(rows, cols, dy, mask, scale, dx)
}

func (Level) columnSums(rows, cols int, x []float32, s []float64) {
	columnSumsGeneric(rows, cols, x, s)
}

func (Level) columnMoments(rows, cols int, x []float32, center, s, q []float64) {
	columnMomentsGeneric(rows, cols, x, center, s, q)
}

func (Level) columnProducts(rows, cols int, x, dy, mask []float32, center, s, q []float64) {
	columnProductsGeneric(rows, cols, x, dy, mask, center, s, q)
}

func (Level) normalizeBackReLU(rows, cols int, x, dy, mean, scale, shift, slope, bias, dx []float32) {
	normalizeBackReLUGeneric(rows, cols, x, dy, mean, scale, shift, slope, bias, dx)
}

func (Level) columnProductsReLU(rows, cols int, x, dy, mean, scale, bias []float32, center, s, q []float64) {
	columnProductsReLUGeneric(rows, cols, x, dy, mean, scale, bias, center, s, q)
}
