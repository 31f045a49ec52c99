package kernel

import (
	"math"

	"tercet/internal/par"
)

type rowJob struct {
	level Level
	d     int
	eps   float64
	x, y  []float32
	inv   []float32
	g     []float32
	scale []float32
	shift []float32
	run   func(j *rowJob, r int, x, y []float32)
}

var rowJobs par.Free[rowJob]

// rows runs j.run for each of n rows of d numbers.
func (j rowJob) rows(n int) {
	j.level = Current()
	par.Once(&rowJobs, n, max(1, elems/4/max(j.d, 1)), j)
}

// Run does rows [lo, hi).
func (j *rowJob) Run(lo, hi int) {
	for r := lo; r < hi; r++ {
		at, end := r*j.d, (r+1)*j.d
		j.run(j, r, j.x[at:end], j.y[at:end])
	}
}

// Standardize sets each row of y (n, d) to (x - mean) / sqrt(var + eps), with the mean
// and the biased variance of the row, summed in float64, and inv (n) to the divisor's
// inverse. y may be x.
func Standardize(n, d int, x []float32, eps float64, y, inv []float32) {
	rowJob{d: d, eps: eps, x: x[:n*d], y: y[:n*d], inv: inv[:n], run: (*rowJob).standardize}.rows(n)
}

func (j *rowJob) standardize(r int, x, y []float32) {
	mean := j.level.sum(x) / float64(j.d)
	j.level.center(mean, x, y)
	inv := float32(1 / math.Sqrt(j.level.dot(y, y)/float64(j.d)+j.eps))
	j.inv[r] = inv
	j.level.scale(inv, y)
}

// StandardizeBackward sets dx (n, d) from dy (n, d) and the y and inv of Standardize:
// (dy - mean(dy) - y mean(dy*y)) * inv. dx may be dy.
func StandardizeBackward(n, d int, y, inv, dy, dx []float32) {
	rowJob{d: d, x: dy[:n*d], y: dx[:n*d], g: y[:n*d], inv: inv[:n], run: (*rowJob).standardizeBack}.rows(n)
}

func (j *rowJob) standardizeBack(r int, dy, dx []float32) {
	hat := j.g[r*j.d : (r+1)*j.d]
	mean := float32(j.level.sum(dy) / float64(j.d))
	along := float32(j.level.dot(dy, hat) / float64(j.d))
	j.level.standardizeBack(mean, along, j.inv[r], hat, dy, dx)
}

// ScaleShift sets each row of y (n, d) to x*scale + shift, element by element, with
// scale and shift (d); shift nil adds nothing. y may be x.
func ScaleShift(n, d int, x, scale, shift, y []float32) {
	rowJob{d: d, x: x[:n*d], y: y[:n*d], scale: scale[:d], shift: shift, run: (*rowJob).scaleShift}.rows(n)
}

func (j *rowJob) scaleShift(_ int, x, y []float32) { j.level.scaleShift(x, j.scale, j.shift, y) }
