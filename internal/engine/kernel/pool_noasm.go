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
