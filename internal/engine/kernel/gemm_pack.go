package kernel

import "tercet/internal/par"

// panels is a run of op(B) as the tiles read it: cut into panels of wide
// columns, the last one narrow where that is enough. Packed, the panels follow
// each other, each row-major on its own; direct, they lie in the rows of B
// itself.
type panels struct {
	data []float32
	ld   int // stride between rows when direct; 0 when packed
}

// panel returns the panel of cols columns from column j on, of k rows, and the
// stride of its rows.
func (p panels) panel(s tileShape, j, cols, k int) (b []float32, rsb int) {
	switch {
	case p.ld != 0:
		return p.data[j:], p.ld
	case cols <= s.narrow:
		return p.data[j*k:], s.narrow
	default:
		return p.data[j*k:], s.wide
	}
}

// packedCols returns the number of columns that n columns take when packed.
func (s tileShape) packedCols(n int) int {
	full := n / s.wide * s.wide
	switch rest := n - full; {
	case rest == 0:
		return full
	case rest <= s.narrow:
		return full + s.narrow
	default:
		return full + s.wide
	}
}

// pack writes panels [lo, hi) of b (k, n) to dst, which holds all of them.
func (l Level) pack(dst []float32, k, n int, b view, lo, hi int) {
	s := l.shape()
	end := min(hi*s.wide, n)
	for j := lo * s.wide; j < end; j += s.wide {
		cols := min(s.wide, n-j)
		width := s.wide
		if cols <= s.narrow {
			width = s.narrow
		}
		out := dst[j*k:]
		if cols < width {
			clear(out[:width*k])
		}
		from := b.from(0, j)
		switch {
		case b.cs == 1 && cols == s.wide && l != Generic:
			panels := l.packRows(k, (end-j)/s.wide, from.data, b.rs, out)
			j += (panels - 1) * s.wide
		case b.cs == 1:
			for p := range k {
				copy(out[p*width:], from.data[p*b.rs:][:cols])
			}
		default:
			l.transpose(cols, k, from.data, b.cs, out[:width*k], width)
		}
	}
}

// copiesWell reports whether a block of A of k steps that meets n columns is better copied
// than read in place: where the rows of a tile (with transposed storage, the
// steps of k) would lie in the same few sets of the first cache, where with
// short steps each would need another page's address, and where it is turned.
func (a view) copiesWell(s tileShape, k, n int) bool {
	ld := max(a.rs, a.cs)
	return n > 16 && (ld%pageNumbers == 0 || a.cs >= 256 && s.wide < 32) || n >= 384 && a.cs > 1 && ld%blocks.crowded == 0 ||
		a.cs > 1 && s.wide <= lineNumbers && k >= turnedSteps && n >= turnedColumns
}

// A strip of a transposed A takes a line for each step of k, of which tiles with few rows use
// six numbers: with many steps, a panel of B does not stay in the first cache beside it. From
// these numbers on, turning a block so that its rows are rows in memory pays for such tiles;
// with copiedColumns columns it takes no longer than a copy.
const (
	turnedSteps   = 160
	turnedColumns = 128
	copiedColumns = 96
)

// blockA returns a block of A as tiles of shape s shall read it: in place, or copied, by
// functions of level l, to rows an odd number of cache lines apart.
func (w *gemmScratch) blockA(l Level, s tileShape, a view, m, k, n int) view {
	if !a.copiesWell(s, k, n) {
		return a
	}
	if a.cs != 1 && s.wide <= lineNumbers && n >= copiedColumns {
		pitch := oddLines(k)
		grow(&w.a, m*pitch)
		l.transpose(k, m, a.data, a.cs, w.a, pitch)
		return view{w.a, pitch, 1}
	}
	rows, cols, ld := m, k, a.rs
	if a.cs != 1 {
		rows, cols, ld = k, m, a.cs
	}
	pitch := oddLines(cols)
	grow(&w.a, rows*pitch)
	for i := range rows {
		copy(w.a[i*pitch:], a.data[i*ld:][:cols])
	}
	if a.cs == 1 {
		return view{w.a, pitch, 1}
	}
	return view{w.a, 1, pitch}
}

// oddLines rounds up to an odd number of cache lines of 16 numbers.
func oddLines(n int) int { return (n+15)/16*16 | 16 }

// On several threads, half of B or more was written by other cores, mostly in the step
// before: by the optimizer or as an output of a layer. A tile asks for few of its lines at a
// time, and each takes some hundred nanoseconds to come from another core. So every thread
// first reads all of B once, in a loop that asks for many lines at a time.

const (
	// fetchedB is how many numbers of B are read so at most: they have to stay in the second
	// cache until the tiles read them.
	fetchedB = 3 << 16
	// fetchedStrips is for how many strips of A of each thread this pays.
	fetchedStrips = 4
	lineNumbers   = 16
)

// fetches reports whether each thread reads B before it multiplies.
func (g *gemmJob) fetches() bool {
	t := par.Threads()
	return g.parallel && t > 1 && g.direct && g.k*g.n <= fetchedB && g.strips >= fetchedStrips*t
}

// fetch lets the calling thread read B, if its task is among the first that begin: these are
// of different threads.
func (g *gemmJob) fetch() {
	if g.fetching && g.begun.Add(1) <= int64(par.Threads()) {
		readLines(g.k, g.n, g.b.data, g.b.rs)
	}
}

// readLines reads a number of each cache line of rows that are ld apart, and returns what it
// can of them, since the compiler would drop a loop without a result.
//
//go:noinline
func readLines(rows, cols int, x []float32, ld int) float32 {
	var s0, s1, s2, s3 float32 // four, since an addition waits for the one before it
	for i := range rows {
		row := x[i*ld:][:cols]
		j := 0
		for ; j+3*lineNumbers < len(row); j += 4 * lineNumbers {
			s0 += row[j]
			s1 += row[j+lineNumbers]
			s2 += row[j+2*lineNumbers]
			s3 += row[j+3*lineNumbers]
		}
		for ; j < len(row); j += lineNumbers {
			s0 += row[j]
		}
	}
	return s0 + s1 + s2 + s3
}
