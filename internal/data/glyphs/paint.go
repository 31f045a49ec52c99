package glyphs

// gray turns the coverage into bytes: ink on paper, a linear shade, noise.
func (b *brush) gray(r source, k *knobs, size int, dst []byte) {
	contrast := between(r, k.contrast, one)
	paper := between(r, 0, one-contrast)
	ink := paper + contrast
	if between(r, 0, one-1) < k.invert {
		paper, ink = ink, paper
	}
	sx, sy := shade(r, k, size)
	sigma := between(r, 0, k.noise)
	for y := range size {
		for x := range size {
			i := y*size + x
			v := paper + mul(int64(b.cover[i]), ink-paper) + sx*int64(2*x-size+1) + sy*int64(2*y-size+1)
			dst[i] = level(v + mul(sigma, normal(r)))
		}
	}
}

// color is gray with three channels: random colors of ink and paper, whose
// lightness differs by at least the contrast.
func (b *brush) color(r source, k *knobs, size int, dst []byte) {
	contrast := between(r, k.contrast, one)
	low := between(r, 0, one-contrast)
	paper, ink := tint(r, low), tint(r, low+contrast)
	if between(r, 0, one-1) < k.invert {
		paper, ink = ink, paper
	}
	sx, sy := shade(r, k, size)
	sigma := between(r, 0, k.noise)
	for y := range size {
		for x := range size {
			i := y*size + x
			lit := sx*int64(2*x-size+1) + sy*int64(2*y-size+1)
			for c := range 3 {
				v := paper[c] + mul(int64(b.cover[i]), ink[c]-paper[c]) + lit
				dst[3*i+c] = level(v + mul(sigma, normal(r)))
			}
		}
	}
}

// shade returns the change of brightness per half pixel in x and in y.
func shade(r source, k *knobs, size int) (x, y int64) {
	return spread(r, k.shade/2) / int64(size), spread(r, k.shade/2) / int64(size)
}

// tint returns a random color with the given Rec. 601 lightness.
func tint(r source, lightness int64) [3]int64 {
	var c [3]int64
	for i := range c {
		c[i] = between(r, 0, one)
	}
	have := (299*c[0] + 587*c[1] + 114*c[2]) / 1000
	for i := range c { // towards black or towards white
		switch {
		case have >= lightness && have > 0:
			c[i] = c[i] * lightness / have
		default:
			c[i] = one - (one-c[i])*(one-lightness)/(one-have)
		}
	}
	return c
}

// level rounds to a byte; values outside [0, 1] are clipped.
func level(v int64) byte { return byte(min(max((v*255+one/2)>>16, 0), 255)) }
