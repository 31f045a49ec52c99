package kernel

import "tercet/internal/par"

// lanes is the number of columns that one chunk of a column-wise loop owns: one
// cache line of float32.
const lanes = 16

type biasJob struct {
	rows, cols int
	y, b       []float32
	sums       bool
}

var biasJobs par.Free[biasJob]

// AddBias adds bias (cols) to every row of y (rows, cols).
func AddBias(rows, cols int, y, bias []float32) {
	j := biasJobs.Get()
	*j = biasJob{rows: rows, cols: cols, y: y[:rows*cols], b: bias[:cols]}
	par.Do(rows, max(1, elems/max(cols, 1)), j)
	*j = biasJob{}
	biasJobs.Put(j)
}

// AddColumnSums adds to sum (cols) the column sums of dy (rows, cols): the
// gradient of a bias. Sums are taken in float64.
func AddColumnSums(rows, cols int, dy, sum []float32) {
	j := biasJobs.Get()
	*j = biasJob{rows: rows, cols: cols, y: dy[:rows*cols], b: sum[:cols], sums: true}
	par.Do(cols, lanes, j)
	*j = biasJob{}
	biasJobs.Put(j)
}

// Run does rows [lo, hi), or columns [lo, hi) of the sums.
func (j *biasJob) Run(lo, hi int) {
	if !j.sums {
		for r := lo; r < hi; r++ {
			row := j.y[r*j.cols : (r+1)*j.cols]
			for c, v := range j.b {
				row[c] += v
			}
		}
		return
	}
	var s [lanes]float64
	for at := lo; at < len(j.y); at += j.cols {
		for c, v := range j.y[at : at+hi-lo] {
			s[c&(lanes-1)] += float64(v)
		}
	}
	for c := range hi - lo {
		j.b[lo+c] += float32(s[c])
	}
}

type addJob struct{ a, b, out []float32 }

var addJobs par.Free[addJob]

// Add sets out[i] = a[i] + b[i]. out may be a or b.
func Add(a, b, out []float32) {
	j := addJobs.Get()
	*j = addJob{a: a, b: b[:len(a)], out: out[:len(a)]}
	par.Do(len(a), elems, j)
	*j = addJob{}
	addJobs.Put(j)
}

// Run does elements [lo, hi).
func (j *addJob) Run(lo, hi int) {
	a, b, out := j.a[lo:hi], j.b[lo:hi], j.out[lo:hi]
	for i, v := range a {
		out[i] = v + b[i]
	}
}
