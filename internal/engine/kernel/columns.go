package kernel

import (
	"math"

	"tercet/internal/par"
)

//go:generate go run -C _generate ./vector -family columns -out ../columns_amd64.s -go ../columns_stubs.go -pkg kernel

// columnJob sums by columns in one pass over the rows: chunks of all columns,
// whose borders depend on the sizes alone, have sums of their own, which are
// added in their order.
type columnJob struct {
	level       Level
	kind        columnKind
	width       int // numbers in a wide row; see widen.go
	rows        int // wide rows in a chunk
	x, dy, mask []float32
	center      []float64 // of a wide row
	mean, scale []float32 // as it, for reluGradients; slices of table, as bias
	bias, table []float32
	sums        []float64 // per chunk: width of the first sum, width of the second
}

type columnKind uint8

const (
	sumsOfX       columnKind = iota // sum of x
	moments                         // sums of x-center and of its square
	gradients                       // sums of dy and of dy*(x-center)
	reluGradients                   // the same where Normalize gives a number above 0
)

var columnJobs par.Free[columnJob]

const (
	columnChunk  = 1 << 15 // numbers in a chunk, at least
	columnRows   = 64      // wide rows in a chunk, at least, for the sums' own cost
	columnChunks = 64      // chunks, at most
	columnGroup  = 8       // rows of a call: as many streams from memory
)

// AddColumnSums adds to sum (cols) the column sums of dy (rows, cols): the
// gradient of a bias. Sums are taken in float64.
func AddColumnSums(rows, cols int, dy, sum []float32) {
	if rows*cols == 0 {
		return
	}
	j := columnJobs.Get()
	j.begin(sumsOfX, rows, cols)
	j.x = dy[:rows*cols]
	j.do()
	for c := range sum[:cols] {
		sum[c] += float32(j.total(c, cols, 0))
	}
	j.end()
}

// ColumnMoments sets mean and variance (cols) of x (rows, cols) in one pass; the
// variance is the biased one, over rows.
//
// The sums are float64 and of differences from the first row, so that a large
// common offset costs nothing. As the first row is one of the data, its distance
// from the mean is at most sqrt(rows) standard deviations, so that the relative
// error of the variance is about rows * 2^-53 at worst. A column that holds a NaN or an
// infinity has a variance of NaN and a mean that is not finite. Level Generic
// differs in the last bits, as it fuses no product.
func ColumnMoments(rows, cols int, x []float32, mean, variance []float64) {
	mean, variance = mean[:cols], variance[:cols]
	if rows*cols == 0 {
		for c := range mean {
			mean[c], variance[c] = math.NaN(), math.NaN()
		}
		return
	}
	j := columnJobs.Get()
	j.begin(moments, rows, cols)
	j.x = x[:rows*cols]
	for k := range j.center {
		j.center[k] = float64(x[k%cols])
	}
	j.do()
	for c := range mean {
		mean[c], variance[c] = Moments(rows, j.center[c], j.total(c, cols, 0), j.total(c, cols, 1))
	}
	j.end()
}

// Moments returns mean and biased variance of rows numbers whose differences from center
// have that sum and that sum of squares.
func Moments(rows int, center, sum, squares float64) (mean, variance float64) {
	n := float64(rows)
	mean = center + sum/n
	variance = (squares - float64(sum*(sum/n))) / n
	if variance < 0 { // by rounding; not for NaN
		variance = 0
	}
	return mean, variance
}

// CenteredSums sets sum and squares (cols) of the differences of x (rows, cols) from
// center: those of runs of rows can be added, and give Moments.
func CenteredSums(rows, cols int, x []float32, center, sum, squares []float64) {
	if rows*cols == 0 {
		clear(sum[:cols])
		clear(squares[:cols])
		return
	}
	j := columnJobs.Get()
	j.begin(moments, rows, cols)
	j.x = x[:rows*cols]
	j.sumGradients(cols, center, sum[:cols], squares[:cols])
}

// NormalizeSums sets a = sum of dy and b = sum of dy*(x-mean), by columns: what
// the gradients of a batch norm need. dy counts as 0 unless mask > 0 (mask nil:
// everywhere). The sums are float64; those of level Generic differ in the last
// bits, as they fuse no product.
func NormalizeSums(rows, cols int, x, dy, mask []float32, mean, a, b []float64) {
	a, b = a[:cols], b[:cols]
	if rows*cols == 0 {
		clear(a)
		clear(b)
		return
	}
	j := columnJobs.Get()
	j.begin(gradients, rows, cols)
	j.x, j.dy = x[:rows*cols], dy[:rows*cols]
	if mask != nil {
		j.mask = mask[:rows*cols]
	}
	j.sumGradients(cols, mean, a, b)
}

