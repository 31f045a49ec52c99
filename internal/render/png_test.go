package render

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// What is written has each pixel of the image, with few colors and with many, opaque or not,
// and of a part of an image.
func TestEncodeKeepsPixels(t *testing.T) {
	t.Parallel()
	for _, colors := range []int{1, 2, 255, 256, 257, 3000} {
		whole := image.NewRGBA(image.Rect(0, 0, 61, 67))
		for i := range 61 * 67 {
			c := i * 7 % colors
			whole.SetRGBA(i%61, i/61, color.RGBA{uint8(c), uint8(c >> 8), uint8(c * 3), 255})
		}
		part := whole.SubImage(image.Rect(3, 5, 60, 60)).(*image.RGBA)
		clear := image.NewRGBA(whole.Rect)
		clear.SetRGBA(4, 4, color.RGBA{uint8(colors), 0, 0, 255})
		for _, m := range []*image.RGBA{whole, part, clear} {
			var b bytes.Buffer
			if err := encode(&b, m); err != nil {
				t.Fatal(err)
			}
			got, err := png.Decode(&b)
			if err != nil || got.Bounds().Size() != m.Rect.Size() {
				t.Fatal(err, got.Bounds())
			}
			_, few := got.(*image.Paletted)
			if want := m == clear || colors <= 256; few != want {
				t.Errorf("%d colors: with a palette %v, want %v", colors, few, want)
			}
			for y := range m.Rect.Dy() {
				for x := range m.Rect.Dx() {
					if a, w := color.RGBAModel.Convert(got.At(x, y)), m.RGBAAt(x+m.Rect.Min.X, y+m.Rect.Min.Y); a != w {
						t.Fatalf("%d colors: pixel (%d, %d) is %v, want %v", colors, x, y, a, w)
					}
				}
			}
		}
	}
}
