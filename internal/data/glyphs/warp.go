package glyphs

// warp is one random placement of a character: heavier or lighter strokes, then
// an affine map, then a smooth random displacement.
type warp struct {
	xx, xy, yx, yy int64 // the affine map's matrix
	shift          point
	weight         int64 // outward move of the outline, in frame units after scaling
	scale          int64
	field          [gridSide * gridSide]point // displacements on a grid over [-1.5, 1.5]
}

const gridSide = 6

// draw picks the warp. The words taken from r do not depend on the knobs.
func (w *warp) draw(r source, k *knobs) {
	sin, cos := sincos(spread(r, k.rotate))
	shear := spread(r, k.shear)
	scale := between(r, k.scaleMin, k.scaleMax)
	wide, high := mul(scale, one+spread(r, k.stretch)), mul(scale, one+spread(r, k.stretch))
	w.scale = scale
	// rotation * shear * scaling
	w.xx, w.xy = mul(cos, wide), mul(mul(cos, shear)-sin, high)
	w.yx, w.yy = mul(sin, wide), mul(mul(sin, shear)+cos, high)
	w.shift = point{spread(r, k.shift), spread(r, k.shift)}
	w.weight = spread(r, k.weight)
	for i := range w.field {
		w.field[i] = point{spread(r, k.elastic), spread(r, k.elastic)}
	}
}

// affine maps a point without the displacement.
func (w *warp) affine(p point) point {
	return point{mul(w.xx, p.x) + mul(w.xy, p.y) + w.shift.x, mul(w.yx, p.x) + mul(w.yy, p.y) + w.shift.y}
}

// bend moves p by the displacement field: the grid's values interpolated
// bilinearly with smoothed weights, as in value noise.
func (w *warp) bend(p point) point {
	gx, fx := cell(p.x)
	gy, fy := cell(p.y)
	g := w.field[gy*gridSide+gx:]
	a, b, c, d := g[0], g[1], g[gridSide], g[gridSide+1]
	mix := func(a, b, c, d int64) int64 {
		top := a + mul(b-a, fx)
		bottom := c + mul(d-c, fx)
		return top + mul(bottom-top, fy)
	}
	return point{p.x + mix(a.x, b.x, c.x, d.x), p.y + mix(a.y, b.y, c.y, d.y)}
}

// cell returns the grid cell of a coordinate and the smoothed place in it.
func cell(v int64) (int, int64) {
	const lo, span = -3 * one / 2, 3 * one
	u := min(max((v-lo)*(gridSide-1), 0), span*(gridSide-1)-1)
	i, f := u/span, u%span/3 // f in [0, one)
	return int(i), mul(mul(f, f), 3*one-2*f)
}

// apply writes the warped points of o to out, which it returns.
func (w *warp) apply(o *outline, out []point) []point {
	out = out[:0]
	weight := div(w.weight, w.scale) // in the outline's own unit
	begin := 0
	for _, e := range o.ends {
		c := o.points[begin:e]
		for i, p := range c {
			before, after := c[(i+len(c)-1)%len(c)], c[(i+1)%len(c)]
			d := point{after.x - before.x, after.y - before.y}
			if n := int64(isqrt(uint64(d.x*d.x + d.y*d.y))); n > 0 {
				p.x += weight * d.y / n
				p.y -= weight * d.x / n
			}
			out = append(out, w.bend(w.affine(p)))
		}
		begin = e
	}
	return out
}
