package imaging

import (
	"image"
	"slices"

	"tercet/internal/engine/kernel"
)

// ycbcr makes dst the image of the planes of a JPEG as libjpeg does: chroma interpolated
// between samples ("fancy" upsampling, jdsample.c), then its integer formula of colors
// (jdcolor.c).
func (d *Decoder) ycbcr(dst *Image, img *image.YCbCr) {
	for k := range d.up {
		d.up[k] = slices.Grow(d.up[k][:0], dst.W+8)[:dst.W+8]
	}
	for y := range dst.H {
		cb := chromaRow(d.up[0], img, img.Cb, y)
		cr := chromaRow(d.up[1], img, img.Cr, y)
		kernel.YCbCrRow(dst.Row(y), img.Y[y*img.YStride:][:dst.W], cb, cr)
	}
}

// chromaRow returns row y of a plane of chroma at full width, in buf or in the plane.
func chromaRow(buf []uint8, img *image.YCbCr, plane []uint8, y int) []uint8 {
	full, height := img.Rect.Dx(), img.Rect.Dy()
	row := func(y, w int) []uint8 { return plane[y*img.CStride:][:w:w] }
	half := (full + 1) / 2
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
		return row(y, full)
	case image.YCbCrSubsampleRatio422:
		if half > 2 {
			near := row(y, half)
			kernel.ChromaRow(buf[:2*half], near, near, 4, 8)
			return buf[:full]
		}
	case image.YCbCrSubsampleRatio420:
		if half > 2 {
			near, far := nearFar(y, height)
			kernel.ChromaRow(buf[:2*half], row(near, half), row(far, half), 8, 7)
			return buf[:full]
		}
	case image.YCbCrSubsampleRatio440:
		near, far := nearFar(y, height)
		a, b, out, bias := row(near, full), row(far, full), buf[:full], 1+y%2
		for x := range out {
			out[x] = uint8((3*int(a[x]) + int(b[x]) + bias) >> 2)
		}
		return out
	}
	for x := range full { // other ratios, and planes too narrow to interpolate
		buf[x] = plane[img.COffset(img.Rect.Min.X+x, img.Rect.Min.Y+y)]
	}
	return buf[:full]
}

// nearFar returns, of planes of half the height, the row of row y and the next nearest,
// which at the edges is the same.
func nearFar(y, height int) (near, far int) {
	near = y / 2
	if y%2 == 0 {
		return near, max(near-1, 0)
	}
	return near, min(near+1, (height+1)/2-1)
}
