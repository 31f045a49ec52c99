package kernel

// tileArgs are one tile of C and what it is made of. With B's row p of outer
// step o at b[o*nextb+p*rsb:] and A's element of row i at a[o*nexta+i*rsa+p*csa],
// element (i, j) becomes
//
//	s := float32(0)
//	for o := range outer {
//		for p := range k {
//			s = fma(a[o*nexta+i*rsa+p*csa], b[o*nextb+p*rsb+j], s)
//		}
//	}
//	v := alpha * s
//	if beta != 0 {
//		v = fma(beta, c[i*ldc+j], v)
//	}
//	if bias != nil {
//		v += bias[j]
//	}
//	if relu && v <= 0 {
//		v = 0
//	}
//	c[i*ldc+j] = v
//
// for i < rows and j < cols; level Generic multiplies and adds in two steps.
// The bits of an element depend on its operands and the level alone. Nothing
// beyond column cols is read or written. Rows and steps of A may overlap.
//
// rows is 1 to the shape's rows, cols 1 to its wide; k and outer are at least 1,
// no stride is negative.
type tileArgs struct {
	rows, k, outer  int
	a               *float32
	rsa, csa, nexta int
	b               *float32
	rsb, nextb      int
	c               *float32
	ldc             int
	alpha, beta     float32
	cols            int
	bias            *float32 // nil, or cols numbers
	relu            bool

	// Where tiles is more than 1, so many tiles are computed, one after the other: for each
	// next one, the pointers move by these numbers.
	tiles                         int
	stepa, stepb, stepc, stepbias int
}

// tileShape is the register tile of a level: at most rows rows, and wide
// columns, of which a call with at most narrow computes only those.
type tileShape struct{ rows, wide, narrow int }

// tile points t at the beginnings of a, b and c and computes it, or its tiles, after checking
// that they stay within them.
func (l Level) tile(t *tileArgs, a, b, c []float32) {
	o, p, i, n := t.outer-1, t.k-1, t.rows-1, max(t.tiles, 1)-1
	if o|p|i|(t.cols-1)|t.rsa|t.csa|t.nexta|t.rsb|t.nextb|t.ldc|t.stepa|t.stepb|t.stepc|t.stepbias < 0 {
		panic("kernel: tile: negative size or stride")
	}
	_ = a[n*t.stepa+o*t.nexta+i*t.rsa+p*t.csa]
	_ = b[n*t.stepb+o*t.nextb+p*t.rsb+t.cols-1]
	_ = c[n*t.stepc+i*t.ldc+t.cols-1]
	t.a, t.b, t.c = &a[0], &b[0], &c[0]
	l.tileAt(t)
}

// tileColumn computes t's columns of so many rows, in tiles whose heights differ by 1 at most.
func (l Level) tileColumn(t *tileArgs, rows int, a, b, c []float32) {
	if rows < 1 {
		return
	}
	strips := ceilDiv(rows, l.shape().rows)
	low, higher := rows/strips, rows%strips
	if higher > 0 {
		t.rows = low + 1
		l.tilesDown(t, higher, a, b, c)
		a, c = a[higher*t.stepa:], c[higher*t.stepc:]
	}
	t.rows = low
	l.tilesDown(t, strips-higher, a, b, c)
}

// tilesDown computes so many tiles of t.rows rows, one below the other.
func (l Level) tilesDown(t *tileArgs, tiles int, a, b, c []float32) {
	t.tiles, t.stepa, t.stepb, t.stepc, t.stepbias = tiles, t.rows*t.rsa, 0, t.rows*t.ldc, 0
	l.tile(t, a, b, c)
	t.tiles = 1
}

// tileRow computes so many tiles side by side, whose panels of B begin step apart.
func (l Level) tileRow(t *tileArgs, tiles, step int, a, b, c []float32) {
	t.tiles, t.stepa, t.stepb, t.stepc, t.stepbias = tiles, 0, step, t.cols, 0
	if t.bias != nil {
		t.stepbias = t.cols
	}
	l.tile(t, a, b, c)
	t.tiles = 1
}
