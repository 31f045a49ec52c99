package kernel

import (
	"math"

	"tercet/internal/par"
)

type l2Job struct {
	level          Level
	d              int
	x, y, norm, dy []float32
	dx             []float32
	eps            float64
	backward       bool
}

var l2Jobs par.Free[l2Job]

// L2Normalize sets each row of y (n, d) to x / max(||x||, eps) and norm (n) to
// that denominator. The norm is summed in float64, so that it neither overflows
// nor loses small elements. y may be x.
func L2Normalize(n, d int, x, y, norm []float32, eps float64) {
	par.Once(&l2Jobs, n, max(1, elems/4/max(d, 1)), l2Job{level: Current(), d: d, x: x[:n*d], y: y[:n*d], norm: norm[:n], eps: eps})
}

// L2NormalizeBackward sets dx (n, d) from dy (n, d) and the y, norm and eps of
// L2Normalize: (dy - y (y.dy)) / norm, or dy / eps in rows whose norm was below
// eps, where the denominator is a constant. dx may be dy.
func L2NormalizeBackward(n, d int, y, norm, dy, dx []float32, eps float64) {
	par.Once(&l2Jobs, n, max(1, elems/4/max(d, 1)), l2Job{level: Current(), d: d, y: y[:n*d], norm: norm[:n], dy: dy[:n*d], dx: dx[:n*d], eps: eps, backward: true})
}

// Run does rows [lo, hi).
func (j *l2Job) Run(lo, hi int) {
	for r := lo; r < hi; r++ {
		at, end := r*j.d, (r+1)*j.d
		if j.backward {
			j.back(r, j.y[at:end], j.dy[at:end], j.dx[at:end])
			continue
		}
		x, y := j.x[at:end], j.y[at:end]
		norm := max(math.Sqrt(j.level.dot(x, x)), j.eps) // NaN stays NaN
		j.norm[r] = float32(norm)
		j.level.stretch(1/norm, x, y)
	}
}

func (j *l2Job) back(r int, y, dy, dx []float32) {
	norm := float64(j.norm[r])
	var dot float64
	if norm > float64(float32(j.eps)) {
		dot = j.level.dot(y, dy)
	} else {
		norm = j.eps
	}
	j.level.radial(dot, 1/norm, y, dy, dx)
}
