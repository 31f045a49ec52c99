package kernel

import "tercet/internal/par"

// vectorJob is a pass over vectors of one length. Those that a kernel has not are nil.
type vectorJob struct {
	level  Level
	factor float32
	x, y   []float32
	out    []float32
	run    func(j *vectorJob, lo, hi int)
}

var vectorJobs par.Free[vectorJob]

// do runs j in chunks of size elements.
func (j vectorJob) do(size int) {
	j.level = Current()
	par.Once(&vectorJobs, len(j.out), size, j)
}

// Run does elements [lo, hi).
func (j *vectorJob) Run(lo, hi int) { j.run(j, lo, hi) }

// Greatest returns the largest number of a row of one at least, on the calling goroutine.
// Where one is NaN it may be any.
func Greatest(x []float32) float32 { return Current().greatest(x) }

// ExpLess replaces the numbers of a row by exp(x - top), on the calling goroutine.
func ExpLess(top float32, x []float32) { Current().expLess(top, x) }

// ScaleRow multiplies a row by alpha, on the calling goroutine.
func ScaleRow(alpha float32, x []float32) { Current().scale(alpha, x) }
