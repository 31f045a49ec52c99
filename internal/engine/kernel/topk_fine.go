package kernel

import (
	"fmt"
	"math"
	"unsafe"

	"tercet/internal/par"
)

// FineRows holds rows of d numbers rounded to 16 bits times a scale of each row, in two
// bytes, and what that rounding lost: tiles of bytes multiply them faster than vectors
// multiply float32, to about four digits.
type FineRows struct {
	n, d, steps int    // a step is 64 numbers
	data        []int8 // (rows, 2, 64*steps): the upper bytes, then the lower ones; 0 after the last row and number
	scale       []float32
	length      []float32 // ||x||, rounded up like the next three
	lost        []float32 // ||x - rounded x||
	size        []float32 // ||rounded x||
	lower       []float32 // the length of the part in the lower bytes
	x           []float32 // the rows while they are rounded
}

const (
	fineStep = 64
	// finePad is the rows that products read, of which there may be fewer.
	finePad = 256
	// mostFine is the largest number that the two bytes hold.
	mostFine = 127*256 + 127
)

// HasFineDots reports whether products of fine rows are faster than those of float32.
func HasFineDots() bool { return Current().avx512() && hasTilesBytes }

// Round takes the n rows of x, d numbers each, d at most MaxByteDim, finite and with squares
// within float32, on all threads. It uses memory of an earlier call again.
func (r *FineRows) Round(n, d int, x []float32) {
	if n < 0 || d < 1 || d > MaxByteDim || len(x) != n*d {
		panic(fmt.Sprintf("kernel: fine rows (%d, %d): got %d numbers", n, d, len(x)))
	}
	r.n, r.d, r.steps, r.x = n, d, ceilDiv(d, fineStep), x
	if size := (n + finePad) * r.width(); cap(r.data) < size {
		r.data = make([]int8, size)
	} else {
		r.data = r.data[:size]
		clear(r.data[n*r.width():])
	}
	for _, v := range []*[]float32{&r.scale, &r.length, &r.lost, &r.size, &r.lower} {
		grow(v, n+finePad)
		clear((*v)[n:])
	}
	par.Do(n, max(1, 16384/d), r)
	r.x = nil
}

// width is the bytes of a row.
func (r *FineRows) width() int { return 2 * fineStep * r.steps }

// Run rounds rows [lo, hi); it is called by Round.
func (r *FineRows) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.round(i, r.x[i*r.d:(i+1)*r.d], r.data[i*r.width():(i+1)*r.width()])
	}
}

func (r *FineRows) round(i int, x []float32, out []int8) {
	upper, lower := out[:len(out)/2], out[len(out)/2:]
	clear(upper[len(x):])
	clear(lower[len(x):])
	scale := MaxAbs(x) / mostFine
	if scale < leastByteScale {
		clear(out)
		length := float32(up10 * math.Sqrt(SumSquares(x)))
		r.scale[i], r.size[i], r.lower[i], r.length[i], r.lost[i] = 0, 0, 0, length, length
		return
	}
	inverse := 1 / scale
	var all, low int64 // sums of squares of the bytes
	for p, v := range x {
		// The sum with 1.5*2^23 has the whole number in its lowest bits.
		q := int32(math.Float32bits(float32(v*inverse)+0x1.8p23)) << 10 >> 10
		h := (q + 128) >> 8
		l := q - h<<8
		upper[p], lower[p] = int8(h), int8(l)
		all += int64(q) * int64(q)
		low += int64(l) * int64(l)
	}
	root := math.Sqrt(float64(len(x)))
	r.scale[i] = scale
	r.size[i] = float32(up10 * float64(scale) * math.Sqrt(float64(all)))
	r.lower[i] = float32(up10 * float64(scale) * math.Sqrt(float64(low)))
	// Half a unit, and what the product with inverse is off.
	r.lost[i] = float32(up10 * float64(scale) * (.5 + 0x1p-7) * root)
	r.length[i] = r.size[i] + r.lost[i]
}

// up10 has room for the rounding of what follows it.
const up10 = 1 + 0x1p-10

