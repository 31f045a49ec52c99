package imaging

import (
	"math"

	"tercet/internal/engine/kernel"
)

// Filter is a kernel of Resize.
type Filter int

// The filters.
const (
	Bilinear Filter = iota // triangle
	Bicubic                // Keys with a = -0.5
)

// support is how far the filter reaches.
func (f Filter) support() float64 { return float64(1 + int(f)) }

// at returns the filter's value. Products are rounded before they are added, on every
// processor.
func (f Filter) at(x float64) float64 {
	const a = -0.5
	x = math.Abs(x)
	switch {
	case f == Bilinear && x < 1:
		return 1 - x
	case f == Bilinear:
		return 0
	case x < 1:
		return float64(float64((float64((a+2)*x)-(a+3))*x)*x) + 1
	case x < 2:
		return (float64((float64((x-5)*x)+8)*x) - 4) * a
	}
	return 0
}

// taps are the outputs from to to of n outputs over in inputs: Pillow's precompute_coeffs
// and normalize_coeffs_8bpc (Resample.c), without their padding.
func (f Filter) taps(in, n, from, to int) *kernel.Taps {
	first, weight := make([]int32, to-from), make([][]int32, to-from)
	scale := float64(in) / float64(n)
	reach := max(scale, 1)
	support := float64(f.support() * reach)
	most := 2*int(math.Ceil(support)) + 1
	values, all := make([]float64, most), make([]int32, (to-from)*most)
	for i := range first {
		center := float64((float64(from+i) + 0.5) * scale)
		lo := max(int(center-support+0.5), 0)
		hi := min(int(center+support+0.5), in)
		sum := 0.0
		for j := range hi - lo {
			values[j] = f.at((float64(lo+j) - center + 0.5) * (1 / reach))
			sum += values[j]
		}
		w := all[i*most:][: hi-lo : hi-lo]
		for j := range w {
			w[j] = fixed(values[j] / sum)
		}
		first[i], weight[i] = int32(lo), w
	}
	return kernel.NewTaps(first, weight)
}

// fixed rounds to 22 bits below the point, halves away from 0.
func fixed(v float64) int32 {
	v = float64(v * (1 << 22))
	if v < 0 {
		return int32(v - 0.5)
	}
	return int32(v + 0.5)
}

// Resizer resizes images; its scratch serves one goroutine.
type Resizer struct{ rows Image }

// Resize makes dst the image of (h, w) that Pillow's Image.resize gives: with antialiasing,
// columns first, each pass rounded to bytes. dst must not share bytes with src.
func (r *Resizer) Resize(dst *Image, src Image, h, w int, f Filter) {
	r.Window(dst, src, h, w, 0, 0, h, w, f)
}

// Window makes dst the part of Resize's (h, w) that begins at (top, left) and has (oh, ow):
// the same bytes as those of the whole.
func (r *Resizer) Window(dst *Image, src Image, h, w, top, left, oh, ow int, f Filter) {
	if h == src.H && w == src.W {
		src.Crop(top, left, oh, ow).CopyTo(dst)
		return
	}
	if h == src.H {
		r.across(dst, src.Crop(top, 0, oh, src.W), w, left, ow, f)
		return
	}
	down := f.taps(src.H, h, top, top+oh)
	begin, _ := down.Of(0)
	last, weight := down.Of(oh - 1)
	band := src.Crop(begin, 0, last+len(weight)-begin, src.W)
	if w == src.W {
		band = band.Crop(0, left, band.H, ow)
	} else {
		r.across(&r.rows, band, w, left, ow, f)
		band = r.rows
	}
	dst.Fit(oh, ow)
	for y := range oh {
		first, weight := down.Of(y)
		kernel.ResampleColumns(dst.Row(y), band.Pix[(first-begin)*band.Stride:], band.Stride, weight)
	}
}

// across makes dst the columns from left on, ow of them, of src in w columns.
func (r *Resizer) across(dst *Image, src Image, w, left, ow int, f Filter) {
	taps := f.taps(src.W, w, left, left+ow)
	dst.Fit(src.H, ow)
	for y := range src.H {
		kernel.ResampleRow(dst.Row(y), src.Pix[y*src.Stride:], taps)
	}
}
