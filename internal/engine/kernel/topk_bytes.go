package kernel

import (
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"

	"tercet/internal/par"
)

const (
	// MaxByteDim is the largest number of columns whose byte products fit 32 bits.
	MaxByteDim = 1 << 15
	// leastByteScale is the scale below which a row counts as zero.
	leastByteScale = 0x1p-120
	byteTileRows   = 14
)

// ByteRows holds rows of d numbers rounded to signed bytes times a scale of each
// row, and what that rounding lost, so that products of bytes, of which some
// processors form four in the time of one of float32, bound those of the rows.
type ByteRows struct {
	n, d, words int
	data        []uint32  // (n, words): four bytes a word, the first lowest
	start       []int32   // -128 times the sum of the row's bytes
	scale       []float32 // of the row
	length      []float32 // ||x||, rounded up like the next two
	lost        []float32 // ||x - rounded x||
	size        []float32 // ||rounded x||
	x           []float32 // the rows while they are rounded
}

// HasByteDots reports whether products of bytes are faster than those of float32
// at the current level.
func HasByteDots() bool { return Current().avx512() && cpu.X86.HasAVX512VNNI }

// Quantize rounds the n rows of x, d numbers each, d at most MaxByteDim, finite
// and with squares within float32, on all threads.
func (r *ByteRows) Quantize(n, d int, x []float32) {
	if n < 0 || d < 1 || d > MaxByteDim || len(x) != n*d {
		panic(fmt.Sprintf("kernel: bytes of (%d, %d): got %d numbers", n, d, len(x)))
	}
	r.n, r.d, r.words, r.x = n, d, ceilDiv(d, 4), x
	// Tiles read whole steps of whole strips: what follows meets zeros.
	if size := (n+PanelRows)*r.words + fineStep/4; cap(r.data) < size {
		r.data = make([]uint32, size)
	} else {
		r.data = r.data[:size]
	}
	if cap(r.start) < n {
		r.start = make([]int32, n)
	}
	r.start = r.start[:n]
	for _, v := range []*[]float32{&r.scale, &r.length, &r.lost, &r.size} {
		if cap(*v) < n {
			*v = make([]float32, n)
		}
		*v = (*v)[:n]
	}
	par.Do(n, max(1, 16384/d), r)
	r.x = nil
}

// Run rounds rows [lo, hi); it is called by Quantize.
func (r *ByteRows) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.round(i, r.x[i*r.d:(i+1)*r.d], r.data[i*r.words:(i+1)*r.words])
	}
}

func (r *ByteRows) round(i int, x []float32, words []uint32) {
	scale := MaxAbs(x) / 127
	inverse := 1 / scale
	if scale < leastByteScale {
		scale, inverse = 0, 0
	}
	clear(words)
	// In units of scale: sums of the bytes, of their squares, of the squares of
	// what rounding lost and of the numbers.
	var sums [4]float64
	var lanes [64]float32
	n := 0 // numbers in whole blocks of 16, where they have been rounded
	if assembly && Current().avx512() && len(x) >= 16 {
		n = len(x) &^ 15
		_ = words[n/4-1]
		quantizeAVX512(n/16, &x[0], inverse, &words[0], &lanes[0])
	}
	for l, v := range lanes {
		sums[l/16] += float64(v)
	}
	for p := n; p < len(x); p++ {
		t := x[p] * inverse
		q := math.RoundToEven(float64(t))
		words[p/4] |= uint32(uint8(int8(q))) << (p % 4 * 8)
		e := float64(t) - q
		sums[0], sums[1] = sums[0]+q, sums[1]+float64(q*q)
		sums[2], sums[3] = sums[2]+float64(e*e), sums[3]+float64(float64(t)*float64(t))
	}
	// Room for float32 sums and for the rounding of t, at most 127.
	const up = 1 + 0x1p-10
	r.start[i], r.scale[i] = int32(-128*sums[0]), scale
	r.size[i] = float32(up * float64(scale) * math.Sqrt(sums[1]))
	r.lost[i] = float32(up * float64(scale) * (math.Sqrt(sums[2]) + float64(0x1p-15*math.Sqrt(float64(len(x))))))
	r.length[i] = float32(up * float64(scale) * math.Sqrt(sums[3]))
	if scale == 0 {
		length := float32(up * math.Sqrt(SumSquares(x)))
		r.lost[i], r.length[i] = length, length
	}
}

