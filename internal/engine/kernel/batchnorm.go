package kernel

import "tercet/internal/par"

// Batch normalisation works on (rows, cols): rows = B*H*W, cols = channels.
// Sums are taken in float64, each column by one thread.

type normJob struct {
	rows, cols              int
	x, y, dy, dx            []float32
	mean, vari, scale, a, b []float64
	shift                   []float32
	run                     func(j *normJob, lo, hi int)
}

func (j *normJob) Run(lo, hi int) { j.run(j, lo, hi) }

var normJobs par.Free[normJob]

func doNorm(n, size int, j normJob) {
	k := normJobs.Get()
	*k = j
	par.Do(n, size, k)
	*k = normJob{}
	normJobs.Put(k)
}

// ColumnMoments sets mean and variance (cols) of x (rows, cols), in two passes;
// the variance is the biased one, over rows.
func ColumnMoments(rows, cols int, x []float32, mean, variance []float64) {
	doNorm(cols, lanes, normJob{rows: rows, cols: cols, x: x[:rows*cols], mean: mean[:cols], vari: variance[:cols], run: (*normJob).moments})
}

// Normalize sets y = (x - mean) * scale + shift by columns; shift may be nil.
func Normalize(rows, cols int, x []float32, mean, scale []float64, shift, y []float32) {
	doNorm(rows, max(1, elems/max(cols, 1)), normJob{rows: rows, cols: cols, x: x, mean: mean[:cols], scale: scale[:cols], shift: shift, y: y, run: (*normJob).normalize})
}

// NormalizeSums sets a = sum of dy and b = sum of dy*(x-mean), by columns: what
// the gradients of a batch norm need.
func NormalizeSums(rows, cols int, x, dy []float32, mean, a, b []float64) {
	doNorm(cols, lanes, normJob{rows: rows, cols: cols, x: x[:rows*cols], dy: dy[:rows*cols], mean: mean[:cols], a: a[:cols], b: b[:cols], run: (*normJob).sums})
}

// NormalizeBackward sets dx = scale*dy - a - b*(x-mean) by columns. With a and b
// nil it sets dx = scale*dy, and x and mean are not read.
func NormalizeBackward(rows, cols int, x, dy []float32, mean, scale, a, b []float64, dx []float32) {
	doNorm(rows, max(1, elems/max(cols, 1)), normJob{rows: rows, cols: cols, x: x, dy: dy, dx: dx, mean: mean, scale: scale[:cols], a: a, b: b, run: (*normJob).backward})
}

func (j *normJob) moments(lo, hi int) {
	w := hi - lo
	var s, m [lanes]float64
	for at := lo; at < len(j.x); at += j.cols {
		for c, v := range j.x[at : at+w] {
			s[c&(lanes-1)] += float64(v)
		}
	}
	for c := range w {
		m[c] = s[c] / float64(j.rows)
		s[c] = 0
	}
	for at := lo; at < len(j.x); at += j.cols {
		for c, v := range j.x[at : at+w] {
			d := float64(v) - m[c&(lanes-1)]
			s[c&(lanes-1)] += d * d
		}
	}
	for c := range w {
		j.mean[lo+c], j.vari[lo+c] = m[c], s[c]/float64(j.rows)
	}
}

func (j *normJob) normalize(lo, hi int) {
	for r := lo; r < hi; r++ {
		x, y := j.x[r*j.cols:(r+1)*j.cols], j.y[r*j.cols:(r+1)*j.cols]
		mean, scale := j.mean[:len(x)], j.scale[:len(x)]
		if j.shift == nil {
			for c, v := range x {
				y[c] = float32((float64(v) - mean[c]) * scale[c])
			}
			continue
		}
		shift := j.shift[:len(x)]
		for c, v := range x {
			y[c] = float32((float64(v)-mean[c])*scale[c] + float64(shift[c]))
		}
	}
}

func (j *normJob) sums(lo, hi int) {
	w := hi - lo
	var a, b, m [lanes]float64
	copy(m[:], j.mean[lo:hi])
	for at := lo; at < len(j.x); at += j.cols {
		dy := j.dy[at : at+w]
		for c, v := range j.x[at : at+w] {
			g := float64(dy[c])
			a[c&(lanes-1)] += g
			b[c&(lanes-1)] += g * (float64(v) - m[c&(lanes-1)])
		}
	}
	copy(j.a[lo:hi], a[:w])
	copy(j.b[lo:hi], b[:w])
}

func (j *normJob) backward(lo, hi int) {
	for r := lo; r < hi; r++ {
		at, end := r*j.cols, (r+1)*j.cols
		dy, dx := j.dy[at:end], j.dx[at:end]
		scale := j.scale[:len(dy)]
		if j.a == nil {
			for c, g := range dy {
				dx[c] = float32(float64(g) * scale[c])
			}
			continue
		}
		x, mean, a, b := j.x[at:end], j.mean[:len(dy)], j.a[:len(dy)], j.b[:len(dy)]
		for c, g := range dy {
			dx[c] = float32(float64(g)*scale[c] - a[c] - b[c]*(float64(x[c])-mean[c]))
		}
	}
}
