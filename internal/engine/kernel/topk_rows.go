package kernel

import (
	"fmt"

	"tercet/internal/par"
)

const (
	// PanelRows is the number of rows in a panel of PackedRows, a multiple of
	// every level's tile width.
	PanelRows = 32
	// packGroup is what the number of packed rows is filled up to a multiple of:
	// masks of rows then are whole words.
	packGroup = 64
	// dotRun is the number of products summed in registers at a time: a panel of
	// that many and the rows beside it move between the first and second cache.
	dotRun = 512
	// copied is the count of numbers up to which rows are copied, 40 MiB of them. More stay
	// where they are, and Dots transposes what it needs at a time: they do not stay in a
	// cache from one use to the next.
	copied = 10 << 20
)

// PackedRows holds rows of d numbers as the tiles read them: in panels of
// PanelRows rows, each transposed to (d, PanelRows), zeros after the last row.
// It is for products of many rows with the same ones, where package-level
// products would pack them each time, and where each block of products is used
// while it is in the cache. The zero value is empty.
type PackedRows struct {
	n, d  int
	data  []float32
	x     []float32 // the rows while they are being packed, or where they are not copied
	level Level
	spare par.Free[[PanelRows * dotRun]float32]
}

// Len returns the number of rows.
func (p *PackedRows) Len() int { return p.n }

// Cols returns Len rounded up to a multiple of 64: what Dots can be asked for.
func (p *PackedRows) Cols() int { return roundUp(p.n, packGroup) }

// Pack copies the n rows of x, d numbers each, on all threads. It uses memory of
// an earlier call again. More than 10,485,760 numbers are not copied: they must
// not change while they are in use.
func (p *PackedRows) Pack(n, d int, x []float32) {
	if n < 0 || d < 1 || len(x) != n*d {
		panic(fmt.Sprintf("kernel: packing (%d, %d): got %d numbers", n, d, len(x)))
	}
	p.n, p.d, p.x, p.level = n, d, x, Current()
	if n*d <= copied {
		p.copy()
	}
}

func (p *PackedRows) copy() {
	grow(&p.data, p.Cols()*p.d)
	par.Do(p.Cols()/PanelRows, max(1, 1<<15/(PanelRows*p.d)), p)
	p.x = nil
}

// Run packs panels [lo, hi); it is called by Pack.
func (p *PackedRows) Run(lo, hi int) {
	for j := lo; j < hi; j++ {
		p.panel(j, 0, p.d, p.data[j*PanelRows*p.d:][:PanelRows*p.d])
	}
}

// panel writes columns [q, q+k) of panel j to out.
func (p *PackedRows) panel(j, q, k int, out []float32) {
	rows := max(0, min(PanelRows, p.n-j*PanelRows))
	if rows < PanelRows {
		clear(out)
	}
	if rows > 0 {
		p.level.transpose(rows, k, p.x[j*PanelRows*p.d+q:], p.d, out, PanelRows)
	}
}

// Dots sets out[i*ld+j-lo] = alpha * a_i.x_j for the m rows of a, lda apart, and
// the packed rows x_j, lo <= j < hi, both multiples of PanelRows and at most
// Cols; products with rows from Len on are 0 (NaN where a is not finite). It runs
// on the calling goroutine alone.
//
// An element is a float32 sum in an order that depends on d and the level alone,
// and a_i.x_j has the same bits as x_j.a_i. Its error is at most
// DotError(d)*||a_i||*||x_j||*alpha, plus what underflows.
func (p *PackedRows) Dots(m int, a []float32, lda int, lo, hi int, alpha float32, out []float32, ld int) {
	if m < 1 || lo < 0 || hi > p.Cols() || lo >= hi || lo%PanelRows != 0 || hi%PanelRows != 0 || ld < hi-lo {
		panic(fmt.Sprintf("kernel: dots of %d rows with packed rows %d to %d of %d, stride %d", m, lo, hi, p.Cols(), ld))
	}
	s := p.level.shape()
	t := tileArgs{outer: 1, rsa: lda, csa: 1, rsb: PanelRows, ldc: ld, alpha: alpha, cols: s.wide}
	var room *[PanelRows * dotRun]float32
	if p.x != nil {
		room = p.spare.Get()
		defer p.spare.Put(room)
	}
	for q := 0; q < p.d; q += dotRun {
		t.k = min(dotRun, p.d-q)
		for j := lo; j < hi; j += s.wide {
			var b []float32
			if room == nil {
				b = p.data[j/PanelRows*PanelRows*p.d+q*PanelRows+j%PanelRows:]
			} else {
				if j%PanelRows == 0 {
					p.panel(j/PanelRows, q, t.k, room[:t.k*PanelRows])
				}
				b = room[j%PanelRows:]
			}
			p.level.tileColumn(&t, m, a[q:], b, out[j-lo:])
		}
		t.beta = 1
	}
}

// DotError returns a bound g of |computed - exact| <= g * sum |x_p*y_p| for
// float32 sums of d products in any order (Higham, Accuracy and Stability of
// Numerical Algorithms, 2002, eq. 3.5), with room for what is added in float32
// to such a sum once or twice.
func DotError(d int) float64 {
	du := float64(d+16) * 0x1p-24
	return 1.01 * du / (1 - min(du, 0.5))
}
