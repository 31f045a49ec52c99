package imaging

import "slices"

// Image is an image of H rows of W RGB pixels, Stride bytes from one row to the next. Its
// content belongs to whoever made it: a crop shares the bytes of the whole.
type Image struct {
	Pix          []uint8
	Stride, H, W int
}

// New returns a black image.
func New(h, w int) Image { return Image{Pix: make([]uint8, 3*h*w), Stride: 3 * w, H: h, W: w} }

// Fit makes img an image of (h, w) without gaps, in its own storage where that is enough;
// the content is undefined.
func (img *Image) Fit(h, w int) {
	n := 3 * h * w
	img.Pix = slices.Grow(img.Pix[:0], n)[:n]
	img.Stride, img.H, img.W = 3*w, h, w
}

// Row returns the bytes of row y.
func (img Image) Row(y int) []uint8 { return img.Pix[y*img.Stride:][: 3*img.W : 3*img.W] }

// Crop returns the rows from top on and the columns from left on, h and w of them, in the
// same bytes. They must be inside.
func (img Image) Crop(top, left, h, w int) Image {
	if top < 0 || left < 0 || h < 1 || w < 1 || top+h > img.H || left+w > img.W {
		panic("imaging: crop outside of the image")
	}
	return Image{Pix: img.Pix[top*img.Stride+3*left:], Stride: img.Stride, H: h, W: w}
}

// CopyTo makes dst a copy without gaps.
func (img Image) CopyTo(dst *Image) {
	dst.Fit(img.H, img.W)
	for y := range img.H {
		copy(dst.Row(y), img.Row(y))
	}
}

// Luma writes the gray of each pixel, H*W bytes, by the weights of ITU-R 601 in 16 bits
// below the point, as Pillow's mode L.
func (img Image) Luma(dst []uint8) {
	for y := range img.H {
		row := img.Row(y)
		out := dst[y*img.W : (y+1)*img.W]
		for x := range out {
			out[x] = luma(row[3*x : 3*x+3])
		}
	}
}

func luma(p []uint8) uint8 {
	return uint8((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
}