// ByteColumns are rows of ByteRows as products read them: in panels of PanelRows rows, each
// (words, PanelRows), the bytes raised by 128; for Intel's tiles as they are, with zeros up to
// whole steps.
type ByteColumns struct {
	rows   *ByteRows
	lo, hi int // the rows packed
	tiles  bool
	words  int // of a row of data
	data   []uint32
	scale  []float32
	adds   par.Free[byteScratch]
}

type byteScratch struct {
	add, scale []float32
	sums       []int32
}

// Pack copies rows [lo, hi), on all threads. It uses memory of an earlier call
// again.
func (c *ByteColumns) Pack(rows *ByteRows, lo, hi int) {
	c.rows, c.lo, c.hi = rows, lo, hi
	c.tiles, c.words = HasByteDots() && hasTilesBytes, rows.words
	if c.tiles {
		c.words = roundUp(rows.words, fineStep/4)
	}
	cols := roundUp(hi-lo, packGroup)
	if n := cols * c.words; cap(c.data) < n {
		c.data = make([]uint32, n)
	}
	if cap(c.scale) < cols {
		c.scale = make([]float32, cols)
	}
	c.data, c.scale = c.data[:cols*c.words], c.scale[:cols]
	par.Do(cols/PanelRows, 1, c)
}

// Run packs panels [lo, hi); it is called by Pack.
func (c *ByteColumns) Run(lo, hi int) {
	w, raise := c.words, uint32(0x80808080)
	if c.tiles {
		raise = 0
	}
	for j := lo * PanelRows; j < hi*PanelRows; j++ {
		out := c.data[j/PanelRows*PanelRows*w+j%PanelRows:]
		var row []uint32
		c.scale[j] = 0
		if c.lo+j < c.hi {
			row = c.rows.data[(c.lo+j)*c.rows.words:][:c.rows.words]
			c.scale[j] = c.rows.scale[c.lo+j]
		}
		for p, v := range row {
			out[p*PanelRows] = v ^ raise
		}
		for p := len(row); p < w; p++ {
			out[p*PanelRows] = raise
		}
	}
}

// Bounds sets out[i*ld+j-lo] to a bound of alpha times the exact product of row
// first+i of rows, i < m, with packed row j, lo <= j < hi, both multiples of
// PanelRows: not below it where alpha is positive, not above it where alpha is
// negative; beyond the last packed row it is a bound of 0. Where widths is not
// nil, bounds of row first+i are no further than widths[i] from alpha times the
// products. It runs on the calling goroutine alone.
//
// By the inequality of Cauchy and Schwarz, x.y is within
// ||x||*||y-y'|| + ||x-x'||*||y'|| of the product of the rounded rows x' and y'.
func (c *ByteColumns) Bounds(alpha float32, rows *ByteRows, first, m, lo, hi int, out []float32, ld int, widths []float32) {
	if m < 1 || first < 0 || first+m > rows.n || lo < 0 || lo >= hi || hi > len(c.scale) || lo%PanelRows != 0 || hi%PanelRows != 0 || ld < hi-lo {
		panic(fmt.Sprintf("kernel: byte products of rows %d to %d with %d to %d, stride %d", first, first+m, lo, hi, ld))
	}
	var lost, size float64
	for j := c.lo + lo; j < min(c.lo+hi, c.hi); j++ {
		lost, size = max(lost, float64(c.rows.lost[j])), max(size, float64(c.rows.size[j]))
	}
	w := c.adds.Get()
	w.add, w.scale = w.add[:0], w.scale[:0]
	for i := first; i < first+m; i++ {
		own := float64(rows.size[i])
		bound := float64(float64(rows.length[i])*lost) + float64(float64(rows.lost[i])*size) + float64(0x1p-20*own*size)
		add := alpha * float32(float64((1+0x1p-18)*bound)+0x1p-110)
		if widths != nil {
			widths[i-first] = 2 * max(add, -add)
		}
		w.add, w.scale = append(w.add, add), append(w.scale, alpha*rows.scale[i])
	}
	_ = out[(m-1)*ld+hi-lo-1]
	if c.tiles {
		c.inTiles(rows, first, m, lo, hi, out, ld, w)
		c.adds.Put(w)
		return
	}
	strips := ceilDiv(m, byteTileRows)
	for j := lo; j < hi; j += PanelRows {
		b := c.data[j*rows.words:]
		for u := range strips {
			i, end := u*m/strips, (u+1)*m/strips
			byteTile(end-i, rows.words, rows.data[(first+i)*rows.words:], b, rows.start[first+i:], w.scale[i:], w.add[i:], c.scale[j:], out[i*ld+j-lo:], ld)
		}
	}
	c.adds.Put(w)
}

