package tsne

import (
	"math"
	"math/bits"

	"tercet/internal/par"
)

// leafSize is the number of points up to which a cell is not divided.
const leafSize = 16

// gridBits is the number of bits of each coordinate that order the points.
const gridBits = 16

// point is a place on the map, or a vector there.
type point struct{ x, y float64 }

// cell is a square of the quadtree with its points, or a part of one: empty borders
// are left out.
type cell struct {
	x, y          float64 // center of mass
	n             float64 // number of points
	xx, xy, yy    float64 // second moments: sums over the points about the center
	radius        float64 // no point is farther from the center
	lo, hi        int32   // points, in the tree's order
	child, childs int32   // first child and their number, 0 of a leaf
}

// tree is a quadtree of points.
type tree struct {
	y     []point // (n) in the order of the Z curve
	order []int32 // (n) the rows of these points
	cells []cell  // parents before children, children in succession

	code, codeNext []uint32
	orderNext      []int32
	centering      leaves
}

func newTree(n int) *tree {
	t := &tree{y: make([]point, n), order: make([]int32, n), orderNext: make([]int32, n), code: make([]uint32, n), codeNext: make([]uint32, n)}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	t.centering.t = t
	return t
}

// build makes the tree of the rows y.
func (t *tree) build(y []point) {
	t.sort(y)
	for k, row := range t.order {
		t.y[k] = y[row]
	}
	t.divide()
	par.Do(len(t.cells), 256, &t.centering)
	for c := len(t.cells) - 1; c >= 0; c-- {
		if p := &t.cells[c]; p.childs > 0 {
			p.join(t.cells[p.child : p.child+p.childs])
		}
	}
}

// sort orders rows by the Z curve through a grid on the square around y; rows of one
// square of the grid keep the order that they had.
func (t *tree) sort(y []point) {
	low := point{math.Inf(1), math.Inf(1)}
	high := point{math.Inf(-1), math.Inf(-1)}
	for _, p := range y {
		low = point{min(low.x, p.x), min(low.y, p.y)}
		high = point{max(high.x, p.x), max(high.y, p.y)}
	}
	scale := 0.0
	if width := max(high.x-low.x, high.y-low.y); width > 0 {
		scale = (1<<gridBits - 1) / width
	}
	for k, row := range t.order {
		p := y[row]
		t.code[k] = spread(uint32((p.x-low.x)*scale)) | spread(uint32((p.y-low.y)*scale))<<1
	}
	const digit = 11
	var count [3][1 << digit]int32
	for _, c := range t.code {
		count[0][c&(1<<digit-1)]++
		count[1][c>>digit&(1<<digit-1)]++
		count[2][c>>(2*digit)]++
	}
	for pass := range count {
		next := &count[pass]
		sum := int32(0)
		for v, c := range next {
			next[v] = sum
			sum += c
		}
		shift := pass * digit
		for k, c := range t.code {
			v := c >> shift & (1<<digit - 1)
			t.codeNext[next[v]], t.orderNext[next[v]] = c, t.order[k]
			next[v]++
		}
		t.code, t.codeNext = t.codeNext, t.code
		t.order, t.orderNext = t.orderNext, t.order
	}
}

// spread puts a zero before each of 16 bits.
func spread(v uint32) uint32 {
	v = (v | v<<8) & 0x00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f
	v = (v | v<<2) & 0x33333333
	return (v | v<<1) & 0x55555555
}

// divide makes the cells from the codes.
func (t *tree) divide() {
	t.cells = append(t.cells[:0], cell{lo: 0, hi: int32(len(t.y))})
	for c := 0; c < len(t.cells); c++ {
		lo, hi := t.cells[c].lo, t.cells[c].hi
		differ := t.code[lo] ^ t.code[hi-1]
		if hi-lo <= leafSize || differ == 0 {
			continue
		}
		// The two bits of the first square in which points are in different parts.
		shift := (bits.Len32(differ) - 1) &^ 1
		first := int32(len(t.cells))
		for lo < hi {
			end := t.end(lo, hi, shift)
			t.cells = append(t.cells, cell{lo: lo, hi: end})
			lo = end
		}
		t.cells[c].child, t.cells[c].childs = first, int32(len(t.cells))-first
	}
}

// end returns where the codes that agree with that of lo from bit shift on end.
func (t *tree) end(lo, hi int32, shift int) int32 {
	want := t.code[lo] >> shift
	for lo < hi {
		if m := int32(uint32(lo+hi) / 2); t.code[m]>>shift == want {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return hi
}

// leaves measures leaves.
type leaves struct{ t *tree }

// Run does cells [lo, hi).
func (l *leaves) Run(lo, hi int) {
	for c := lo; c < hi; c++ {
		p := &l.t.cells[c]
		if p.childs > 0 {
			continue
		}
		points := l.t.y[p.lo:p.hi]
		x, y := 0.0, 0.0
		for _, q := range points {
			x += q.x
			y += q.y
		}
		p.n = float64(len(points))
		p.x, p.y = x/p.n, y/p.n
		far := 0.0
		for _, q := range points {
			dx, dy := q.x-p.x, q.y-p.y
			p.xx += float64(dx * dx)
			p.xy += float64(dx * dy)
			p.yy += float64(dy * dy)
			far = max(far, float64(dx*dx)+float64(dy*dy))
		}
		p.radius = math.Sqrt(far)
	}
}

// join measures a cell by its children.
func (p *cell) join(children []cell) {
	for i := range children {
		c := &children[i]
		p.n += c.n
		p.x += float64(c.n * c.x)
		p.y += float64(c.n * c.y)
	}
	p.x /= p.n
	p.y /= p.n
	for i := range children {
		c := &children[i]
		dx, dy := c.x-p.x, c.y-p.y
		p.xx += c.xx + float64(c.n*dx*dx)
		p.xy += c.xy + float64(c.n*dx*dy)
		p.yy += c.yy + float64(c.n*dy*dy)
		p.radius = max(p.radius, math.Sqrt(float64(dx*dx)+float64(dy*dy))+c.radius)
	}
}
