package data

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"
)

// Images that are scaled where they are give the pixels of a copy that was laid over white.
func TestScaleInPlace(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	type plain struct{ image.Image } // of no type that scale knows
	for round := range 40 {
		h, w := 1+r.IntN(60), 1+r.IntN(60)
		box := image.Rect(3, 5, 3+w, 5+h)
		gray, rgba := image.NewGray(box), image.NewRGBA(box)
		for i := range gray.Pix {
			gray.Pix[i] = uint8(r.IntN(256)) | uint8(255*r.IntN(2)) // often white, where sums overshoot
		}
		for i := range rgba.Pix {
			if rgba.Pix[i] = uint8(r.IntN(256)); i%4 == 3 {
				rgba.Pix[i] = 255
			}
		}
		for _, img := range []image.Image{gray, rgba} {
			o := ImageOptions{Size: 1 + r.IntN(80), Filter: []string{"catmullrom", "bilinear"}[round%2]}
			got, want := make([]uint8, 3*o.Size*o.Size), make([]uint8, 3*o.Size*o.Size)
			var s canvas
			if err := o.render(img, got, &s); err != nil {
				t.Fatal(err)
			}
			if s.full.Pix != nil && (h != o.Size || w != o.Size) {
				t.Fatalf("%T was copied", img)
			}
			if err := o.render(plain{img}, want, new(canvas)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%T of %dx%d to %d by %s differs", img, h, w, o.Size, o.Filter)
			}
		}
	}
}
