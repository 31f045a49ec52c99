//go:build !amd64 || noasm

package kernel

func (Level) pixels(p []uint8, y []float32) { pixelsGeneric(p, y) }
