package glyphs

import "tercet/internal/rng"

// character is a class: its outlines in the faces that have it, in face order.
type character struct {
	code     rune
	outlines []*outline
}

// brush holds what drawing one image needs; it is reused.
type brush struct {
	rng          rng.Stream
	raster       raster
	warp         warp
	points       []point
	cover, spare []int32
	kernel       [2][]int64
}

// draw paints image number instance of c into dst (size*size*channels bytes,
// HWC). The image depends on the seed, the character's code point, the number,
// the size and the knobs, and on nothing else: not on the split or on the other
// classes.
func (b *brush) draw(c *character, instance uint64, k *knobs, pieces []*outline, seed uint64, size, channels int, dst []byte) {
	b.rng.Reset(seed, "glyphs", uint64(c.code), instance)
	r := &b.rng
	if len(b.cover) != size*size {
		b.cover, b.spare = make([]int32, size*size), make([]int32, size*size)
	}
	clear(b.cover)

	o := c.outlines[pick(r, len(c.outlines))]
	b.warp.draw(r, k)
	b.points = b.warp.apply(o, b.points)
	b.raster.reset(size)
	b.raster.polygon(b.points, o.ends)
	b.raster.fill(b.cover, one)

	for range pick(r, k.clutter+1) {
		if pick(r, 2) == 0 {
			b.stroke(r, size)
		} else {
			b.piece(r, k, pieces, size)
		}
	}
	b.blur(between(r, 0, k.variance), size)
	if channels == 1 {
		b.gray(r, k, size, dst)
	} else {
		b.color(r, k, size, dst)
	}
}

// stroke paints a thin bent line somewhere in the frame.
func (b *brush) stroke(r source, size int) {
	at := func() point { return point{spread(r, one), spread(r, one)} }
	p, q, s := at(), at(), at()
	half := between(r, one/64, one/20)
	strength := between(r, one/3, one)
	const n = 8
	b.points = b.points[:0]
	line := func(t int64) point { // quadratic Bezier curve
		u, v, w := (n-t)*(n-t), 2*t*(n-t), t*t
		return point{(u*p.x + v*q.x + w*s.x) / (n * n), (u*p.y + v*q.y + w*s.y) / (n * n)}
	}
	side := func(t, sign int64) {
		a, c, m := line(max(t-1, 0)), line(min(t+1, n)), line(t)
		d := point{c.x - a.x, c.y - a.y}
		if l := int64(isqrt(uint64(d.x*d.x + d.y*d.y))); l > 0 {
			m.x += sign * half * d.y / l
			m.y -= sign * half * d.x / l
		}
		b.points = append(b.points, m)
	}
	for t := int64(0); t <= n; t++ {
		side(t, 1)
	}
	for t := int64(n); t >= 0; t-- {
		side(t, -1)
	}
	b.raster.reset(size)
	b.raster.polygon(b.points, []int{len(b.points)})
	b.raster.fill(b.cover, strength)
}

// piece paints another character so that its middle lies outside the frame and
// some of it shows at the border.
func (b *brush) piece(r source, k *knobs, pieces []*outline, size int) {
	o := pieces[pick(r, len(pieces))]
	b.warp.draw(r, k)
	along, away := spread(r, one), between(r, one+one/8, one+one/2)
	if pick(r, 2) == 0 {
		away = -away
	}
	b.warp.shift = point{along, away}
	if pick(r, 2) == 0 {
		b.warp.shift = point{away, along}
	}
	strength := between(r, one/3, one)
	b.points = b.warp.apply(o, b.points)
	b.raster.reset(size)
	b.raster.polygon(b.points, o.ends)
	b.raster.fill(b.cover, strength)
}
