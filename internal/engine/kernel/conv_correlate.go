package kernel

import "tercet/internal/par"

// correlation is what a convolution and its input gradient both are: sums over
// kh x kw taps and the c channels of an image x,
//
//	y[oy, ox, :] = sum of x[oy*sh+top+ky, ox*sw+left+kx, c] * w[ky, kx, c, :]
//
// in which positions outside the image count nothing. The outputs of an image
// begin at index at of y, rows of them are rowStep apart, their pixels step.
// weights are packed panels of all kh*kw*c rows.
type correlation struct {
	kh, kw, top, left int
	oh, ow            int
	at, rowStep, step int
	weights           []float32
}

// correlateJob computes one or more correlations of the same images, all with
// the same strides, to the same channels of y. It is the par.Runner of its
// tasks: blocks of outputs times runs of panels.
//
// A tile sums over the channels and columns of a kernel row and over the kernel
// rows in registers. Its rows are either the pixels of an output row, of images
// whose rows are filled up with zeros left and right (conv_pixels.go), or the
// same pixel of several images (conv_images.go). The bits are the same.
type correlateJob struct {
	level    Level
	n        int // images
	h, w, c  int // of x
	sh, sw   int
	o        int // channels of y
	imageOut int // from one image to the next in y
	parts    []correlation
	x, y     []float32
	bias     []float32
	relu     bool

	images      bool // rows of a tile are images
	strips      int  // blocks of images
	pieces      int  // of a strip, for interleaving
	mixed       []float32
	bands       int // blocks of rows of an image
	bandRows    int
	before, all int // pixels of a padded row: left of the image, in all
	across      int // blocks of panels
	panels      int // panels of one block
}

// convScratch belongs to one task while it runs.
type convScratch struct{ a, b []float32 }

var (
	correlateJobs par.Free[correlateJob]
	convScratches par.Free[convScratch]
)

// stepsAtOnce bounds the rows of a panel of weights that are multiplied before
// the next tile: they stay in the second cache (256 KiB). It decides the order
// of the sum, so it depends on nothing but the kernel.
const stepsAtOnce = 2048

// imagesLimit bounds the images that are interleaved at once, in numbers.
const imagesLimit = 1 << 20

// passRows returns the number of kernel rows that are summed in one pass.
func (j *correlateJob) passRows(p *correlation) int { return max(1, stepsAtOnce/max(1, p.kw*j.c)) }

// run computes all outputs.
func (j *correlateJob) run() {
	s := j.level.shape()
	panels := ceilDiv(j.o, s.wide)
	j.images = j.worthImages(s)
	blocks := 0
	if j.images {
		j.splitImages(s.rows, panels)
		blocks = j.strips
	} else {
		j.splitRows()
		blocks = j.n * j.bands
		j.across = max(1, min(panels, manyTasks()/blocks))
	}
	j.panels = ceilDiv(panels, j.across)
	j.across = ceilDiv(panels, j.panels)
	par.Do(blocks*j.across, 1, j)
}

// worthImages reports whether tiles of images pay: they multiply no padding and
// are fuller than rows of few pixels, but each input is moved first.
func (j *correlateJob) worthImages(s tileShape) bool {
	taps, widest := 0, 0
	for i := range j.parts {
		p := &j.parts[i]
		widest = max(widest, p.ow)
		taps += p.oh * p.ow * p.kh * p.kw
	}
	return j.n >= min(widest, s.rows/2) && widest <= 2*14 &&
		j.c >= 8 && j.h*j.w*j.c*s.rows <= imagesLimit && taps*j.o >= 256*j.h*j.w
}

// Run does tasks [lo, hi).
func (j *correlateJob) Run(lo, hi int) {
	s := convScratches.Get()
	for t := lo; t < hi; t++ {
		block, first := t/j.across, t%j.across*j.panels
		if j.images {
			j.imageStrip(s, block, first)
		} else {
			j.pixelBand(s, block/j.bands, block%j.bands, first)
		}
	}
	convScratches.Put(s)
}

// window cuts taps [0, k) to those that lie in an image of size n when tap 0 is
// at position at.
func window(at, k, n int) (from, to int) {
	from, to = max(0, -at), min(k, n-at)
	return from, max(from, to)
}

// blank writes the value of an output without taps, cols columns from column
// col on.
func (j *correlateJob) blank(y []float32, col, cols int) {
	if j.bias == nil {
		clear(y[:cols])
		return
	}
	for i, v := range j.bias[col : col+cols] {
		if j.relu && v <= 0 {
			v = 0
		}
		y[i] = v
	}
}

// blanks writes rows [o0, o1) of an image's outputs of a part without taps, in
// the panels [first, last), and reports whether p is one.
func (j *correlateJob) blanks(p *correlation, o0, o1, first, last int, y []float32) bool {
	if p.kh*p.kw > 0 {
		return false
	}
	wide := j.level.shape().wide
	col := first * wide
	cols := min(last*wide, j.o) - col
	for oy := o0; oy < o1; oy++ {
		for ox := range p.ow {
			j.blank(y[p.at+oy*p.rowStep+ox*p.step+col:], col, cols)
		}
	}
	return true
}

// panel returns the arguments that all tiles of a panel of p share, its column,
// and its weights.
func (j *correlateJob) panel(p *correlation, i int) (t tileArgs, col int, weights []float32) {
	s := j.level.shape()
	col = i * s.wide
	t.cols = min(s.wide, j.o-col)
	t.alpha = 1
	t.rsb = s.wide
	if t.cols <= s.narrow {
		t.rsb = s.narrow
	}
	t.nextb = p.kw * j.c * t.rsb
	return t, col, p.weights[col*p.kh*p.kw*j.c:]
}

// ends sets what is done to the sums of kernel rows [from, to) of p, of which
// [k0, k1) lie in the image: the first of them overwrite y, the last get bias
// and ReLU.
func (j *correlateJob) ends(t *tileArgs, col, from, to, k0, k1 int) {
	t.beta = 1
	if from <= k0 {
		t.beta = 0
	}
	t.bias, t.relu = nil, false
	if k1 <= to {
		t.relu = j.relu
		if j.bias != nil {
			t.bias = &j.bias[col]
		}
	}
}
