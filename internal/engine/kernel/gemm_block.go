package kernel

// Cache blocking. The innermost loops multiply a block of A by a run of B:
//
//	k is cut into runs of at most blockK;
//	m into blocks of A, n into pieces of panels: both stay in the second cache
//	while each strip of A meets each panel of B. A panel of at most firstB
//	numbers (24 KiB) stays in the first cache while all strips pass;
//	n into runs of columns, and the runs of k into groups: a group of B is packed
//	at a time and stays in a cache while all blocks of A pass.
const (
	blockK = 384
	firstB = 3 << 11
)

// The first caches of both vendors have 64 sets; AMD's have 8 ways, Intel's 8 to 12.
const (
	firstSets = 64
	firstWays = 8
)

// blocking is how products are cut for the caches. It decides no bit.
type blocking struct {
	rows    int // of a block of A at most, a multiple of the rows of every level's tile
	piece   int // numbers in a piece of B
	columns int // in a run at most
	packed  int // numbers of B in a group, which all threads read; one run of k is packed at least
	crowded int // a transposed A whose rows lie a multiple of this apart is copied
	// From this many numbers on, B does not stay in the second cache beside the rest: its
	// panels, read in place, come from a slow third cache. 0: the third cache is fast.
	inPlace int
}

// With a second cache of 1 MiB (Zen 4), A's block takes 252 KiB of it, a piece of B
// 512 KiB, and groups of 5 MiB lie in the third cache. With 2 MiB (Intel from Sapphire
// Rapids on, whose third cache is slow) the second one holds all that is packed. With less
// than 1 MiB all are smaller; this was measured with 512 KiB (Zen 3, level avx2).
var (
	tinyCache  = blocking{rows: 84, piece: 1 << 16, columns: 2048, packed: 1 << 18, crowded: pageNumbers}
	smallCache = blocking{rows: 168, piece: 1 << 17, columns: 2048, packed: 5 << 18, crowded: pageNumbers}
	largeCache = blocking{rows: 168, piece: 1 << 18, columns: 512, packed: 1 << 18, crowded: 128, inPlace: 3 << 17}
)

var blocks = blockingFor(secondCache())

func blockingFor(secondCache int) blocking {
	switch {
	case secondCache >= 2<<20:
		return largeCache
	case 0 < secondCache && secondCache < 1<<20:
		return tinyCache
	}
	return smallCache
}

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

func (v view) transposed() view { return view{v.data, v.cs, v.rs} }

// triangle is the part of a square C that a product computes.
type triangle int8

const (
	whole triangle = iota
	upper          // on and above the diagonal
	lower          // on and below it
)

// block is the product of a block of A (m, k) and n columns of B:
//
//	C = alpha*A*B + beta*C, then + bias (n numbers, where not nil), then the
//	larger of that and 0 (where relu).
//
// Of a triangle, only its elements are written; diag is then the number of C's
// first row minus that of its first column, and edge room for maxTile numbers.
type block struct {
	m, n, k     int
	alpha, beta float32
	a           view
	b           panels
	c           []float32
	ldc         int
	bias        []float32
	relu        bool
	part        triangle
	diag        int
	edge        []float32
}

// multiplyBlock runs the tiles of x: for as many panels of B as stay in the
// second cache, and for each strip of A, all of those panels.
func (l Level) multiplyBlock(x *block) {
	s := l.shape()
	columns := s.wide
	if x.k*s.wide > firstB {
		columns *= max(1, blocks.piece/(x.k*s.wide))
	}
	t := tileArgs{k: x.k, outer: 1, rsa: x.a.rs, csa: x.a.cs, ldc: x.ldc, alpha: x.alpha, beta: x.beta, relu: x.relu}
	for j := 0; j < x.n; j += columns {
		if x.part != whole {
			l.multiplyTriangle(&t, x, j, min(j+columns, x.n))
		} else {
			l.multiplyPiece(&t, x, j, min(j+columns, x.n))
		}
	}
}

// panel sets t to the panel of cols columns from column j on, and returns it.
func (x *block) panel(t *tileArgs, s tileShape, j, cols int) (b []float32) {
	t.cols = cols
	b, t.rsb = x.b.panel(s, j, cols, x.k)
	if x.bias != nil {
		t.bias = &x.bias[j : j+cols][0]
	}
	return b
}

// multiplyPiece computes columns [j0, j1).
func (l Level) multiplyPiece(t *tileArgs, x *block, j0, j1 int) {
	s := l.shape()
	if j1-j0 <= s.wide {
		l.tileColumn(t, x.m, x.a.data, x.panel(t, s, j0, j1-j0), x.c[j0:])
		return
	}
	strips, panels := ceilDiv(x.m, s.rows), (j1-j0)/s.wide
	step, full := s.wide, j0+panels*s.wide
	if x.b.ld == 0 {
		step *= x.k
	}
	end := 0
	for u := range strips {
		i := end
		end = (u + 1) * x.m / strips // heights differ by 1 at most
		t.rows = end - i
		a, c := x.a.data[i*x.a.rs:], x.c[i*x.ldc:]
		l.tileRow(t, panels, step, a, x.panel(t, s, j0, s.wide), c[j0:])
		if full < j1 {
			l.tile(t, a, x.panel(t, s, full, j1-full), c[full:])
		}
	}
}

// multiplyTriangle is multiplyPiece for a part of C.
func (l Level) multiplyTriangle(t *tileArgs, x *block, j0, j1 int) {
	s := l.shape()
	strips, end := ceilDiv(x.m, s.rows), 0
	for u := range strips {
		i := end
		end = (u + 1) * x.m / strips
		t.rows = end - i
		for j := j0; j < j1; j += s.wide {
			b := x.panel(t, s, j, min(s.wide, x.n-j))
			// The tile's columns minus its rows, from the lowest to the highest.
			low, high := j-(end-1)-x.diag, j+t.cols-1-i-x.diag
			switch {
			case x.part == upper && high < 0 || x.part == lower && low > 0:
			case x.part == upper && low < 0 || x.part == lower && high > 0:
				l.tileOnDiagonal(t, x, i, j, b)
			default:
				l.tile(t, x.a.data[i*x.a.rs:], b, x.c[i*x.ldc+j:])
			}
		}
	}
}

// maxTile is the number of elements of the largest tile.
const maxTile = 14 * 32

// tileOnDiagonal computes the tile at (i, j) of x beside C and copies the
// triangle's part of it.
func (l Level) tileOnDiagonal(t *tileArgs, x *block, i, j int, b []float32) {
	u, edge := *t, x.edge
	u.ldc = t.cols
	// Row r holds columns [from, to) of the triangle.
	part := func(r int) (from, to int) {
		d := i + r + x.diag - j
		if x.part == upper {
			return min(max(0, d), t.cols), t.cols
		}
		return 0, max(0, min(d+1, t.cols))
	}
	if x.beta != 0 {
		for r := range t.rows {
			from, to := part(r)
			copy(edge[r*u.ldc+from:r*u.ldc+to], x.c[(i+r)*x.ldc+j+from:])
		}
	}
	l.tile(&u, x.a.data[i*x.a.rs:], b, edge)
	for r := range t.rows {
		from, to := part(r)
		copy(x.c[(i+r)*x.ldc+j+from:], edge[r*u.ldc+from:r*u.ldc+to])
	}
}
