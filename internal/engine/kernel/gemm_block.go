package kernel

// Cache blocking. The innermost loops multiply a block of A by a panel of B:
//
//	k is cut into runs of at most blockK: a panel of B (blockK x 32 x 4 bytes,
//	48 KiB) and the rows of A beside it move between the first and second cache;
//	m into blocks of at most blockM rows: the block of A (252 KiB) stays in the
//	second cache while all panels pass;
//	n into runs of at most blockN columns: the packed run of B (3 MiB) stays in
//	the third cache while all blocks of A pass.
//
// blockM is a multiple of the rows of every level's tile.
const (
	blockK = 384
	blockM = 168
	blockN = 2048
)

// kRun returns the extent of the equal runs into which k is cut. It depends on
// k alone, since it decides the order of the sum.
func kRun(k int) int {
	runs := (k + blockK - 1) / blockK
	return (k + runs - 1) / runs
}

// view is a matrix in memory: element (i, p) is at data[i*rs+p*cs].
type view struct {
	data   []float32
	rs, cs int
}

func (v view) from(i, p int) view { v.data = v.data[i*v.rs+p*v.cs:]; return v }

// panels is a run of op(B) as the tiles read it: cut into panels of wide
// columns, the last one narrow where that is enough. Packed, the panels follow
// each other, each row-major on its own, filled up with zeros; direct, they lie
// in the rows of B itself.
type panels struct {
	data []float32
	ld   int // stride between rows when direct; 0 when packed
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
			for p := range k {
				*(*[32]float32)(out[p*32:]) = *(*[32]float32)(from.data[p*b.rs:])
			}
		case b.cs == 1:
			for p := range k {
				copy(out[p*width:], from.data[p*b.rs:][:cols])
			}
		default:
			l.transpose(cols, k, from.data, b.cs, out, width)
		}
	}
}

// multiply computes C = alpha*A*B + beta*C for a block of A (m, k) and all n
// columns of b.
func (l Level) multiply(m, n, k int, alpha float32, a view, b panels, beta float32, c []float32, ldc int, _ []float32) {
	s := l.shape()
	strips := (m + s.rows - 1) / s.rows
	t := tileArgs{k: k, outer: 1, rsa: a.rs, csa: a.cs, ldc: ldc, alpha: alpha, beta: beta}
	for j := 0; j < n; j += s.wide {
		t.cols = min(s.wide, n-j)
		bp := b.data[j:]
		t.rsb = b.ld
		if b.ld == 0 {
			t.rsb = s.wide
			if t.cols <= s.narrow {
				t.rsb = s.narrow
			}
			bp = b.data[j*k:]
		}
		for u := range strips {
			i, end := u*m/strips, (u+1)*m/strips // heights differ by 1 at most
			t.rows = end - i
			l.tile(&t, a.data[i*a.rs:], bp, c[i*ldc+j:])
		}
	}
}

// edgeSize is the size of the scratch that multiply once took.
const edgeSize = 1
