package kernel

import "tercet/internal/par"

// inputJob computes an input gradient; it is the par.Runner of the general way.
type inputJob struct {
	g       Conv
	level   Level
	oh, ow  int
	dy, dx  []float32
	bands   int // of each image
	rows    int // input rows of one band
	pack    weightPack
	flipped []float32
	flip    flipJob
}

var inputJobs par.Free[inputJob]

// BackwardInput overwrites dx with the gradient with respect to the input.
//
// With stride 1 it is itself a convolution: of dy by the weights turned by half
// a circle and transposed, with padding KH-1-PadH and KW-1-PadW. Otherwise, and
// for few input channels, each task multiplies rows of dy by the transposed
// weights and adds the patches to a band of dx that no other task touches.
func (g Conv) BackwardInput(n int, dy, w, dx []float32) {
	oh, ow := g.check(n, len(dx), len(w), len(dy))
	if n == 0 {
		return
	}
	j := inputJobs.Get()
	j.g, j.level, j.oh, j.ow = g, Current(), oh, ow
	j.dy, j.dx = dy, dx
	if g.StrideH == 1 && g.StrideW == 1 && g.PadH < g.KH && g.PadW < g.KW && g.C >= 8 {
		j.turned(n, w)
	} else {
		j.general(n, w)
	}
	j.dy, j.dx = nil, nil
	inputJobs.Put(j)
}

func (j *inputJob) turned(n int, w []float32) {
	g := j.g
	grow(&j.flipped, len(w))
	j.flip = flipJob{g, j.level, w, j.flipped}
	par.Do(g.KH*g.KW, max(1, 16384/(g.C*g.OutC)), &j.flip)
	j.flip = flipJob{}
	back := Conv{
		H: j.oh, W: j.ow, C: g.OutC, OutC: g.C, KH: g.KH, KW: g.KW,
		StrideH: 1, StrideW: 1, PadH: g.KH - 1 - g.PadH, PadW: g.KW - 1 - g.PadW,
	}
	f := convJobs.Get()
	f.forward(back, j.level, n, g.H, g.W, j.dy, j.flipped, nil, j.dx)
	f.release()
}

// flipJob turns the kernel's positions round and transposes each one's matrix.
type flipJob struct {
	g      Conv
	level  Level
	w, out []float32
}

// Run does kernel positions [lo, hi).
func (j *flipJob) Run(lo, hi int) {
	c, o := j.g.C, j.g.OutC
	for i := lo; i < hi; i++ {
		to := j.g.KH*j.g.KW - 1 - i
		j.level.transpose(c, o, j.w[i*c*o:], o, j.out[to*c*o:], c)
	}
}

func (j *inputJob) general(n int, w []float32) {
	g := j.g
	j.pack.do(j.level, g.OutC, g.patch(), view{w, 1, g.OutC})
	// Neighbouring bands both compute the outputs at their border: bands are
	// worth it only where there are few images.
	j.bands = max(1, min(ceilDiv(targetTasks, n), g.H/(4*g.KH)))
	j.rows = ceilDiv(g.H, j.bands)
	j.bands = ceilDiv(g.H, j.rows)
	par.Do(n*j.bands, 1, j)
}

// Run computes bands [lo, hi).
func (j *inputJob) Run(lo, hi int) {
	g := &j.g
	s := gemmScratches.Get()
	grow(&s.edge, edgeSize)
	patch := g.patch()
	ld := oddLines(patch)
	block := min(blockM, max(14, 65536/ld/14*14))
	grow(&s.a, block*ld)
	step := kRun(g.OutC)
	for t := lo; t < hi; t++ {
		image, y0 := t/j.bands, t%j.bands*j.rows
		y1 := min(y0+j.rows, g.H)
		clear(j.dx[(image*g.H+y0)*g.W*g.C : (image*g.H+y1)*g.W*g.C])
		// Output row oy touches input rows oy*StrideH-PadH up to KH-1 further.
		o0 := max(0, ceilDiv(max(0, y0+g.PadH-g.KH+1), g.StrideH))
		o1 := min(j.oh, (y1-1+g.PadH)/g.StrideH+1)
		end := (image*j.oh + o1) * j.ow
		for r := (image*j.oh + o0) * j.ow; r < end; r += block {
			m := min(block, end-r)
			beta := float32(0)
			for p := 0; p < g.OutC; p += step {
				a := view{j.dy[r*g.OutC+p:], g.OutC, 1}
				j.level.multiply(m, patch, min(step, g.OutC-p), 1, a, j.pack.run(p), beta, s.a, ld, s.edge)
				beta = 1
			}
			g.scatter(j.dx, s.a, ld, j.oh, j.ow, r, r+m, y0, y1)
		}
	}
	gemmScratches.Put(s)
}
