//go:build !amd64 || noasm

package kernel

// available lists the levels that can run here, slowest first.
var available = []Level{Generic}

func (Level) shape() tileShape { return genericShape }

func (Level) tile(rows, width, k int, a []float32, rsa, csa int, b []float32, rsb int, c []float32, ldc int, alpha, beta float32) {
	tileGeneric(rows, k, a, rsa, csa, b, rsb, c, ldc, alpha, beta)
}

func (Level) transpose(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	transposeGeneric(rows, cols, src, lds, dst, ldd)
}
