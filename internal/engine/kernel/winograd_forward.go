package kernel

import "tercet/internal/par"

// winogradJob is a forward convolution in progress, or an input gradient, which
// is one with turned weights. Its memory:
//
//	V, the transformed inputs:   [run of channels][position][tile][channel of the run]
//	U, the transformed weights:  [panel of outputs][position][channel][output of the panel]
//	M, the products:             [position][tile][output of the panel]
//
// The distance between positions is an odd number of cache lines, since each
// transform writes one vector to every position.
//
// With few channels, U is made once and each task takes a block of tiles: V and
// M of a block stay in the second cache. With many, U would be larger than what
// it is multiplied by: V of many tiles is made first, and each task then makes U
// for one panel of outputs and one run of channels after the other, and M stays
// in the second cache.
type winogradJob struct {
	g      Conv // of the convolution that is computed
	level  Level
	kind   *winogradKind
	grid   winogradTiles
	x, w   []float32
	turned bool // w is that of the layer whose input gradient this is
	bias   []float32
	zeros  []float32 // a pixel of padding
	floor  float32
	y      []float32

	run, runs    int // channels of one run (a multiple of 16, or all), runs
	wide, panels int
	few          bool      // channels: U is shared, V each task's own
	u, own       []float32 // U, where it is shared, and the job's memory for it
	v            []float32
	upos, vpos   int // distances of positions
	tiles        int // few: of one task; else: of one row block
	first, last  int // tiles in V, where it is shared
}

// winogradScratch belongs to one task while it runs.
type winogradScratch struct {
	v, u, m      []float32
	turned, dump []float32
	border       winogradTable
	room         winogradRoom
}

var (
	winogradJobs      par.Free[winogradJob]
	winogradScratches par.Free[winogradScratch]
)

const (
	// winogradBlock is the memory for V and M of one task, in numbers: 512 KiB.
	winogradBlock = 512 << 8
	// winogradShared is the memory for a shared V, in numbers: 4 MiB.
	winogradShared = 4 << 18
	// winogradRun is the number of channels of a run where there are many.
	winogradRun = 64
)

// winogradForward computes y = conv(x, w) + bias, then max(y, 0) where relu.
// bias holds OutC numbers or is nil, kept may be nil.
func (g Conv) winogradForward(alg Algorithm, n int, x, w []float32, kept *keptWeights, bias []float32, relu bool, y []float32) {
	oh, ow := g.check(n, len(x), len(w), len(y))
	g.checkBias(bias)
	g.winograd(alg, n, oh, ow, x, w, false, kept, bias, relu, y)
}

// winogradInput overwrites dx with the gradient with respect to the input: the
// convolution of dy by the weights turned by half a circle and transposed.
func (g Conv) winogradInput(alg Algorithm, n int, dy, w []float32, kept *keptWeights, dx []float32) {
	oh, ow := g.check(n, len(dx), len(w), len(dy))
	back := Conv{
		H: oh, W: ow, C: g.OutC, OutC: g.C, KH: g.KH, KW: g.KW, StrideH: 1, StrideW: 1,
		PadH: g.KH - 1 - g.PadH, PadW: g.KW - 1 - g.PadW,
	}
	back.winograd(alg, n, g.H, g.W, dy, w, true, kept, nil, false, dx)
}

func (g Conv) winograd(alg Algorithm, n, oh, ow int, x, w []float32, turned bool, kept *keptWeights, bias []float32, relu bool, y []float32) {
	if n == 0 {
		return
	}
	j := winogradJobs.Get()
	j.g, j.level, j.kind = g, Current(), g.winogradKindOf(alg)
	j.grid = j.kind.tiles(&g, n, oh, ow)
	j.x, j.w, j.turned, j.floor, j.y = x, w, turned, floorOf(relu), y
	grow(&j.bias, roundUp(g.OutC, 32))
	clear(j.bias)
	copy(j.bias, bias)
	grow(&j.zeros, g.C)
	clear(j.zeros)
	j.split()
	if j.few {
		j.sharedWeights(kept)
		par.Do(j.grid.count, j.tiles, j)
		j.u = nil
	} else {
		j.shared()
	}
	j.x, j.w, j.y = nil, nil, nil
	winogradJobs.Put(j)
}

func (k *winogradKind) positions() int { return k.alpha * k.alpha }

// split chooses the runs by the numbers of channels alone, since they decide the
// order of sums, and the blocks of tiles.
func (j *winogradJob) split() {
	s := j.level.shape()
	g, positions := &j.g, j.kind.positions()
	j.wide, j.panels = s.wide, ceilDiv(g.OutC, s.wide)
	channels := roundUp(g.C, 16)
	j.run, j.runs = channels, 1
	block := winogradBlock / (positions * (channels + s.wide))
	if block < 28 {
		block = min(28, block*3/2)
	}
	if j.few = block >= 14; j.few {
		block = min(block, ceilDiv(j.grid.count, manyTasks()))
	} else {
		j.run = winogradRun
		j.runs = ceilDiv(g.C, j.run)
		block = winogradBlock * 15 / 16 / (positions * s.wide)
	}
	j.tiles = max(1, block/s.rows) * s.rows
	j.upos = oddLines(j.run * s.wide)
}

// sharedWeights sets U of few channels, which kept may have.
func (j *winogradJob) sharedWeights(kept *keptWeights) {
	u := &j.own
	if kept != nil {
		if u = &kept.u; kept.made {
			j.u = *u
			return
		}
		kept.made = true
	}
	grow(u, j.panels*j.kind.positions()*j.upos)
	j.u = *u
	par.Do(j.panels*ceilDiv(j.g.C, winogradRun), 1, (*winogradWeightsJob)(j))
}

