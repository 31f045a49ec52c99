package kernel

import "tercet/internal/par"

// convJob is a forward convolution in progress: a product of the patch matrix
// (n*oh*ow, KH*KW*C), of which each task makes the block that it multiplies,
// and the packed weight matrix. It is the par.Runner of the blocks.
type convJob struct {
	g            Conv
	level        Level
	oh, ow, rows int
	block        int // outputs of one task
	x, bias, y   []float32
	pack         weightPack
}

var convJobs par.Free[convJob]

// Forward computes y from x, w and bias (OutC numbers, or nil for none).
//
// Padding is multiplied like any zero: a NaN or an infinity in w reaches the
// outputs at the border too.
func (g Conv) Forward(n int, x, w, bias, y []float32) {
	oh, ow := g.check(n, len(x), len(w), len(y))
	g.checkBias(bias)
	if n == 0 {
		return
	}
	j := convJobs.Get()
	j.forward(g, Current(), n, oh, ow, x, w, bias, y)
	j.release()
}

func (j *convJob) forward(g Conv, l Level, n, oh, ow int, x, w, bias, y []float32) {
	j.g, j.level, j.oh, j.ow, j.rows = g, l, oh, ow, n*oh*ow
	j.x, j.bias, j.y = x, bias, y
	j.pack.do(l, g.patch(), g.OutC, view{w, g.OutC, 1})
	j.block = min(blockM, max(28, roundUp(ceilDiv(j.rows, manyTasks()), 14)))
	par.Do(j.rows, j.block, j)
}

func (j *convJob) release() {
	j.x, j.bias, j.y = nil, nil, nil
	convJobs.Put(j)
}

// Run computes outputs [lo, hi).
func (j *convJob) Run(lo, hi int) {
	g := &j.g
	s := gemmScratches.Get()
	grow(&s.edge, edgeSize)
	y := j.y[lo*g.OutC : hi*g.OutC]
	beta := float32(0)
	if j.bias != nil {
		for at := 0; at < len(y); at += g.OutC {
			copy(y[at:], j.bias)
		}
		beta = 1
	}
	step := kRun(g.patch())
	for p := 0; p < g.patch(); p += step {
		k := min(step, g.patch()-p)
		var a view
		if g.pointwise() {
			a = view{j.x[lo*g.C+p:], g.C, 1}
		} else {
			ld := oddLines(k)
			grow(&s.a, (hi-lo)*ld)
			g.gather(s.a, ld, j.x, j.oh, j.ow, lo, hi, p, p+k)
			a = view{s.a, ld, 1}
		}
		j.level.multiply(hi-lo, g.OutC, k, 1, a, j.pack.run(p), beta, y, g.OutC, s.edge)
		beta = 1
	}
	gemmScratches.Put(s)
}

// weightPack packs all of a right-hand matrix (k, n), run of k by run of k, for
// many blocks of rows to share.
type weightPack struct {
	level  Level
	k, n   int
	b      view
	data   []float32
	stride int // columns when packed
}

func (w *weightPack) do(l Level, k, n int, b view) {
	s := l.shape()
	w.level, w.k, w.n, w.b = l, k, n, b
	w.stride = s.packedCols(n)
	grow(&w.data, k*w.stride)
	par.Do(ceilDiv(n, s.wide), max(1, 16384/(s.wide*k)), w)
	w.b = view{}
}

// Run packs panels [lo, hi) of every run of k.
func (w *weightPack) Run(lo, hi int) {
	step := kRun(w.k)
	for p := 0; p < w.k; p += step {
		w.level.pack(w.data[p*w.stride:], min(step, w.k-p), w.n, w.b.from(p, 0), lo, hi)
	}
}

// run returns the panels of the run of k that begins at p.
func (w *weightPack) run(p int) panels { return panels{data: w.data[p*w.stride:]} }
