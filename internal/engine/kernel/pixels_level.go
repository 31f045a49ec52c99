package kernel

func (l Level) pixels(p []uint8, y []float32) {
	whole := len(p) / l.floats() * l.floats() // what fills vectors
	if assembly && l != Generic && whole > 0 {
		pixelsAsm(l, whole, &p[0], &y[0])
	} else {
		whole = 0
	}
	pixelsGeneric(p[whole:], y[whole:])
}
