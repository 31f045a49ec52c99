package kernel

import (
	"fmt"
	"unsafe"

	"tercet/internal/par"
)

// DenseBF16 is a matrix W (k, n) rounded to bfloat16, in the order of tiles.
type DenseBF16 struct {
	K, N   int
	level  Level
	steps  int // of 32 of K
	panels int // of 32 columns
	w      []uint16
	job    denseJob
}

// NewDenseBF16 returns a matrix of zeros.
func NewDenseBF16(k, n int) (*DenseBF16, error) {
	if err := CheckBF16(); err != nil {
		return nil, err
	}
	d := &DenseBF16{K: k, N: n, level: Current(), steps: ceilDiv(k, 32), panels: ceilDiv(n, 32)}
	d.w = alignedBF16(d.steps * d.panels * 1024)
	d.job.d = d
	return d, nil
}

// Width returns the numbers in a row of A, a multiple of 32: what follows the first K must
// be finite.
func (d *DenseBF16) Width() int { return 32 * d.steps }

// Columns returns the numbers in a row of the product, a multiple of 32.
func (d *DenseBF16) Columns() int { return 32 * d.panels }

// Pack takes the numbers of W: its rows, ld apart, or with trans its columns.
func (d *DenseBF16) Pack(trans bool, w []float32, ld int) {
	if trans {
		par.Do(d.panels, 1, &densePack{d, w, ld, true})
	} else {
		par.Do(ceilDiv(d.K, 2), 16, &densePack{d, w, ld, false})
	}
}

type densePack struct {
	d     *DenseBF16
	w     []float32
	ld    int
	trans bool
}

// Run packs pairs of rows [lo, hi), or with trans panels [lo, hi).
func (p *densePack) Run(lo, hi int) {
	d := p.d
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&d.w[0])), len(d.w)/2)
	if !p.trans {
		zero := make([]float32, d.N)
		for r := lo; r < hi; r++ {
			even, odd := p.w[2*r*p.ld:][:d.N], zero
			if 2*r+1 < d.K {
				odd = p.w[(2*r+1)*p.ld:][:d.N]
			}
			for v := range d.panels {
				at := (v*d.steps*16 + r) * 32
				end := min(32*v+32, d.N)
				d.level.pairsBF16(even[32*v:end], odd[32*v:end], words[at:])
			}
		}
		return
	}
	// A column of a panel is a row of w: its pairs lie 32 words apart.
	row := make([]uint32, 16*d.steps)
	half := unsafe.Slice((*uint16)(unsafe.Pointer(&row[0])), 2*len(row))
	for v := lo; v < hi; v++ {
		to := words[v*d.steps*512:][:d.steps*512]
		for j := range min(32, d.N-32*v) {
			d.level.roundBF16(p.w[(32*v+j)*p.ld:][:d.K], half)
			for r, x := range row {
				to[32*r+j] = x
			}
		}
	}
}

// Sizes of the parts of a product: rows and the steps of K that are done for all of a
// task's columns before the next ones. They decide no bit.
const (
	denseRows  = 192
	denseSteps = 16
)

type denseJob struct {
	d           *DenseBF16
	m           int
	a           []uint16
	c           []float32
	down, group int
}

// Multiply computes C = A*W for the m rows of A, each d.Width() numbers, to rows of
// d.Columns() numbers. A and C have room for a multiple of 32 rows. Each number of C is one
// sum in the order of tiles, whatever m and the threads are.
func (d *DenseBF16) Multiply(m int, a []uint16, c []float32) {
	if m = roundUp(m, 32); len(a) < m*d.Width() || len(c) < m*d.Columns() {
		panic(fmt.Sprintf("kernel: DenseBF16: %d rows of %d and %d numbers, got %d and %d", m, d.Width(), d.Columns(), len(a), len(c)))
	}
	j := &d.job
	j.m, j.a, j.c = m, a, c
	j.down = ceilDiv(m, denseRows)
	j.group = ceilDiv(d.panels, max(1, min(d.panels, ceilDiv(2*par.Threads(), j.down))))
	par.Do(j.down*ceilDiv(d.panels, j.group), 1, j)
	j.a, j.c = nil, nil
}

// Run does tasks [lo, hi).
func (j *denseJob) Run(lo, hi int) {
	d := j.d
	for t := lo; t < hi; t++ {
		r0, p0 := t%j.down*denseRows, t/j.down*j.group
		strips := min(denseRows, j.m-r0) / 32
		for s := 0; s < d.steps; s += denseSteps {
			args := tilesArgs{
				runs: 1, steps: min(denseSteps, d.steps-s), strips: strips, panels: 1,
				a: (*byte)(unsafe.Pointer(&j.a[r0*d.Width()+32*s])), rsa: 2 * d.Width(), nexta: 64, below: 32 * d.Width(), stripa: 64 * d.Width(),
				ldc: 4 * d.Columns(), add: s > 0,
			}
			for p := p0; p < min(p0+j.group, d.panels); p++ {
				args.b = (*byte)(unsafe.Pointer(&d.w[(p*d.steps+s)*1024]))
				args.c = (*byte)(unsafe.Pointer(&j.c[r0*d.Columns()+32*p]))
				d.level.multiplyBF16(&args)
			}
		}
	}
}

// finishJob turns rows of a product into the rows of the next one's A.
type finishJob struct {
	level      Level
	x, bias    []float32
	relu       bool
	on, y      []uint16
	cols       int
	xRow, yRow int
}

var finishJobs par.Free[finishJob]

// Run does rows [lo, hi).
func (j *finishJob) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, y := j.x[i*j.xRow:][:j.cols], j.y[i*j.yRow:]
		switch {
		case j.on != nil:
			j.level.maskBF16(x, j.on[i*j.yRow:], y)
		case j.bias != nil:
			j.level.finishBF16(x, j.bias, j.relu, y)
		default:
			j.level.roundBF16(x, y)
		}
	}
}

// FinishBF16 sets rows of y to those of x plus bias, or to the larger of that and 0 where
// relu, rounded to bfloat16.
func FinishBF16(rows, cols int, x []float32, xRow int, bias []float32, relu bool, y []uint16, yRow int) {
	par.Once(&finishJobs, rows, max(1, elems/cols), finishJob{level: Current(), x: x, bias: bias[:cols], relu: relu, y: y, cols: cols, xRow: xRow, yRow: yRow})
}

// AddBias sets rows of y, which have no gaps, to those of x plus bias, or to the larger of
// that and 0 where relu.
func AddBias(rows, cols int, x []float32, xRow int, bias []float32, relu bool, y []float32) {
	l := Current()
	for i := range rows {
		row := y[i*cols:][:cols]
		l.add(x[i*xRow:][:cols], bias[:cols], row)
		if relu {
			finishRow(row, nil, true)
		}
	}
}

// RoundBF16 sets rows of y to those of x rounded to bfloat16.
func RoundBF16(rows, cols int, x []float32, xRow int, y []uint16, yRow int) {
	par.Once(&finishJobs, rows, max(1, elems/cols), finishJob{level: Current(), x: x, y: y, cols: cols, xRow: xRow, yRow: yRow})
}

// MaskBF16 sets rows of y to those of x rounded to bfloat16, or to 0 where on, which has the
// rows of y, is 0.
func MaskBF16(rows, cols int, x []float32, xRow int, on, y []uint16, yRow int) {
	par.Once(&finishJobs, rows, max(1, elems/cols), finishJob{level: Current(), x: x, on: on, y: y, cols: cols, xRow: xRow, yRow: yRow})
}
