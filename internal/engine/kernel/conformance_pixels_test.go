package kernel_test

import (
	"testing"

	"tercet/internal/engine/kernel"
)

// pixels: all 256 of them, at odd places and lengths, have the bits of Go's quotient.
func pixels(t *testing.T) {
	r := newRand(31)
	for _, n := range append(lengths(), 256) {
		first := r.IntN(64)
		p := make([]uint8, first+n)
		for i := range p {
			p[i] = uint8(i * 167)
		}
		p = p[first:]
		y, check := buffer(r, n)
		want := make([]float32, n)
		for i, b := range p {
			want[i] = float32(b) / 255
		}
		kernel.Pixels(p, y)
		exactly(t, y, want, "pixels from %d", first)
		check(t, "pixels")
	}
}
