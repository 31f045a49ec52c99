package kernel

import "tercet/internal/par"

// Forward computes y from x, w and bias (OutC numbers, or nil for none).
//
// A NaN or an infinity in x reaches the outputs that see it; one in w those that
// see an input through it. Outputs that see only padding through it may or may
// not become NaN, as the kernel multiplies some of the padding and skips the rest.
func (g Conv) Forward(n int, x, w, bias, y []float32) { g.forward(n, x, w, bias, false, y) }

func (g Conv) forward(n int, x, w, bias []float32, relu bool, y []float32) {
	oh, ow := g.check(n, len(x), len(w), len(y))
	g.checkBias(bias)
	if n == 0 {
		return
	}
	if g.pointwise() {
		GemmBias(false, false, n*oh*ow, g.OutC, g.C, x, g.C, w, g.OutC, bias, relu, y, g.OutC)
		return
	}
	j := forwardJobs.Get()
	j.level, j.k, j.n, j.w = Current(), g.patch(), g.OutC, w
	s := j.level.shape()
	grow(&j.packed, j.k*s.packedCols(g.OutC))
	par.Do(ceilDiv(g.OutC, s.wide), max(1, 16384/(s.wide*j.k)), j)
	c := correlateJobs.Get()
	c.level, c.n, c.h, c.w, c.c, c.sh, c.sw = j.level, n, g.H, g.W, g.C, g.StrideH, g.StrideW
	c.o, c.imageOut = g.OutC, oh*ow*g.OutC
	c.parts = append(c.parts[:0], correlation{
		kh: g.KH, kw: g.KW, top: -g.PadH, left: -g.PadW, oh: oh, ow: ow,
		rowStep: ow * g.OutC, step: g.OutC, weights: j.packed,
	})
	c.x, c.bias, c.relu, c.y = x, bias, relu, y
	c.run()
	c.release()
	j.w = nil
	forwardJobs.Put(j)
}

func (j *correlateJob) release() {
	j.x, j.bias, j.y = nil, nil, nil
	clear(j.parts)
	correlateJobs.Put(j)
}

// forwardJob holds the packed weights of a convolution; it is the par.Runner of
// their panels.
type forwardJob struct {
	level  Level
	k, n   int
	w      []float32
	packed []float32
}

var forwardJobs par.Free[forwardJob]

// Run packs panels [lo, hi).
func (j *forwardJob) Run(lo, hi int) {
	j.level.pack(j.packed, j.k, j.n, view{j.w, j.n, 1}, lo, hi)
}
