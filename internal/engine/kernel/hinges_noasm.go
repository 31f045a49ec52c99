//go:build !amd64 || noasm

package kernel

func (Level) roots(x2, near float32, y2, row []float32) float32 {
	return rootsGeneric(x2, near, y2, row)
}

func (Level) hinges(h *Hinges, d, w []float32) { hingesGeneric(h, d, w) }
