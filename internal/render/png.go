package render

import (
	"image"
	"image/color"
	"image/png"
	"io"
)

// encoder writes pictures fast rather than small.
var encoder = png.Encoder{CompressionLevel: png.BestSpeed}

func encode(w io.Writer, m image.Image) error {
	if rgba, ok := m.(*image.RGBA); ok {
		if few := indexed(rgba); few != nil {
			m = few
		}
	}
	return encoder.Encode(w, m)
}

// indexed is the image with a palette of its colors, nil where it has more than 256: most
// plots have fewer, and a byte for each pixel is smaller and faster than four.
func indexed(m *image.RGBA) *image.Paletted {
	out := image.NewPaletted(m.Rect, nil)
	number := map[color.RGBA]uint8{}
	last, at := color.RGBA{}, uint8(0)
	for y := range m.Rect.Dy() {
		row, to := m.Pix[y*m.Stride:][:4*m.Rect.Dx()], out.Pix[y*out.Stride:]
		for x := 0; x < len(row); x += 4 {
			c := color.RGBA{row[x], row[x+1], row[x+2], row[x+3]}
			if c != last || len(number) == 0 {
				known := false
				if at, known = number[c]; !known {
					if len(number) == 256 {
						return nil
					}
					at = uint8(len(number))
					number[c] = at
					out.Palette = append(out.Palette, c)
				}
				last = c
			}
			to[x/4] = at
		}
	}
	return out
}
