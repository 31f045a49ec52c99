package render

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
)

// encoder writes pictures fast rather than small.
var encoder = png.Encoder{CompressionLevel: png.BestSpeed}

func encode(w io.Writer, m image.Image) error {
	rgba, ok := m.(*image.RGBA)
	if !ok {
		return encoder.Encode(w, m)
	}
	if few := indexed(rgba); few != nil {
		return encoder.Encode(w, few)
	}
	if !rgba.Opaque() {
		return encoder.Encode(w, m)
	}
	return opaque(w, rgba)
}

// opaque writes an opaque picture with three bytes a pixel. Each row is stored as its
// difference from the row above, since rows of a plot are mostly equal to the one above.
// Package image/png tries all five filters on each row, which takes most of its time.
func opaque(w io.Writer, m *image.RGBA) error {
	width, height := m.Rect.Dx(), m.Rect.Dy()
	var pixels bytes.Buffer
	z, _ := zlib.NewWriterLevel(&pixels, zlib.BestSpeed) // fails for an unknown level alone
	row, above := make([]byte, 1+3*width), make([]byte, 3*width)
	row[0] = 2 // the filter "up"
	for y := range height {
		from := m.Pix[y*m.Stride:][:4*width]
		for x := range width {
			to, was, is := row[1+3*x:][:3], above[3*x:][:3], from[4*x:][:3]
			to[0], to[1], to[2] = is[0]-was[0], is[1]-was[1], is[2]-was[2]
			copy(was, is)
		}
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range []struct {
		name string
		data []byte
	}{{"IHDR", append(head, 8, 2, 0, 0, 0)}, {"IDAT", pixels.Bytes()}, {"IEND", nil}} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(chunk.data)))
		start := len(out)
		out = append(append(out, chunk.name...), chunk.data...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
	}
	_, err := w.Write(out)
	return err
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