// Stretch multiplies row i by by[i] >= 0.
func (r *FineRows) Stretch(by []float32) {
	if len(by) != r.n {
		panic(fmt.Sprintf("kernel: stretching %d fine rows by %d numbers", r.n, len(by)))
	}
	for i, v := range by {
		times := func(x float32) float32 { return float32((1 + 0x1p-20) * float64(x) * float64(v)) }
		r.size[i], r.lower[i] = times(r.size[i]), times(r.lower[i])
		r.lost[i] = times(r.lost[i]) + float32(0x1p-20*r.size[i]) // the scale is rounded too
		r.length[i] = times(r.length[i])
		r.scale[i] *= v
	}
}

// FineColumns are rows of FineRows as the tiles read them: panels of 32 rows, of which each
// has its lower bytes, then its upper ones.
type FineColumns struct {
	rows   *FineRows
	lo, hi int // the rows packed
	data   []uint32
	spare  par.Free[fineScratch]
}

type fineScratch struct{ upper, middle []int32 }

// Pack copies rows [lo, hi), on all threads. It uses memory of an earlier call again.
func (c *FineColumns) Pack(rows *FineRows, lo, hi int) {
	c.rows, c.lo, c.hi = rows, lo, hi
	cols := roundUp(hi-lo, packGroup)
	if n := cols * rows.width() / 4; cap(c.data) < n {
		c.data = make([]uint32, n)
	} else {
		c.data = c.data[:n]
	}
	par.Do(cols/PanelRows, 1, c)
}

// Run packs panels [lo, hi); it is called by Pack.
func (c *FineColumns) Run(lo, hi int) {
	words := c.rows.width() / 4
	for j := lo * PanelRows; j < hi*PanelRows; j++ {
		out := c.data[j/PanelRows*PanelRows*words+j%PanelRows:]
		row := c.rows.data[(c.lo+j)*4*words:][:4*words]
		for p := range words {
			from := 4 * ((p + words/2) % words) // lower bytes first
			out[p*PanelRows] = *(*uint32)(unsafe.Pointer(&row[from : from+4][0]))
		}
	}
}

// Nearness is what the product of row i and column j, or a bound of its part, must be at
// least for their pair to be near: Need[j] - Reach[i], or OtherNeed[j] - OtherReach[i].
type Nearness struct {
	Reach, Need, OtherReach, OtherNeed []float32
}

// NearPairs are pairs of a row and a column, in the order of rows and then of columns, with
// about their product.
type NearPairs struct {
	Row, Col []int32
	Dot      []float32
}

// Near finds the near pairs of row first+i of rows, i < m, with packed row lo+j, below hi,
// both multiples of 64, m at most 256. Reaches are of the m rows, needs of the columns, +Inf
// for those after the last; columns are numbered from 0. It runs on the calling goroutine
// alone. A product is within Error of the exact one.
func (c *FineColumns) Near(rows *FineRows, first, m, lo, hi int, near *Nearness, out *NearPairs) {
	cols := hi - lo
	if m < 1 || m > finePad || first < 0 || first+m > rows.n || lo < 0 || cols < 1 || hi > roundUp(c.hi-c.lo, packGroup) || lo%packGroup != 0 || cols%packGroup != 0 ||
		rows.steps != c.rows.steps {
		panic(fmt.Sprintf("kernel: near pairs of rows %d to %d with %d to %d", first, first+m, lo, hi))
	}
	w := c.spare.Get()
	strips := ceilDiv(m, PanelRows)
	size := strips * PanelRows * cols
	for _, v := range []*[]int32{&w.upper, &w.middle} {
		if cap(*v) < size {
			*v = make([]int32, size)
		}
		*v = (*v)[:size]
	}
	width := rows.width()
	a, b := rows.data[first*width:][:strips*PanelRows*width], c.data[lo*width/4:hi*width/4]
	t := tilesArgs{steps: 2 * rows.steps, strips: strips, panels: cols / PanelRows,
		a: (*byte)(unsafe.Pointer(&a[0])), rsa: width, nexta: fineStep, stripa: PanelRows * width,
		b: (*byte)(unsafe.Pointer(&b[0])), panelb: PanelRows * width, ldc: 4 * cols}
	t.c = (*byte)(unsafe.Pointer(&w.middle[0]))
	multiplyBytes(&t) // upper by lower and lower by upper
	t.steps = rows.steps
	t.b = (*byte)(unsafe.Pointer(&b[PanelRows*width/8]))
	t.c = (*byte)(unsafe.Pointer(&w.upper[0]))
	multiplyBytes(&t)

	most := m*cols + 16
	if cap(out.Row) < most {
		out.Row, out.Col, out.Dot = make([]int32, most), make([]int32, most), make([]float32, most)
	}
	out.Row, out.Col, out.Dot = out.Row[:most], out.Col[:most], out.Dot[:most]
	p := nearArgs{rows: m, cols: cols, upper: &w.upper[0], middle: &w.middle[0],
		rowScale: &rows.scale[first : first+m][0], colScale: &c.rows.scale[c.lo+lo : c.lo+hi][0],
		reach: &near.Reach[:m][0], need: &near.Need[:cols][0], otherReach: &near.OtherReach[:m][0], otherNeed: &near.OtherNeed[:cols][0],
		row: &out.Row[0], col: &out.Col[0], dot: &out.Dot[0]}
	n := 0
	if assembly && HasFineDots() {
		n = nearPairsAVX512(&p)
	} else {
		n = nearPairsGeneric(&p)
	}
	out.Row, out.Col, out.Dot = out.Row[:n], out.Col[:n], out.Dot[:n]
	c.spare.Put(w)
}