// sumGradients runs, gives the sums and j back.
func (j *columnJob) sumGradients(cols int, mean, a, b []float64) {
	for k := range j.center {
		j.center[k] = mean[k%cols]
	}
	j.do()
	for c := range a {
		a[c], b[c] = j.total(c, cols, 0), j.total(c, cols, 1)
	}
	j.end()
}

// NormalizeReLUSums is NormalizeSums with the mask that Normalize of x with these
// means, scales and shifts would give: it computes the outputs again, with the
// same bits, instead of reading them.
func NormalizeReLUSums(rows, cols int, x, dy []float32, mean, scale []float64, shift []float32, a, b []float64) {
	a, b = a[:cols], b[:cols]
	if rows*cols == 0 {
		clear(a)
		clear(b)
		return
	}
	j := columnJobs.Get()
	j.begin(reluGradients, rows, cols)
	j.x, j.dy = x[:rows*cols], dy[:rows*cols]
	w := j.width
	if cap(j.table) < 3*w {
		j.table = make([]float32, 3*w)
	}
	t := j.table[:3*w]
	j.mean, j.scale, j.bias = t[:w], t[w:2*w], t[2*w:]
	rounded(cols, mean, scale, shift, j.mean, j.scale, j.bias)
	repeatTo(j.mean, cols)
	repeatTo(j.scale, cols)
	repeatTo(j.bias, cols)
	j.sumGradients(cols, mean, a, b)
}

func (j *columnJob) begin(kind columnKind, rows, cols int) {
	j.level, j.kind, j.width = Current(), kind, wideSumRow(rows, cols)
	wide := ceilDiv(rows*cols, j.width)
	j.rows = max(columnRows, columnChunk/j.width, ceilDiv(wide, columnChunks))
	if n := 2 * j.width * ceilDiv(wide, j.rows); cap(j.sums) < n {
		j.sums = make([]float64, n)
	} else {
		j.sums = j.sums[:n]
	}
	if cap(j.center) < j.width {
		j.center = make([]float64, j.width)
	}
	j.center = j.center[:j.width]
}

// do runs and adds the sums of all chunks to the first one's.
func (j *columnJob) do() {
	par.Do(ceilDiv(len(j.x), j.rows*j.width), 1, j)
	sums := j.sums[:2*j.width]
	for at := len(sums); at < len(j.sums); at += len(sums) {
		for k, v := range j.sums[at : at+len(sums)] {
			sums[k] += v
		}
	}
}

func (j *columnJob) end() {
	j.x, j.dy, j.mask = nil, nil, nil
	columnJobs.Put(j)
}

// total adds the repeats of one column's first or second sum.
func (j *columnJob) total(c, cols, which int) float64 {
	var s float64
	for k := which*j.width + c; k < (which+1)*j.width; k += cols {
		s += j.sums[k]
	}
	return s
}

// Run does chunks [lo, hi).
func (j *columnJob) Run(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		first, second := j.sums[2*chunk*j.width:][:j.width], j.sums[(2*chunk+1)*j.width:][:j.width]
		clear(first)
		clear(second)
		at, end := chunk*j.rows*j.width, min((chunk+1)*j.rows*j.width, len(j.x))
		group := columnGroup
		if j.width <= 32 { // one stream whatever the rows
			group = j.rows
		}
		for at < end {
			rows, cols := min(group, (end-at)/j.width), j.width
			if rows == 0 {
				rows, cols = 1, end-at
			}
			j.add(at, rows, cols, first, second)
			at += rows * cols
		}
	}
}

func (j *columnJob) add(at, rows, cols int, first, second []float64) {
	n := rows * cols
	first, second, center := first[:cols], second[:cols], j.center[:cols]
	switch {
	case j.kind == sumsOfX:
		j.level.columnSums(rows, cols, j.x[at:at+n], first)
	case j.kind == moments:
		j.level.columnMoments(rows, cols, j.x[at:at+n], center, first, second)
	case j.kind == reluGradients:
		j.level.columnProductsReLU(rows, cols, j.x[at:at+n], j.dy[at:at+n], j.mean[:cols], j.scale[:cols], j.bias[:cols], center, first, second)
	default:
		j.level.columnProducts(rows, cols, j.x[at:at+n], j.dy[at:at+n], optional(j.mask, at, n), center, first, second)
	}
}