// inTiles fills in the bounds of Bounds by Intel's tiles: the sums are exact, and the rest is
// as elsewhere.
func (c *ByteColumns) inTiles(rows *ByteRows, first, m, lo, hi int, out []float32, ld int, w *byteScratch) {
	strips, cols, width := ceilDiv(m, PanelRows), hi-lo, 4*rows.words
	if size := strips * PanelRows * cols; cap(w.sums) < size {
		w.sums = make([]int32, size)
	}
	w.sums = w.sums[:strips*PanelRows*cols]
	a, b := rows.data[first*rows.words:], c.data[lo*c.words:hi*c.words]
	_ = a[strips*PanelRows*rows.words-rows.words+c.words-1]
	t := tilesArgs{steps: c.words / (fineStep / 4), strips: strips, panels: cols / PanelRows,
		a: (*byte)(unsafe.Pointer(&a[0])), rsa: width, nexta: fineStep, stripa: PanelRows * width,
		b: (*byte)(unsafe.Pointer(&b[0])), panelb: PanelRows * 4 * c.words,
		c: (*byte)(unsafe.Pointer(&w.sums[0])), ldc: 4 * cols}
	multiplyBytes(&t)
	if !assembly {
		return // never: hasTilesBytes is false
	}
	scaleBytesAVX512(m, cols/PanelRows, &w.sums[0], &w.scale[0], &w.add[0], &c.scale[lo:hi][0], &out[0], ld)
}

func byteTile(rows, k int, a, b []uint32, start []int32, scale, add, by, out []float32, ld int) {
	if !assembly || !HasByteDots() {
		byteTileGeneric(rows, k, a, b, start, scale, add, by, out, ld)
		return
	}
	_, _ = a[rows*k-1], b[k*PanelRows-1]
	_, _, _, _ = start[rows-1], scale[rows-1], add[rows-1], by[PanelRows-1]
	_ = out[(rows-1)*ld+PanelRows-1]
	byteTileVNNI(rows, k, &a[0], k, &b[0], &start[0], &scale[0], &add[0], &by[0], &out[0], ld)
}

func byteTileGeneric(rows, k int, a, b []uint32, start []int32, scale, add, by, out []float32, ld int) {
	for i := range rows {
		for j := range PanelRows {
			s := start[i]
			for p := range k {
				x, y := a[i*k+p], b[p*PanelRows+j]
				for c := 0; c < 32; c += 8 {
					s += int32(int8(x>>c)) * int32(uint8(y>>c))
				}
			}
			out[i*ld+j] = float32(float32(s)*(by[j]*scale[i])) + add[i]
		}
	}
}

// Dot32 returns the inner product of a and b, of equal length, in interleaved
// float32 sums, of as many as the level likes; its error is at most
// DotError(len(a))*||a||*||b||, plus what underflows.
func Dot32(a, b []float32) float32 {
	b = b[:len(a)]
	n := len(a) &^ 31
	var s float32
	if l := Current(); assembly && l != Generic && n > 0 {
		s = product32Asm(l, n/32, &a[0], &b[0])
	} else {
		s = dot32Generic(a[:n], b[:n])
	}
	for i := n; i < len(a); i++ {
		s += float32(a[i] * b[i])
	}
	return s
}

func dot32Generic(a, b []float32) float32 {
	var s [8]float32
	for i := 0; i < len(a); i += 8 {
		x, y := (*[8]float32)(a[i:]), (*[8]float32)(b[i:])
		for l := range s {
			s[l] += float32(x[l] * y[l])
		}
	}
	return (s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7]))
}
