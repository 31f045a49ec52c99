package kernel

import (
	"math"
	"unsafe"
)

// winogradTiles is the grid of tiles over one side of a convolution: outputs
// (n, oh, ow) and the inputs (n, h, w) that they see.
type winogradTiles struct {
	m, padH, padW int
	th, tw        int // tiles of one image
	count         int // tiles of all images
	input, output winogradImages
}

func (k *winogradKind) tiles(g *Conv, n, oh, ow int) winogradTiles {
	t := winogradTiles{
		m: k.m, padH: g.PadH, padW: g.PadW,
		input:  winogradImages{h: g.H, w: g.W, c: g.C, size: k.alpha},
		output: winogradImages{h: oh, w: ow, c: g.OutC, size: k.m},
	}
	t.th, t.tw = ceilDiv(oh, k.m), ceilDiv(ow, k.m)
	t.count = n * t.th * t.tw
	t.input.whole.fill(k.alpha, g.W*g.C, g.C)
	t.output.whole.fill(k.m, ow*g.OutC, g.OutC)
	return t
}

// winogradTile is one tile's place in the grid.
type winogradTile struct{ image, ty, tx int }

func (t *winogradTiles) tile(number int) winogradTile {
	row := number / t.tw
	return winogradTile{row / t.th, row % t.th, number % t.tw}
}

// next moves p to the next tile.
func (t *winogradTiles) next(p *winogradTile) {
	if p.tx++; p.tx < t.tw {
		return
	}
	p.tx = 0
	if p.ty++; p.ty == t.th {
		p.ty = 0
		p.image++
	}
}

// winogradTable holds the distances, in numbers, of the pixels of a square from
// some number, row by row.
type winogradTable [64]int

// fill makes the table of a square of pixels that are col, and rows row, apart.
func (t *winogradTable) fill(size, row, col int) {
	for i := range size {
		for j := range size {
			t[i*size+j] = i*row + j*col
		}
	}
}

// winogradOutside stands in the tables of level Generic for pixels outside of
// the image. The assembly finds there the distance of zeros, or of numbers that
// are written and not used: see Level.outside.
const winogradOutside = math.MinInt

// outside returns what stands in tables of distances from the beginning of x for
// pixels outside of the image, which are found at substitute.
func (l Level) outside(x, substitute []float32) int {
	if l == Generic {
		return winogradOutside
	}
	return (int(uintptr(unsafe.Pointer(&substitute[0]))) - int(uintptr(unsafe.Pointer(&x[0])))) / 4
}

// winogradImages are the sizes of images, and of the squares cut from them.
type winogradImages struct {
	h, w, c, size int
	whole         winogradTable // of a square that lies in the image
}

// below returns the distance of the square so many rows below. When the squares of one row
// are read, those of the next are fetched: the one to the right would come too late.
func (m *winogradImages) below(rows int) int { return rows * m.w * m.c }

// square returns the index of some number and the distances from there of the
// pixels of a square with its upper left corner at (y, x). border is used where
// the square is not whole.
func (m *winogradImages) square(image, y, x, outside int, border *winogradTable) (int, *winogradTable) {
	if y >= 0 && x >= 0 && y+m.size <= m.h && x+m.size <= m.w {
		return ((image*m.h+y)*m.w + x) * m.c, &m.whole
	}
	at := 0
	for i := y; i < y+m.size; i++ {
		row := (image*m.h + i) * m.w
		for j := x; j < x+m.size; j++ {
			if i >= 0 && i < m.h && j >= 0 && j < m.w {
				border[at] = (row + j) * m.c
			} else {
				border[at] = outside
			}
			at++
		}
	}
	return 0, border
}

func (t *winogradTiles) inputSquare(p winogradTile, outside int, border *winogradTable) (int, *winogradTable) {
	return t.input.square(p.image, p.ty*t.m-t.padH, p.tx*t.m-t.padW, outside, border)
}

func (t *winogradTiles) outputSquare(p winogradTile, outside int, border *winogradTable) (int, *winogradTable) {
	return t.output.square(p.image, p.ty*t.m, p.tx*t.m, outside, border)
}

// winogradRuns is a number of channels cut into runs: a multiple of 16 each, the
// last one shorter.
type winogradRuns struct{ channels, size, count int }

func newWinogradRuns(channels int) winogradRuns {
	count := ceilDiv(channels, winogradRun)
	if channels <= 2*winogradRun {
		count = 1
	}
	size := roundUp(ceilDiv(channels, count), 16)
	return winogradRuns{channels, size, ceilDiv(channels, size)}
}

// of returns the channels of run r.
func (w winogradRuns) of(r int) int { return min(w.size, w.channels-r*w.size) }
