package render

import (
	"fmt"
	"image"
	"image/color"
	"math"
)

// Image is a picture of floats: H x W x C values, row-major, HWC, in [0, 1]
// (others are clipped), C 1 or 3.
type Image struct {
	Pix     []float32
	H, W, C int
}

func (m Image) check() error {
	switch {
	case m.H < 1 || m.W < 1 || m.H > 1<<14 || m.W > 1<<14:
		return fmt.Errorf("image of %d x %d pixels", m.H, m.W)
	case m.C != 1 && m.C != 3:
		return fmt.Errorf("image with %d channels; 1 and 3 can be shown", m.C)
	case len(m.Pix) != m.H*m.W*m.C:
		return fmt.Errorf("image of %d x %d x %d has %d values", m.H, m.W, m.C, len(m.Pix))
	}
	for i, v := range m.Pix {
		if v != v {
			return fmt.Errorf("image has NaN at value %d", i)
		}
	}
	return nil
}

func (m Image) at(x, y int) color.RGBA {
	level := func(c int) uint8 {
		v := float64(m.Pix[(y*m.W+x)*m.C+c])
		return uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	if m.C == 1 {
		v := level(0)
		return color.RGBA{v, v, v, 255}
	}
	return color.RGBA{level(0), level(1), level(2), 255}
}

// paint draws m into a box of dst. Small images are enlarged by whole factors
// without smoothing, so that pixels stay what they are, and centered; images
// larger than the box are reduced by averaging.
func (m Image) paint(dst *image.RGBA, box image.Rectangle) {
	if s := min(box.Dx()/m.W, box.Dy()/m.H); s >= 1 {
		ox, oy := box.Min.X+(box.Dx()-s*m.W)/2, box.Min.Y+(box.Dy()-s*m.H)/2
		for y := range s * m.H {
			for x := range s * m.W {
				dst.SetRGBA(ox+x, oy+y, m.at(x/s, y/s))
			}
		}
		return
	}
	f := min(float64(box.Dx())/float64(m.W), float64(box.Dy())/float64(m.H))
	w, h := max(1, int(float64(m.W)*f)), max(1, int(float64(m.H)*f))
	ox, oy := box.Min.X+(box.Dx()-w)/2, box.Min.Y+(box.Dy()-h)/2
	for y := range h {
		for x := range w {
			var r, g, b, n int
			for sy := y * m.H / h; sy < max((y+1)*m.H/h, y*m.H/h+1); sy++ {
				for sx := x * m.W / w; sx < max((x+1)*m.W/w, x*m.W/w+1); sx++ {
					c := m.at(sx, sy)
					r, g, b, n = r+int(c.R), g+int(c.G), b+int(c.B), n+1
				}
			}
			dst.SetRGBA(ox+x, oy+y, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255})
		}
	}
}
