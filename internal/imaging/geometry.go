package imaging

import "math"

// The geometry of torchvision's transforms on Pillow's images (torchvision 0.14).

// ShortSide returns the shape of an image of (h, w) whose shorter side becomes s: the
// longer is truncated, not rounded.
func ShortSide(h, w, s int) (nh, nw int) {
	if w <= h {
		return int(float64(s) * float64(h) / float64(w)), s
	}
	return s, int(float64(s) * float64(w) / float64(h))
}

// Centered returns where CenterCrop of (ch, cw) begins in (h, w), at least as large: the
// half of what is left, rounded half to even.
func Centered(h, w, ch, cw int) (top, left int) {
	return int(math.RoundToEven(float64(h-ch) / 2)), int(math.RoundToEven(float64(w-cw) / 2))
}

// PadTo makes dst a copy of src in the middle of black of at least (h, w), as CenterCrop
// does to smaller images: of an odd number the larger half is at the end.
func PadTo(dst *Image, src Image, h, w int) {
	nh, nw := max(h, src.H), max(w, src.W)
	Pad(dst, src, (nh-src.H)/2, (nw-src.W)/2, nh, nw)
}

// Pad makes dst black of (h, w) with src at (top, left), which must fit.
func Pad(dst *Image, src Image, top, left, h, w int) {
	dst.Fit(h, w)
	clear(dst.Pix)
	for y := range src.H {
		copy(dst.Row(top + y)[3*left:], src.Row(y))
	}
}

// Mirror exchanges left and right.
func (img Image) Mirror() {
	for y := range img.H {
		row := img.Row(y)
		for a, b := 0, 3*(img.W-1); a < b; a, b = a+3, b-3 {
			for c := range 3 {
				row[a+c], row[b+c] = row[b+c], row[a+c]
			}
		}
	}
}
