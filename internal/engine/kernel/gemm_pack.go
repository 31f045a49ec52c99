package kernel

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
	for j := lo * s.wide; j < min(hi*s.wide, n); j += s.wide {
		cols := min(s.wide, n-j)
		width := s.wide
		if cols <= s.narrow {
			width = s.narrow
		}
		out := dst[j*k:][:width*k]
		if cols < width {
			clear(out)
		}
		from := b.from(0, j)
		switch {
		case b.cs == 1 && cols == 32:
			packRows(k, from.data, b.rs, out)
		case b.cs == 1:
			for p := range k {
				copy(out[p*width:], from.data[p*b.rs:][:cols])
			}
		default:
			l.transpose(cols, k, from.data, b.cs, out, width)
		}
	}
}

// copiesWell reports whether a block of A that meets n columns is better copied
// than read in place: where the rows of a tile (with transposed storage, the
// steps of k) would lie in the same few sets of the first cache, and where with
// short steps each would need another page's address.
func (a view) copiesWell(s tileShape, n int) bool {
	ld := max(a.rs, a.cs)
	return n > 16 && (ld%pageNumbers == 0 || a.cs >= 256 && s.wide < 32) || n >= 384 && a.cs > 1 && ld%blocks.crowded == 0
}

// blockA returns a block of A as the tiles shall read it: in place, or copied
// to rows an odd number of cache lines apart.
func (w *gemmScratch) blockA(s tileShape, a view, m, k, n int) view {
	if !a.copiesWell(s, n) {
		return a
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
