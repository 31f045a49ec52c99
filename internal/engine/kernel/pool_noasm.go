//go:build !amd64 || noasm

package kernel

func (Level) maxWindows(w windows, x, y []float32, arg []int32) { maxWindowsGeneric(w, x, y, arg) }

func (Level) maxWindowsBack(w windows, add bool, dy, mask []float32, arg []int32, dx []float32) {
	maxWindowsBackGeneric(w, add, dy, mask, arg, dx)
}

func (Level) avgWindows(w windows, scale float32, x, y []float32) { avgWindowsGeneric(w, scale, x, y) }

func (Level) avgWindowsBack(w windows, add bool, scale float32, dy, dx []float32) {
	avgWindowsBackGeneric(w, add, scale, dy, dx)
}

func (Level) floats() int { return 1 }

func (Level) normalizeMaxWindows(w windows, f *poolFactors, relu bool, x, y []float32, arg []int32, won []float32) {
	normalizeMaxWindowsGeneric(w, f, relu, x, y, arg, won)
}

func (Level) normalizeMaxWindowsBack(w windows, f *poolFactors, x, dy, mask []float32, arg []int32, dx []float32) {
	normalizeMaxWindowsBackGeneric(w, f, x, dy, mask, arg, dx)
}
