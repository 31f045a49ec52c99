package data

import "tercet/internal/rng"

// Amplitudes of a distortion of strength 1. A length is a fraction of the
// image's side.
const (
	warpTurn    = 0.26795 // tangent of half the largest angle: 30 degrees
	warpShear   = 0.3     // horizontal move per height
	warpStretch = 0.25    // relative change of width and of height
	warpShift   = 0.1
	warpBend    = 0.07 // displacement, of the shorter side
)

// warpGrid is the number of nodes per side of the displacement field: five, so
// that on 28 pixels a cell is about as wide as the Gaussian of Simard et al.
const warpGrid = 5

// warp is one distortion: it tells where in the source each pixel of the result
// is looked up.
//
// Products are converted before they are added: no compiler may fuse the two,
// so that a seed gives the same pixels on every machine. For the same reason
// there are no angles and no library functions.
type warp struct {
	xx, xy, yx, yy float32                        // matrix, about the image's middle
	x, y           float32                        // shift in pixels
	bend           [warpGrid][warpGrid][2]float32 // displacement (x, y) in pixels at the nodes
}

// draw picks the warp of an image of h x w pixels. The numbers taken from r do
// not depend on the strength.
func (m *warp) draw(strength float64, h, w int, r *rng.Stream) {
	spread := func(a float64) float64 { return float64(strength * a * (2*float64(r.Float64()) - 1)) }
	t := spread(warpTurn) // the rotation by 2 atan(t)
	d := 1 + float64(t*t)
	cos, sin := (1-float64(t*t))/d, 2*t/d
	shear := spread(warpShear)
	wide, high := 1+spread(warpStretch), 1+spread(warpStretch)
	// rotation * shear * scaling
	m.xx, m.xy = float32(cos*wide), float32((float64(cos*shear)-sin)*high)
	m.yx, m.yy = float32(sin*wide), float32((float64(sin*shear)+cos)*high)
	m.x, m.y = float32(spread(warpShift*float64(w))), float32(spread(warpShift*float64(h)))
	a := warpBend * float64(min(h, w))
	for i := range m.bend {
		for j := range m.bend[i] {
			m.bend[i][j] = [2]float32{float32(spread(a)), float32(spread(a))}
		}
	}
}

// apply writes the warped src to dst, both (h, w, c) with h and w at least 2.
// Between the nodes the displacement is interpolated bilinearly with smoothed
// weights, as in value noise.
func (m *warp) apply(dst, src []float32, h, w, c int) {
	midX, midY := float32(float32(w-1)/2), float32(float32(h-1)/2)
	stepX, stepY := float32(warpGrid-1)/float32(w-1), float32(warpGrid-1)/float32(h-1)
	right, bottom := float32(w-1), float32(h-1)
	line := w * c
	for y := range h {
		var bend [warpGrid][2]float32 // along this row
		g, f := warpCell(float32(float32(y) * stepY))
		for j := range bend {
			a, b := m.bend[g][j], m.bend[g+1][j]
			bend[j] = [2]float32{a[0] + float32(f*(b[0]-a[0])), a[1] + float32(f*(b[1]-a[1]))}
		}
		dy := float32(y) - midY
		rowX, rowY := midX+m.x+float32(m.xy*dy), midY+m.y+float32(m.yy*dy)
		out := dst[y*line : (y+1)*line]
		for x := range w {
			g, f := warpCell(float32(float32(x) * stepX))
			a, b := bend[g], bend[g+1]
			dx := float32(x) - midX
			sx := rowX + float32(m.xx*dx) + a[0] + float32(f*(b[0]-a[0]))
			sy := rowY + float32(m.yx*dx) + a[1] + float32(f*(b[1]-a[1]))
			x0, fx := pixelAt(sx, right, w-2)
			y0, fy := pixelAt(sy, bottom, h-2)
			upper := src[y0*line+x0*c:][: 2*c : 2*c]
			lower := src[(y0+1)*line+x0*c:][: 2*c : 2*c]
			for k := range c {
				u := upper[k] + float32(fx*(upper[c+k]-upper[k]))
				l := lower[k] + float32(fx*(lower[c+k]-lower[k]))
				out[x*c+k] = u + float32(fy*(l-u))
			}
		}
	}
}

// warpCell returns the cell of the grid that place v, 0 to warpGrid-1, lies in
// and the smoothed place within it.
func warpCell(v float32) (int, float32) {
	g := min(int(v), warpGrid-2)
	f := v - float32(g)
	return g, float32(f*f) * (3 - 2*f)
}

// pixelAt clamps v to [0, end] and returns the pixel to its left, at most last,
// and the distance to it.
func pixelAt(v, end float32, last int) (int, float32) {
	if v < 0 {
		v = 0
	}
	if v > end {
		v = end
	}
	i := min(int(v), last)
	return i, v - float32(i)
}
