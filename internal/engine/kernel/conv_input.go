package kernel

import "tercet/internal/par"

// BackwardInput overwrites dx with the gradient with respect to the input.
//
// It is a correlation of dy with the weights turned by half a circle, one for
// each remainder (phase) of the input's row and column by the strides: each
// takes those taps that meet it, and writes every StrideH-th row and StrideW-th
// pixel of dx. A pointwise convolution is a plain product; few input channels
// have a way of their own (conv_few.go).
func (g Conv) BackwardInput(n int, dy, w, dx []float32) {
	oh, ow := g.check(n, len(dx), len(w), len(dy))
	if n == 0 {
		return
	}
	if g.pointwise() {
		GemmBias(false, true, n*oh*ow, g.C, g.OutC, dy, g.OutC, w, g.OutC, nil, false, dx, g.C)
		return
	}
	l := Current()
	if g.fewChannels(l) {
		g.inputFew(l, n, oh, ow, dy, w, dx)
		return
	}
	j := turnJobs.Get()
	j.g, j.level, j.w = g, l, w
	j.split()
	par.Do(j.total, max(1, 16384/(g.C*g.OutC)), j)
	c := correlateJobs.Get()
	c.level, c.n, c.h, c.w, c.c, c.sh, c.sw = j.level, n, oh, ow, g.OutC, 1, 1
	c.o, c.imageOut = g.C, g.H*g.W*g.C
	c.parts = c.parts[:0]
	for i := range j.phases {
		f := &j.phases[i]
		c.parts = append(c.parts, correlation{
			kh: f.y.taps, kw: f.x.taps, top: f.y.start, left: f.x.start,
			oh: ceilDiv(g.H-f.y.phase, g.StrideH), ow: ceilDiv(g.W-f.x.phase, g.StrideW),
			at: (f.y.phase*g.W + f.x.phase) * g.C, rowStep: g.StrideH * g.W * g.C, step: g.StrideW * g.C,
			weights: j.packed[f.packed:],
		})
	}
	c.x, c.bias, c.relu, c.y = dy, nil, false, dx
	c.run()
	c.release()
	j.w = nil
	turnJobs.Put(j)
}

// turnJob packs the turned and transposed weights of all phases; it is the
// par.Runner of their taps.
type turnJob struct {
	g      Conv
	level  Level
	w      []float32
	packed []float32
	phases []turnPhase
	total  int // taps of all phases
}

// turnPhase is one phase of rows and columns; its first tap is number first of
// all, its panels begin at packed.
type turnPhase struct {
	y, x          axisPhase
	first, packed int
}

var turnJobs par.Free[turnJob]

// axisPhase is one remainder of the input positions i = phase + s*t by the
// stride s. Of the kernel's positions it meets first, first+s, ..., taps in all;
// in the reverse of this order they see the outputs start+t, start+t+1, ...
type axisPhase struct{ phase, first, taps, start int }

func newAxisPhase(phase, k, stride, pad int) axisPhase {
	a := axisPhase{phase: phase, first: (phase + pad) % stride}
	a.taps = max(0, ceilDiv(k-a.first, stride))
	if a.first >= k {
		a.taps = 0
	}
	a.start = (phase+pad-a.first)/stride - (a.taps - 1)
	return a
}

func (j *turnJob) split() {
	g := &j.g
	cols := j.level.shape().packedCols(g.C)
	j.phases, j.total = j.phases[:0], 0
	for py := range min(g.StrideH, g.H) {
		y := newAxisPhase(py, g.KH, g.StrideH, g.PadH)
		for px := range min(g.StrideW, g.W) {
			x := newAxisPhase(px, g.KW, g.StrideW, g.PadW)
			j.phases = append(j.phases, turnPhase{y, x, j.total, j.total * g.OutC * cols})
			j.total += y.taps * x.taps
		}
	}
	grow(&j.packed, j.total*g.OutC*cols)
}

// Run packs taps [lo, hi).
func (j *turnJob) Run(lo, hi int) {
	g, s := &j.g, j.level.shape()
	at := 0
	for t := lo; t < hi; t++ {
		for at+1 < len(j.phases) && j.phases[at+1].first <= t {
			at++
		}
		f := &j.phases[at]
		taps, tap := f.y.taps*f.x.taps, t-f.first
		ky := f.y.first + g.StrideH*(f.y.taps-1-tap/f.x.taps)
		kx := f.x.first + g.StrideW*(f.x.taps-1-tap%f.x.taps)
		from := j.w[(ky*g.KW+kx)*g.C*g.OutC:][:g.C*g.OutC]
		for c := 0; c < g.C; c += s.wide {
			cols, width := min(s.wide, g.C-c), s.wide
			if cols <= s.narrow {
				width = s.narrow
			}
			out := j.packed[f.packed+(c*taps+tap*width)*g.OutC:][:g.OutC*width]
			if cols < width {
				clear(out)
			}
			j.level.transpose(cols, g.OutC, from[c*g.OutC:], g.OutC, out, width)
		}
	}
}
