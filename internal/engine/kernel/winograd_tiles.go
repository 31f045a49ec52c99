package kernel

// winogradTiles is the grid of tiles over one side of a convolution: outputs
// (n, oh, ow) and the inputs (n, h, w) that they see.
type winogradTiles struct {
	m, alpha   int
	h, w       int
	oh, ow     int
	padH, padW int
	th, tw     int // tiles of one image
	count      int // tiles of all images
}

func (k *winogradKind) tiles(g *Conv, n, oh, ow int) winogradTiles {
	t := winogradTiles{m: k.m, alpha: k.alpha, h: g.H, w: g.W, oh: oh, ow: ow, padH: g.PadH, padW: g.PadW}
	t.th, t.tw = ceilDiv(oh, k.m), ceilDiv(ow, k.m)
	t.count = n * t.th * t.tw
	return t
}

// winogradSquare is a square of pixels at (y, x) of an image, of which rows [y0, y1) and
// columns [x0, x1), counted within the square, lie in the image.
type winogradSquare struct{ image, y, x, y0, y1, x0, x1 int }

func (w *winogradSquare) clip(size, h, width int) {
	w.y0, w.y1 = max(0, -w.y), min(size, h-w.y)
	w.x0, w.x1 = max(0, -w.x), min(size, width-w.x)
}

func (w *winogradSquare) whole(size int) bool {
	return w.y0 == 0 && w.x0 == 0 && w.y1 == size && w.x1 == size
}

// input and output return the squares of tile t.
func (t *winogradTiles) input(tile int) winogradSquare {
	tx, ty := tile%t.tw, tile/t.tw
	w := winogradSquare{image: ty / t.th, y: ty%t.th*t.m - t.padH, x: tx*t.m - t.padW}
	w.clip(t.alpha, t.h, t.w)
	return w
}

func (t *winogradTiles) output(tile int) winogradSquare {
	tx, ty := tile%t.tw, tile/t.tw
	w := winogradSquare{image: ty / t.th, y: ty % t.th * t.m, x: tx * t.m}
	w.clip(t.m, t.oh, t.ow)
	return w
}

// in returns a square of pixels of x and the distance of its rows: in place, or
// copied to patch with zeros for what is outside.
func (w *winogradSquare) in(patch []float32, size int, x []float32, h, width, c int) (src []float32, row int) {
	at := ((w.image*h+w.y)*width + w.x) * c
	if w.whole(size) {
		return x[at:], width * c
	}
	row = size * c
	for i := range size {
		to := patch[i*row:][:row]
		if i < w.y0 || i >= w.y1 {
			clear(to)
			continue
		}
		clear(to[:w.x0*c])
		copy(to[w.x0*c:w.x1*c], x[at+(i*width+w.x0)*c:])
		clear(to[w.x1*c:])
	}
	return patch, row
}

// winogradRuns is a number of channels cut into runs: a multiple of 16 each, the
// last one shorter.
type winogradRuns struct{ channels, size, count int }

func newWinogradRuns(channels int) winogradRuns {
	count := ceilDiv(channels, winogradRun)
	size := roundUp(ceilDiv(channels, count), 16)
	return winogradRuns{channels, size, ceilDiv(channels, size)}
}

// of returns the channels of run r.
func (w winogradRuns) of(r int) int { return min(w.size, w.channels-r*w.size) }

// transform writes the map of one square of pixels, src with rows row apart, as
// number t of every position of dst: [run][position][square][channel of the run].
func (w winogradRuns) transform(l Level, m *winogradMap, src []float32, row int, dst []float32, alpha, pos, t int) {
	for r := range w.count {
		to := dst[r*alpha*alpha*pos+t*w.size:]
		l.winogradMap(m, w.of(r), src[r*w.size:], row, w.channels, to, alpha*pos, pos)
	}
}
