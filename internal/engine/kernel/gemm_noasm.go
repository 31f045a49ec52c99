//go:build !amd64 || noasm

package kernel

// available lists the levels that can run here, slowest first.
var available = []Level{Generic}

func (Level) shape() tileShape { return genericShape }

func (Level) tileAt(t *tileArgs) { tileGeneric(t) }

func (Level) transpose(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	transposeGeneric(rows, cols, src, lds, dst, ldd)
}

// packRows is not called: no tile has 32 columns.
func packRows(int, []float32, int, []float32) { panic("kernel: rows of 32 numbers") }

func secondCache() int { return 0 }

func peakBF16(int) float64 { return 0 }

func (Level) peak(steps int) float64 { return peakGeneric(steps) }
