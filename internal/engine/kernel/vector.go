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
