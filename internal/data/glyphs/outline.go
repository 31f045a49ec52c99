package glyphs

import (
	"fmt"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// point is a place in the frame: x to the right, y down, (0, 0) in the middle,
// 1.0 half a frame.
type point struct{ x, y int64 }

// outline is a glyph as closed polygons: contour i is points[ends[i-1]:ends[i]].
// The middle of its bounding box is (0, 0) and the longer side of the box is 2.0
// (from -1 to 1). Filled by the non-zero rule.
type outline struct {
	points []point
	ends   []int
}

const (
	curveSteps = 6       // lines per quadratic curve
	longest    = one / 4 // longer lines are split, so that the warp can bend them
)

// outline is load, once for each character of a face. Nobody changes an outline.
func (f *face) outline(buf *sfnt.Buffer, r rune) (*outline, error) {
	if o, ok := f.loaded.Load(r); ok {
		return o.(*outline), nil
	}
	o, err := load(f, buf, r)
	if err == nil {
		f.loaded.Store(r, o)
	}
	return o, err
}

// load returns the outline of r in f, or nil if the face lacks the character
// or draws nothing for it.
func load(f *face, buf *sfnt.Buffer, r rune) (*outline, error) {
	g, err := f.font.GlyphIndex(buf, r)
	if err != nil {
		return nil, fmt.Errorf("glyphs: %s: character %U: %w", f.name, r, err)
	}
	if g == 0 { // .notdef
		return nil, nil
	}
	// At this size one unit of the result is one unit of the font's grid: sfnt
	// neither scales nor rounds.
	segments, err := f.font.LoadGlyph(buf, g, fixed.Int26_6(f.font.UnitsPerEm()), &sfnt.LoadGlyphOptions{})
	if err != nil {
		return nil, fmt.Errorf("glyphs: %s: outline of %U: %w", f.name, r, err)
	}
	o := flatten(segments)
	if !o.normalize() {
		return nil, nil
	}
	o.split()
	o.orient()
	return o, nil
}

// flatten turns curves into lines, in 1/64 of a font unit.
func flatten(segments sfnt.Segments) *outline {
	o := new(outline)
	begin := 0
	add := func(p point) {
		if n := len(o.points); n == begin || o.points[n-1] != p {
			o.points = append(o.points, p)
		}
	}
	end := func() {
		if n := len(o.points); n > begin && o.points[n-1] == o.points[begin] {
			o.points = o.points[:n-1]
		}
		if len(o.points)-begin < 3 { // no area
			o.points = o.points[:begin]
			return
		}
		begin = len(o.points)
		o.ends = append(o.ends, begin)
	}
	at := func(p fixed.Point26_6) point { return point{int64(p.X) * 64, int64(p.Y) * 64} }
	var pen point
	for _, s := range segments {
		a, b, c := at(s.Args[0]), at(s.Args[1]), at(s.Args[2])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			end()
			pen = a
			add(pen)
		case sfnt.SegmentOpLineTo:
			pen = a
			add(pen)
		case sfnt.SegmentOpQuadTo:
			const n = curveSteps
			for k := int64(1); k <= n; k++ {
				u, v, w := (n-k)*(n-k), 2*k*(n-k), k*k
				add(point{(u*pen.x + v*a.x + w*b.x) / (n * n), (u*pen.y + v*a.y + w*b.y) / (n * n)})
			}
			pen = b
		case sfnt.SegmentOpCubeTo: // no TrueType face has these
			const n = curveSteps
			for k := int64(1); k <= n; k++ {
				m := n - k
				u, v, w, x := m*m*m, 3*m*m*k, 3*m*k*k, k*k*k
				add(point{(u*pen.x + v*a.x + w*b.x + x*c.x) / (n * n * n), (u*pen.y + v*a.y + w*b.y + x*c.y) / (n * n * n)})
			}
			pen = c
		}
	}
	end()
	return o
}

// normalize moves and scales the outline into [-1, 1]. It reports false for an
// outline without extent.
func (o *outline) normalize() bool {
	if len(o.points) == 0 {
		return false
	}
	lo, hi := o.points[0], o.points[0]
	for _, p := range o.points {
		lo.x, lo.y = min(lo.x, p.x), min(lo.y, p.y)
		hi.x, hi.y = max(hi.x, p.x), max(hi.y, p.y)
	}
	side := max(hi.x-lo.x, hi.y-lo.y)
	if side == 0 {
		return false
	}
	for i, p := range o.points {
		o.points[i] = point{div(2*p.x-lo.x-hi.x, side), div(2*p.y-lo.y-hi.y, side)}
	}
	return true
}

// split inserts points so that no line is longer than longest in x or in y.
func (o *outline) split() {
	var points []point
	var ends []int
	begin := 0
	for _, e := range o.ends {
		for i := begin; i < e; i++ {
			p, q := o.points[i], o.points[begin+(i+1-begin)%(e-begin)]
			n := (max(abs(q.x-p.x), abs(q.y-p.y)) + longest - 1) / longest
			for k := int64(0); k < max(n, 1); k++ {
				points = append(points, point{p.x + (q.x-p.x)*k/max(n, 1), p.y + (q.y-p.y)*k/max(n, 1)})
			}
		}
		begin = e
		ends = append(ends, len(points))
	}
	o.points, o.ends = points, ends
}

// orient reverses all contours if the signed area is negative, so that the left
// of a line, seen along it with y down, is always outside: a stroke can then be
// made heavier by moving points to that side.
func (o *outline) orient() {
	area := int64(0)
	begin := 0
	for _, e := range o.ends {
		for i := begin; i < e; i++ {
			p, q := o.points[i], o.points[begin+(i+1-begin)%(e-begin)]
			area += (p.x*q.y - q.x*p.y) >> 16
		}
		begin = e
	}
	if area >= 0 {
		return
	}
	begin = 0
	for _, e := range o.ends {
		for i, j := begin, e-1; i < j; i, j = i+1, j-1 {
			o.points[i], o.points[j] = o.points[j], o.points[i]
		}
		begin = e
	}
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
