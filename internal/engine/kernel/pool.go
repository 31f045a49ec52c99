package kernel

import "tercet/internal/par"

//go:generate go run -C _generate ./vector -family pool -out ../pool_amd64.s -go ../pool_stubs.go -pkg kernel

// Pool describes pooling of images (H, W, C) with KH x KW windows. Padding lies
// outside the image: it never wins a maximum and counts as zeros in a mean (as
// PyTorch's count_include_pad). Windows that do not fit are dropped (floor).
type Pool struct {
	H, W, C          int
	KH, KW           int
	StrideH, StrideW int
	PadH, PadW       int
}

// Out returns the output's height and width.
func (p *Pool) Out() (oh, ow int) {
	return (p.H+2*p.PadH-p.KH)/p.StrideH + 1, (p.W+2*p.PadW-p.KW)/p.StrideW + 1
}

// MaxForward sets y (n, OH, OW, C) to the windows' maxima of x (n, H, W, C) and
// arg (as y) to the winner's offset inside its image. Of equal values the first
// in row-major order wins; NaN wins over every number. Needs PadH < KH and
// PadW < KW, so that every window holds a pixel.
func (p *Pool) MaxForward(n int, x, y []float32, arg []int32) {
	p.rows(n, poolJob{x: x, y: y, arg: arg, run: (*poolJob).maxForward})
}

// MaxBackward sets dx (n, H, W, C): each dy goes to its window's winner, where
// mask > 0 (as dy; nil: everywhere). With the pooled output as the mask, dx is
// the gradient before a ReLU that came before the pooling, since the winner is
// the output.
func (p *Pool) MaxBackward(n int, dy, mask []float32, arg []int32, dx []float32) {
	p.back(n, poolJob{dy: dy, mask: mask, dx: dx, arg: arg, run: (*poolJob).maxBack})
}

// AvgForward sets y (n, OH, OW, C) to the windows' sums over KH*KW.
func (p *Pool) AvgForward(n int, x, y []float32) {
	p.rows(n, poolJob{x: x, y: y, run: (*poolJob).avgForward})
}

// AvgBackward sets dx (n, H, W, C): each dy is spread evenly over its window.
func (p *Pool) AvgBackward(n int, dy, dx []float32) {
	p.back(n, poolJob{dy: dy, dx: dx, run: (*poolJob).avgBack})
}

// poolJob runs over the output rows of all images, or over the images where
// windows overlap and gradients are added.
type poolJob struct {
	Pool
	level              Level
	oh, ow             int
	x, y, dy, mask, dx []float32
	arg                []int32
	won                []float32 // as y
	factors            *poolFactors
	relu, add          bool
	// run does a row of windows, whose pixels are [at, end) of all images and whose
	// outputs [to, till).
	run func(j *poolJob, w windows, at, end, to, till int)
	// rest, where set, does pixels [at, end) of dx, which are in no window.
	rest func(j *poolJob, at, end int)
}

var poolJobs par.Free[poolJob]

// windows is a row of windows inside an image: count of them, kh x kw pixels of
// c channels, row numbers from one pixel to the one below, next numbers from one
// window to the next. first is the first pixel's offset in the image.
type windows struct {
	count, c, kh, kw, row, next, first int
}

// from returns where, in a slice of all images, the windows' pixels begin and
// end; size is one image's.
func (w *windows) from(image, size int) (at, end int) {
	at = image*size + w.first
	return at, at + (w.count-1)*w.next + (w.kh-1)*w.row + w.kw*w.c
}

// at returns the longest row of equal windows that begins with output (i, k).
func (p *Pool) at(i, k, ow int) windows {
	r0, c0 := i*p.StrideH-p.PadH, k*p.StrideW-p.PadW
	r1, c1 := min(r0+p.KH, p.H), min(c0+p.KW, p.W)
	r0, c0 = max(r0, 0), max(c0, 0)
	w := windows{count: 1, c: p.C, kh: r1 - r0, kw: c1 - c0, row: p.W * p.C, next: p.StrideW * p.C, first: (r0*p.W + c0) * p.C}
	if w.kw == p.KW {
		w.count = min((p.W+p.PadW-p.KW)/p.StrideW+1, ow) - k
	}
	return w
}

