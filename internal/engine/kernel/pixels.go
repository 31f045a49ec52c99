package kernel

//go:generate go run -C _generate ./vector -family pixels -out ../pixels_amd64.s -go ../pixels_stubs.go -pkg kernel

// Pixels sets y[i] = p[i]/255, rounded to float32: the same bits at each level.
// It runs on the caller's thread.
func Pixels(p []uint8, y []float32) {
	y = y[:len(p)]
	l := Current()
	whole := len(p) / l.floats() * l.floats() // what fills vectors
	if assembly && l != Generic && whole > 0 {
		pixelsAsm(l, whole, &p[0], &y[0])
	} else {
		whole = 0
	}
	pixelsGeneric(p[whole:], y[whole:])
}

// quotients has the result for each of the 256 pixels.
var quotients = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(i) / 255
	}
	return
}()

func pixelsGeneric(p []uint8, y []float32) {
	y = y[:len(p)] // spares the loop a check of bounds
	for i, b := range p {
		y[i] = quotients[b]
	}
}
