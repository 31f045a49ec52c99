package kernel

import (
	"math"

	"tercet/internal/par"
)

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

type poolJob struct {
	Pool
	oh, ow       int
	x, y, dy, dx []float32
	arg          []int32
	run          func(j *poolJob, lo, hi int)
}

func (j *poolJob) Run(lo, hi int) { j.run(j, lo, hi) }

var poolJobs par.Free[poolJob]

func (p *Pool) do(n int, j poolJob) {
	k := poolJobs.Get()
	*k = j
	k.Pool = *p
	k.oh, k.ow = p.Out()
	par.Do(n, 1, k)
	*k = poolJob{}
	poolJobs.Put(k)
}

// MaxForward sets y (n, OH, OW, C) to the windows' maxima of x (n, H, W, C) and
// arg (as y) to the winner's offset inside its image. Of equal values the first
// in row-major order wins; NaN wins over every number. Needs PadH < KH and
// PadW < KW, so that every window holds a pixel.
func (p *Pool) MaxForward(n int, x, y []float32, arg []int32) {
	p.do(n, poolJob{x: x, y: y, arg: arg, run: (*poolJob).maxForward})
}

// MaxBackward sets dx (n, H, W, C): each dy goes to its window's winner.
func (p *Pool) MaxBackward(n int, dy []float32, arg []int32, dx []float32) {
	p.do(n, poolJob{dy: dy, dx: dx, arg: arg, run: (*poolJob).maxBackward})
}

// AvgForward sets y (n, OH, OW, C) to the windows' sums over KH*KW.
func (p *Pool) AvgForward(n int, x, y []float32) {
	p.do(n, poolJob{x: x, y: y, run: (*poolJob).avgForward})
}

// AvgBackward sets dx (n, H, W, C): each dy is spread evenly over its window.
func (p *Pool) AvgBackward(n int, dy, dx []float32) {
	p.do(n, poolJob{dy: dy, dx: dx, run: (*poolJob).avgBackward})
}

// window returns the pixels [r0, r1) x [c0, c1) of output (i, j).
func (p *Pool) window(i, j int) (r0, r1, c0, c1 int) {
	r0, c0 = i*p.StrideH-p.PadH, j*p.StrideW-p.PadW
	return max(r0, 0), min(r0+p.KH, p.H), max(c0, 0), min(c0+p.KW, p.W)
}

func (j *poolJob) maxForward(lo, hi int) {
	in, out := j.H*j.W*j.C, j.oh*j.ow*j.C
	for b := lo; b < hi; b++ {
		x := j.x[b*in : (b+1)*in]
		for o := range j.oh * j.ow {
			at := b*out + o*j.C
			y, arg := j.y[at:at+j.C], j.arg[at:at+j.C]
			r0, r1, c0, c1 := j.window(o/j.ow, o%j.ow)
			first := (r0*j.W + c0) * j.C
			copy(y, x[first:first+j.C])
			for c := range arg {
				arg[c] = int32(first + c)
			}
			for r := r0; r < r1; r++ {
				for col := c0; col < c1; col++ {
					off := (r*j.W + col) * j.C
					if off == first {
						continue
					}
					maxInto(y, arg, x[off:off+j.C], off)
				}
			}
		}
	}
}

// maxInto replaces y and arg where x is greater, or is the first NaN.
func maxInto(y []float32, arg []int32, x []float32, off int) {
	y, arg = y[:len(x)], arg[:len(x)]
	for c, v := range x {
		old := y[c]
		best, won := math.Float32bits(old), arg[c]
		bits, at := math.Float32bits(v), int32(off+c)
		// Which pixel wins is random, so these must compile to conditional moves: of
		// integers, one for each comparison.
		if v > old {
			best = bits
		}
		if v > old {
			won = at
		}
		if v != v && old == old {
			best, won = bits, at
		}
		y[c], arg[c] = math.Float32frombits(best), won
	}
}

func (j *poolJob) maxBackward(lo, hi int) {
	in, out := j.H*j.W*j.C, j.oh*j.ow*j.C
	for b := lo; b < hi; b++ {
		dx := j.dx[b*in : (b+1)*in]
		clear(dx)
		arg := j.arg[b*out : (b+1)*out]
		for o, v := range j.dy[b*out : (b+1)*out] {
			dx[arg[o]] += v
		}
	}
}

func (j *poolJob) avgForward(lo, hi int) {
	in, out := j.H*j.W*j.C, j.oh*j.ow*j.C
	scale := 1 / float32(j.KH*j.KW)
	for b := lo; b < hi; b++ {
		x := j.x[b*in : (b+1)*in]
		for o := range j.oh * j.ow {
			at := b*out + o*j.C
			y := j.y[at : at+j.C]
			clear(y)
			r0, r1, c0, c1 := j.window(o/j.ow, o%j.ow)
			for r := r0; r < r1; r++ {
				for col := c0; col < c1; col++ {
					off := (r*j.W + col) * j.C
					for c, v := range x[off : off+j.C] {
						y[c] += v
					}
				}
			}
			for c := range y {
				y[c] *= scale
			}
		}
	}
}

func (j *poolJob) avgBackward(lo, hi int) {
	in, out := j.H*j.W*j.C, j.oh*j.ow*j.C
	scale := 1 / float32(j.KH*j.KW)
	for b := lo; b < hi; b++ {
		dx := j.dx[b*in : (b+1)*in]
		clear(dx)
		for o := range j.oh * j.ow {
			at := b*out + o*j.C
			dy := j.dy[at : at+j.C]
			r0, r1, c0, c1 := j.window(o/j.ow, o%j.ow)
			for r := r0; r < r1; r++ {
				for col := c0; col < c1; col++ {
					off := (r*j.W + col) * j.C
					d := dx[off : off+j.C]
					for c, v := range dy {
						d[c] += v * scale
					}
				}
			}
		}
	}
}