func (p *Pool) begin(j poolJob) *poolJob {
	k := poolJobs.Get()
	*k = j
	k.Pool, k.level = *p, Current()
	if j.factors != nil { // arranged for their level
		k.level = j.factors.level
	}
	k.oh, k.ow = p.Out()
	return k
}

// rows runs j over all output rows, whose outputs are its own.
func (p *Pool) rows(n int, j poolJob) {
	k := p.begin(j)
	par.Do(n*k.oh, max(1, elems/max(p.StrideH*p.W*p.C, 1)), k)
	*k = poolJob{}
	poolJobs.Put(k)
}

// apart reports whether every pixel belongs to one window or none.
func (p *Pool) apart() bool {
	oh, ow := p.Out()
	return p.KH == p.StrideH && p.KW == p.StrideW && p.PadH == 0 && p.PadW == 0 && oh > 0 && ow > 0
}

// back runs j over output rows where every pixel belongs to one window or none,
// so that each row writes its own pixels, and else over images.
func (p *Pool) back(n int, j poolJob) {
	if p.apart() {
		j.rest = (*poolJob).clearRest
		p.rows(n, j)
		return
	}
	k := p.begin(j)
	k.add = true
	par.Do(n, 1, (*poolImages)(k))
	*k = poolJob{}
	poolJobs.Put(k)
}

// Run does output rows [lo, hi), counted over all images.
func (j *poolJob) Run(lo, hi int) {
	for r := lo; r < hi; r++ {
		j.row(r/j.oh, r%j.oh)
	}
}

// poolImages is poolJob as a par.Runner over images.
type poolImages poolJob

// Run does images [lo, hi).
func (j *poolImages) Run(lo, hi int) {
	size := j.H * j.W * j.C
	for b := lo; b < hi; b++ {
		clear(j.dx[b*size : (b+1)*size])
		for r := range j.oh {
			(*poolJob)(j).row(b, r)
		}
	}
}

func (j *poolJob) row(image, row int) {
	out := (image*j.oh + row) * j.ow * j.C
	for k := 0; k < j.ow; {
		w := j.at(row, k, j.ow)
		at, end := w.from(image, j.H*j.W*j.C)
		j.run(j, w, at, end, out+k*j.C, out+(k+w.count)*j.C)
		k += w.count
	}
	if j.rest == nil {
		return
	}
	// Beside all windows and, for the last row, below them.
	line := j.W * j.C
	top := (image*j.H + row*j.KH) * line
	if used := j.ow * j.KW * j.C; used < line {
		for r := range j.KH {
			j.rest(j, top+r*line+used, top+(r+1)*line)
		}
	}
	if row == j.oh-1 {
		j.rest(j, top+j.KH*line, (image+1)*j.H*line)
	}
}

func (j *poolJob) maxForward(w windows, at, end, to, till int) {
	j.level.maxWindows(w, j.x[at:end], j.y[to:till], j.arg[to:till])
}

func (j *poolJob) maxBack(w windows, at, end, to, till int) {
	j.level.maxWindowsBack(w, j.add, j.dy[to:till], optional(j.mask, to, till-to), j.arg[to:till], j.dx[at:end])
}

func (j *poolJob) avgForward(w windows, at, end, to, till int) {
	j.level.avgWindows(w, 1/float32(j.KH*j.KW), j.x[at:end], j.y[to:till])
}

func (j *poolJob) avgBack(w windows, at, end, to, till int) {
	j.level.avgWindowsBack(w, j.add, 1/float32(j.KH*j.KW), j.dy[to:till], j.dx[at:end])
}

func (j *poolJob) clearRest(at, end int) { clear(j.dx[at:end]) }
