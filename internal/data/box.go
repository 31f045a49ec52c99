package data

import "image"

// boxIn is the part in a box of an image of h rows and w columns, all of it for an empty
// box. A box that reaches further beyond the image than rounding takes it, a pixel, is an
// error: most likely it is of an image of another size, and any part would be the wrong one.
func boxIn(name string, box image.Rectangle, h, w int) (image.Rectangle, error) {
	whole := image.Rect(0, 0, w, h)
	if box.Empty() {
		return whole, nil
	}
	part := box.Intersect(whole)
	if part.Empty() || !box.In(whole.Inset(-1)) {
		return whole, bad("%s has %dx%d pixels, and its box from (%d, %d) to (%d, %d) lies outside, all of it or a part: boxes are those of images of the annotated size", name, h, w, box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
	}
	return part, nil
}