// winogradWeightsJob makes U of few channels.
type winogradWeightsJob winogradJob

// Run does tasks [lo, hi), each winogradRun channels of one panel.
func (u *winogradWeightsJob) Run(lo, hi int) {
	j := (*winogradJob)(u)
	s := winogradScratches.Get()
	parts := ceilDiv(j.g.C, winogradRun)
	for t := lo; t < hi; t++ {
		panel, c := t/parts, t%parts*winogradRun
		_, width := j.columns(panel)
		dst := j.u[panel*j.kind.positions()*j.upos+c*width:]
		j.transformWeights(dst, panel, c, min(c+winogradRun, j.g.C), s)
	}
	winogradScratches.Put(s)
}

// columns returns the number of outputs in a panel, and its width with padding.
func (j *winogradJob) columns(panel int) (cols, width int) {
	s := j.level.shape()
	cols = min(s.wide, j.g.OutC-panel*s.wide)
	if cols <= s.narrow {
		return cols, s.narrow
	}
	return cols, s.wide
}

// transformWeights writes U of channels [c0, c1) of a panel to dst.
func (j *winogradJob) transformWeights(dst []float32, panel, c0, c1 int, s *winogradScratch) {
	g, r := &j.g, j.kind.r
	cols, width := j.columns(panel)
	o0 := panel * j.wide
	src, ld, pos := j.w[c0*g.OutC+o0:], g.OutC, g.C*g.OutC
	if j.turned {
		// The layer's weights are (r, r, OutC, C) in terms of g.
		ld, pos = width, (c1-c0)*width
		grow(&s.turned, r*r*pos)
		src = s.turned
		for t := range r * r {
			j.level.transpose(cols, c1-c0, j.w[(t*g.OutC+o0)*g.C+c0:], g.C, src[(r*r-1-t)*pos:], width)
		}
	}
	s.border.fill(r, r*pos, pos)
	for c := range c1 - c0 {
		j.level.winogradMap(j.kind.weights, cols, src[c*ld:], &s.border, dst[c*width:], j.kind.alpha*j.upos, j.upos, 8*ld, &s.room)
	}
}

// Run computes the outputs of tiles [lo, hi), of few channels.
func (j *winogradJob) Run(lo, hi int) {
	s := winogradScratches.Get()
	positions := j.kind.positions()
	vpos := oddLines((hi - lo) * j.run)
	grow(&s.v, positions*vpos)
	j.transformInput(s.v, vpos, lo, lo, hi, s)
	for panel := range j.panels {
		u := j.u[panel*positions*j.upos:]
		mpos := j.multiply(s, hi-lo, panel, j.g.C, s.v, vpos, u, 0)
		j.finish(s, mpos, panel, lo, hi)
	}
	winogradScratches.Put(s)
}

// transformInput writes V of tiles [lo, hi) to v, where tile first is at 0.
func (j *winogradJob) transformInput(v []float32, vpos, first, lo, hi int, s *winogradScratch) {
	g, alpha, ahead := &j.g, j.kind.alpha, j.grid.input.below(j.kind.m)
	outside := j.level.outside(j.x, j.zeros)
	place := j.grid.tile(lo)
	for t := lo; t < hi; t++ {
		base, at := j.grid.inputSquare(place, outside, &s.border)
		j.grid.next(&place)
		for r := range j.runs {
			c := r * j.run
			dst := v[r*alpha*alpha*vpos+(t-first)*j.run:]
			j.level.winogradMap(j.kind.input, min(j.run, g.C-c), j.x[base+c:], at, dst, alpha*vpos, vpos, ahead, &s.room)
		}
	}
}

// multiply sets or, with beta 1, adds to M the products of k channels of V, for
// rows tiles, and U of a panel. It returns the distance of positions in M.
func (j *winogradJob) multiply(s *winogradScratch, rows, panel, k int, v []float32, vpos int, u []float32, beta float32) (mpos int) {
	_, width := j.columns(panel)
	mpos = oddLines(rows * width)
	grow(&s.m, j.kind.positions()*mpos)
	t := tileArgs{k: k, outer: 1, rsa: j.run, csa: 1, rsb: width, ldc: width, alpha: 1, beta: beta}
	for p := range j.kind.positions() {
		j.level.winogradMultiply(&t, rows, width, v[p*vpos:], u[p*j.upos:], s.m[p*mpos:])
	}
	return mpos
}

// winogradMultiply computes the tiles of one position: rows x cols numbers of c,
// as t says.
func (l Level) winogradMultiply(t *tileArgs, rows, cols int, a, b, c []float32) {
	wide := l.shape().wide
	for j := 0; j < cols; j += wide {
		t.cols = min(wide, cols-j)
		l.tileColumn(t, rows, a, b[j:], c[j:])
	}
}

// finish transforms M back and writes the outputs of tiles [lo, hi).
func (j *winogradJob) finish(s *winogradScratch, mpos, panel, lo, hi int) {
	g, alpha := &j.g, j.kind.alpha
	cols, width := j.columns(panel)
	o0 := panel * j.wide
	grow(&s.dump, 32)
	outside, ahead := j.level.outside(j.y[o0:], s.dump), j.kind.m*g.OutC
	place := j.grid.tile(lo)
	for t := lo; t < hi; t++ {
		base, at := j.grid.outputSquare(place, outside, &s.border)
		j.grid.next(&place)
		j.level.winogradFinish(j.kind.output, cols, s.m[(t-lo)*width:], alpha*mpos, mpos, j.y[base+o0:], at, ahead, j.bias[o0:], j.floor, &s.room)
	}
}
