package imaging

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// Limits of images that are read: sides up to MaxSide and MaxPixels in all.
const (
	MaxSide   = 1 << 14
	MaxPixels = 1 << 26
)

// Version and ResizeVersion name how files are decoded and resized, for records of what a
// result was made with.
const (
	Version       = "go image/jpeg planes, libjpeg chroma and color"
	ResizeVersion = "pillow, 8 bits"
)

// Head is what a file's header announces.
type Head struct {
	H, W int
	Gray bool
}

var jpegMagic, pngMagic = []byte("\xff\xd8"), []byte("\x89PNG\r\n\x1a\n")

// codec returns the decoder of a file by its first bytes, whatever it is called.
func codec(file []byte) (decode func(*bytes.Reader) (image.Image, error), head func(*bytes.Reader) (image.Config, error), err error) {
	switch {
	case bytes.HasPrefix(file, jpegMagic):
		return func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }, func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) }, nil
	case bytes.HasPrefix(file, pngMagic):
		return func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }, func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) }, nil
	case len(file) == 0:
		return nil, nil, fmt.Errorf("empty file")
	}
	return nil, nil, fmt.Errorf("neither JPEG nor PNG")
}

// readHead returns what the header of a file says, whose first bytes are enough. An image
// that is too large is an error.
func readHead(file []byte) (Head, error) {
	_, head, err := codec(file)
	if err != nil {
		return Head{}, err
	}
	c, err := head(bytes.NewReader(file))
	if err != nil {
		return Head{}, err
	}
	if h, w := c.Height, c.Width; h < 1 || w < 1 || h > MaxSide || w > MaxSide || h*w > MaxPixels {
		return Head{}, fmt.Errorf("image of %dx%d pixels; sides of 1 to %d and up to %d pixels in all are read", h, w, MaxSide, MaxPixels)
	}
	return Head{c.Height, c.Width, c.ColorModel == color.GrayModel || c.ColorModel == color.Gray16Model}, nil
}

// Decoder decodes files; its scratch serves one goroutine.
type Decoder struct{ up [2][]uint8 }

// Decode makes dst the RGB image of a JPEG or PNG file, by its content, as Pillow's
// convert("RGB") gives it: gray three times, palettes and CMYK looked up, transparency
// dropped, of 16 bits the upper 8. The header is checked before anything is allocated.
func (d *Decoder) Decode(dst *Image, file []byte) error {
	if _, err := readHead(file); err != nil {
		return err
	}
	decode, _, _ := codec(file)
	img, err := decode(bytes.NewReader(file))
	if err != nil {
		return err
	}
	b := img.Bounds()
	dst.Fit(b.Dy(), b.Dx())
	switch img := img.(type) {
	case *image.YCbCr:
		d.ycbcr(dst, img)
	case *image.CMYK:
		cmyk(dst, img)
	case *image.Gray:
		spread(dst, img.Pix, img.Stride, 1, 1)
	case *image.RGBA:
		spread(dst, img.Pix, img.Stride, 4, 3)
	case *image.NRGBA:
		spread(dst, img.Pix, img.Stride, 4, 3)
	case *image.Paletted:
		palette(dst, img)
	case *image.Gray16:
		spread(dst, img.Pix, img.Stride, 2, 1)
	case *image.RGBA64:
		upper(dst, img.Pix, img.Stride)
	case *image.NRGBA64:
		upper(dst, img.Pix, img.Stride)
	default:
		return fmt.Errorf("image of an unknown kind")
	}
	return nil
}

// spread copies colors, the first bytes of size, one of which is gray three times.
func spread(dst *Image, pix []uint8, stride, size, colors int) {
	for y := range dst.H {
		row, src := dst.Row(y), pix[y*stride:]
		for x := range dst.W {
			p := src[x*size:]
			if colors == 1 {
				row[3*x], row[3*x+1], row[3*x+2] = p[0], p[0], p[0]
				continue
			}
			copy(row[3*x:3*x+3], p)
		}
	}
}

// upper takes the upper bytes of colors of 16 bits.
func upper(dst *Image, pix []uint8, stride int) {
	for y := range dst.H {
		row, src := dst.Row(y), pix[y*stride:]
		for x := range dst.W {
			row[3*x], row[3*x+1], row[3*x+2] = src[8*x], src[8*x+2], src[8*x+4]
		}
	}
}

func palette(dst *Image, img *image.Paletted) {
	var colors [256][3]uint8
	for i, c := range img.Palette {
		switch c := c.(type) {
		case color.RGBA:
			colors[i] = [3]uint8{c.R, c.G, c.B}
		case color.NRGBA:
			colors[i] = [3]uint8{c.R, c.G, c.B}
		}
	}
	for y := range dst.H {
		row, src := dst.Row(y), img.Pix[y*img.Stride:]
		for x := range dst.W {
			copy(row[3*x:], colors[src[x]][:])
		}
	}
}

// cmyk is Pillow's: what the black ink lets through, less each color's share of it.
func cmyk(dst *Image, img *image.CMYK) {
	for y := range dst.H {
		row, src := dst.Row(y), img.Pix[y*img.Stride:]
		for x := range dst.W {
			light := 255 - int(src[4*x+3])
			for c := range 3 {
				v := int(src[4*x+c])*light + 128
				row[3*x+c] = uint8(max(light-(v>>8+v)>>8, 0))
			}
		}
	}
}
