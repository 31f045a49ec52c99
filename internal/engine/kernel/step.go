package kernel

import (
	"math"

	"tercet/internal/par"
)

type signJob struct {
	level                Level
	x, g, clean          []float32
	step, eps, low, high float32
}

var signJobs par.Free[signJob]

// SignStep moves x a step against the sign of g, then to the ball around clean,
// then to the interval [low, high], in one pass:
//
//	x -= step where g > 0, x += step where g < 0
//	x = min(max(x, clean-eps, low), clean+eps, high)
//
// Where g is 0 or NaN there is no step; NaN in x or clean stays. A negative step
// ascends. The bits are those of these lines in Go, on all levels.
func SignStep(x, g, clean []float32, step, eps, low, high float32) {
	par.Once(&signJobs, len(x), elems, signJob{Current(), x, g[:len(x)], clean[:len(x)], step, eps, low, high})
}

// Run does elements [lo, hi).
func (j *signJob) Run(lo, hi int) {
	x, g, clean := j.x[lo:hi], j.g[lo:hi], j.clean[lo:hi]
	if assembly && j.level != Generic {
		signStepAsm(j.level, j.step, j.eps, j.low, j.high, len(x), &x[0], &g[0], &clean[0])
	} else {
		signStepGeneric(x, g, clean, j.step, j.eps, j.low, j.high)
	}
}

func signStepGeneric(x, g, clean []float32, step, eps, low, high float32) {
	g, clean = g[:len(x)], clean[:len(x)]
	for i, v := range x {
		// Signs of gradients are random: two selections, of which one is 0, and no
		// branch.
		down, up := where(g[i], step), where(-g[i], -step)
		v -= math.Float32frombits(math.Float32bits(down) | math.Float32bits(up))
		x[i] = min(max(v, clean[i]-eps, low), clean[i]+eps, high)
	}
}