// nearArgs are the arguments of Near's second part.
type nearArgs struct {
	rows, cols                         int // cols is a multiple of 64
	upper, middle                      *int32
	rowScale, colScale                 *float32
	reach, need, otherReach, otherNeed *float32
	row, col                           *int32
	dot                                *float32
}

func nearPairsGeneric(p *nearArgs) int {
	upper, middle := unsafe.Slice(p.upper, p.rows*p.cols), unsafe.Slice(p.middle, p.rows*p.cols)
	slice := func(x *float32, n int) []float32 { return unsafe.Slice(x, n) }
	rowScale, colScale := slice(p.rowScale, p.rows), slice(p.colScale, p.cols)
	reach, need := slice(p.reach, p.rows), slice(p.need, p.cols)
	otherReach, otherNeed := slice(p.otherReach, p.rows), slice(p.otherNeed, p.cols)
	row, col := unsafe.Slice(p.row, p.rows*p.cols), unsafe.Slice(p.col, p.rows*p.cols)
	dot := slice(p.dot, p.rows*p.cols)
	n := 0
	for i := range p.rows {
		scale := float32(rowScale[i] * 256)
		for j := range p.cols {
			at := i*p.cols + j
			sum := float32(float32(upper[at])*256) + float32(middle[at])
			x := sum * float32(colScale[j]*scale)
			if x >= need[j]-reach[i] || x >= otherNeed[j]-otherReach[i] {
				row[n], col[n], dot[n] = int32(i), int32(j), x
				n++
			}
		}
	}
	return n
}

// Error bounds how far the products of Near are from the exact ones, for the same rows. By
// the inequality of Cauchy and Schwarz, x.y is within ||x||*||y-y'|| + ||x-x'||*||y'|| of
// the product of the rounded rows x' and y', which lack the product of the lower bytes.
func (c *FineColumns) Error(rows *FineRows, first, m, lo, hi int) float64 {
	most := func(v []float32) float64 { return float64(MaxAbs(v)) }
	i, end := first, first+m
	j, stop := c.lo+lo, min(c.lo+hi, c.hi)
	own, size := most(rows.size[i:end]), most(c.rows.size[j:stop])
	bound := float64(most(rows.length[i:end])*most(c.rows.lost[j:stop])) + float64(most(rows.lost[i:end])*size)
	bound += float64(most(rows.lower[i:end])*most(c.rows.lower[j:stop])) + float64(0x1p-20*own*size)
	return float64((1+0x1p-18)*bound) + 0x1p-110
}

// nearPairsAVX512 is nearPairsGeneric, but that a number is scaled by one product and the
// sum of its parts rounded once.
//
//go:noescape
func nearPairsAVX512(p *nearArgs) int
