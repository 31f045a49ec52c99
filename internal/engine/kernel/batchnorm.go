package kernel

import "tercet/internal/par"

// Batch normalization works on (rows, cols): rows = B*H*W, cols = channels.
// Statistics are float64; what is applied to every element is float32.

// normJob applies per-column factors to all elements.
type normJob struct {
	level                     Level
	width                     int // numbers in a wide row; see widen.go
	x, dy, mask, add, y       []float32
	mean, scale, shift, slope []float32 // of a wide row; slices of table
	bias                      []float32 // as these, for NormalizeReLUBackward
	relu                      bool
	table                     []float32
	run                       func(j *normJob, at, rows, cols int)
}

var normJobs par.Free[normJob]

// Normalize sets y = (x - mean) * scale + shift by columns, plus add (rows,
// cols), and then the maximum with 0 where relu (NaN stays NaN). shift and add
// may be nil; y may be x or add.
//
// The arithmetic is float32 and the same on all levels, bit for bit. What
// rounding the mean loses is put into shift, so that a large common offset of x
// and mean costs nothing: the error is at most about
// 2^-24 * (3*|(x-mean)*scale| + |shift| + |add| + |y|).
func Normalize(rows, cols int, x []float32, mean, scale []float64, shift, add []float32, relu bool, y []float32) {
	n := rows * cols
	if n == 0 {
		return
	}
	j := normJobs.Get()
	j.begin(rows, cols)
	j.x, j.y, j.relu = x[:n], y[:n], relu
	if add != nil {
		j.add = add[:n]
	}
	rounded(cols, mean, scale, shift, j.mean, j.scale, j.shift)
	j.do(cols, (*normJob).normalize, j.mean, j.scale, j.shift)
}

// rounded sets the float32 factors of Normalize.
func rounded(cols int, mean, scale []float64, shift, mean32, scale32, shift32 []float32) {
	for c, m := range mean[:cols] {
		mean32[c], scale32[c] = float32(m), float32(scale[c])
		rest := float64((float64(float32(m)) - m) * scale[c])
		if shift != nil {
			rest += float64(shift[c])
		}
		shift32[c] = float32(rest)
	}
}

// NormalizeBackward sets dx = scale*dy - a - b*(x-mean) by columns, where dy
// counts as 0 unless mask > 0 (mask nil: everywhere). With a and b nil it sets
// dx = scale*dy, and x and mean are not read. dx may be dy or x.
//
// The arithmetic is float32 and the same on all levels, bit for bit, with an
// error of at most about 2^-24 * (2*|scale*dy| + 4*|b*(x-mean)| + 2*|a| + |dx|).
func NormalizeBackward(rows, cols int, x, dy, mask []float32, mean, scale, a, b []float64, dx []float32) {
	n := rows * cols
	if n == 0 {
		return
	}
	j := normJobs.Get()
	j.begin(rows, cols)
	j.dy, j.y = dy[:n], dx[:n]
	if mask != nil {
		j.mask = mask[:n]
	}
	for c, s := range scale[:cols] {
		j.scale[c] = float32(s)
	}
	if a == nil {
		j.do(cols, (*normJob).scaleBack, j.scale)
		return
	}
	j.x = x[:n]
	for c, m := range mean[:cols] {
		j.mean[c] = float32(m)
	}
	slopes(cols, mean, a, b, j.shift, j.slope)
	j.do(cols, (*normJob).normalizeBack, j.mean, j.scale, j.shift, j.slope)
}

// NormalizeReLUBackward is NormalizeBackward with the mask that Normalize of x
// with these means, scales and shifts would give: it computes the outputs again,
// with the same bits, instead of reading them. It wants a and b.
func NormalizeReLUBackward(rows, cols int, x, dy []float32, mean, scale []float64, shift []float32, a, b []float64, dx []float32) {
	n := rows * cols
	if n == 0 {
		return
	}
	j := normJobs.Get()
	j.begin(rows, cols)
	j.x, j.dy, j.y = x[:n], dy[:n], dx[:n]
	rounded(cols, mean, scale, shift, j.mean, j.scale, j.bias)
	slopes(cols, mean, a, b, j.shift, j.slope)
	j.do(cols, (*normJob).normalizeBackReLU, j.mean, j.scale, j.shift, j.slope, j.bias)
}

// slopes sets the float32 factors of what NormalizeBackward subtracts.
func slopes(cols int, mean, a, b []float64, shift, slope []float32) {
	for c, m := range mean[:cols] {
		slope[c] = float32(b[c])
		shift[c] = float32(a[c] + float64((float64(float32(m))-m)*b[c]))
	}
}

// begin lays out the tables.
func (j *normJob) begin(rows, cols int) {
	w := wideRow(rows, cols)
	if cap(j.table) < 5*w {
		j.table = make([]float32, 5*w)
	}
	t := j.table[:5*w]
	j.level, j.width = Current(), w
	j.mean, j.scale, j.shift, j.slope, j.bias = t[:w], t[w:2*w], t[2*w:3*w], t[3*w:4*w], t[4*w:]
}

// do repeats the tables, whose first cols numbers are set, runs and gives j back.
func (j *normJob) do(cols int, run func(j *normJob, at, rows, cols int), tables ...[]float32) {
	for _, t := range tables {
		repeatTo(t, cols)
	}
	j.run = run
	par.Do(ceilDiv(len(j.y), j.width), max(1, elems/j.width), j)
	*j = normJob{table: j.table}
	normJobs.Put(j)
}

// Run does wide rows [lo, hi).
func (j *normJob) Run(lo, hi int) {
	n := min(hi*j.width, len(j.y)) - lo*j.width
	if rows := n / j.width; rows > 0 {
		j.run(j, lo*j.width, rows, j.width)
	}
	if rest := n % j.width; rest > 0 {
		j.run(j, lo*j.width+n-rest, 1, rest)
	}
}

func (j *normJob) normalize(at, rows, cols int) {
	n := rows * cols
	j.level.normalize(rows, cols, j.x[at:at+n], j.mean[:cols], j.scale[:cols], j.shift[:cols], optional(j.add, at, n), j.relu, j.y[at:at+n])
}

// optional is x[at:at+n], or nil where x is.
func optional(x []float32, at, n int) []float32 {
	if x == nil {
		return nil
	}
	return x[at : at+n]
}

func (j *normJob) normalizeBack(at, rows, cols int) {
	n := rows * cols
	j.level.normalizeBack(rows, cols, j.x[at:at+n], j.dy[at:at+n], optional(j.mask, at, n), j.mean[:cols], j.scale[:cols], j.shift[:cols], j.slope[:cols], j.y[at:at+n])
}

func (j *normJob) normalizeBackReLU(at, rows, cols int) {
	n := rows * cols
	j.level.normalizeBackReLU(rows, cols, j.x[at:at+n], j.dy[at:at+n], j.mean[:cols], j.scale[:cols], j.shift[:cols], j.slope[:cols], j.bias[:cols], j.y[at:at+n])
}

func (j *normJob) scaleBack(at, rows, cols int) {
	n := rows * cols
	j.level.scaleRows(rows, cols, j.dy[at:at+n], optional(j.mask, at, n), j.scale[:cols], j.y[at:at+n])
}
