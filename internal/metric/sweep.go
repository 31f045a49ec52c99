package metric

import (
	"context"
	"sync"
	"sync/atomic"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// A sweep forms the inner products of rows and columns, both rows of d numbers,
// in blocks that stay in the second cache while they are used. Within one set
// only blocks on and above the diagonal are formed, each for both of its sides:
// half of the multiplications.
//
// A stripe of columns is packed at a time; its tasks are blocks of rows.
const (
	blockRows  = 140 // a multiple of the rows of the widest tile
	blockCols  = 256
	stripeCols = 4 * blockCols
)

// block is a block of products of rows [i, i+m) and columns [j, j+n).
type block struct {
	i, m, j, n int
	both       bool      // it stands for its mirror image too
	dots       []float32 // (m, blockCols); what is beyond n is of no use
	bounds     bool      // dots are not below the products, from rounded rows
	mask       []uint64  // scratch of blockRows rows of blockCols bits
	side       []float32 // scratch, blockRows+blockCols
}

// pairUser uses blocks. Blocks of different rows come from several goroutines at
// once, those of the same rows from one at a time; lock is that of the block's
// columns, which other blocks may be using as columns at the same time.
type pairUser interface {
	use(b *block, lock *sync.Mutex)
}

type sweep struct {
	d         int
	rows      []float32 // (n, d)
	cols      []float32 // the same slice within one set
	self      bool
	mirror    bool // blocks stand for their mirror images too: rows and columns are parts of one set
	user      pairUser
	packed    kernel.PackedRows
	j         int // the stripe
	from      int // its first row
	locks     [stripeCols / blockCols]sync.Mutex
	scratches par.Free[block]

	// Where bounds are formed in place of products, from rows and columns rounded
	// to bytes. Users say by looseBounds that they gained nothing by some.
	byteRows, byteCols *kernel.ByteRows
	packedBytes        kernel.ByteColumns
	tried, loose       atomic.Int64

	// Where rows and columns rounded to two bytes come first.
	near               nearUser
	fineRows, fineCols *kernel.FineRows
	packedFine         kernel.FineColumns
}

// nearUser uses a block without its products, or reports false where it gains nothing by
// that. It is called as pairUser's use is.
type nearUser interface {
	useNear(b *block, lock *sync.Mutex) bool
}

// useBytes makes the sweep form bounds where that is faster, but for the first
// columns of a row. The rows must have safe squares.
func (s *sweep) useBytes() {
	if s.d > kernel.MaxByteDim {
		return
	}
	s.byteRows = new(kernel.ByteRows)
	s.byteRows.Quantize(len(s.rows)/s.d, s.d, s.rows)
	s.byteCols = s.byteRows
	if !s.self {
		s.byteCols = new(kernel.ByteRows)
		s.byteCols.Quantize(len(s.cols)/s.d, s.d, s.cols)
	}
}

// run does all blocks. told gets the share done of the total.
func (s *sweep) run(ctx context.Context, told progress.Count) error {
	nr, nc := len(s.rows)/s.d, len(s.cols)/s.d
	for s.j = 0; s.j < nc; s.j += stripeCols {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(stripeCols, nc-s.j)
		s.packed.Pack(n, s.d, s.cols[s.j*s.d:(s.j+n)*s.d])
		if s.byteCols != nil {
			s.packedBytes.Pack(s.byteCols, s.j, s.j+n)
		}
		if s.near != nil {
			s.packedFine.Pack(s.fineCols, s.j, s.j+n)
		}
		if s.self {
			// The square on the diagonal is formed in full, for its rows only,
			// before others use its columns.
			s.from = s.j
			par.Do(ceilDiv(n, blockRows), 1, s)
			s.from = 0
			par.Do(ceilDiv(s.j, blockRows), 1, s)
		} else {
			par.Do(ceilDiv(nr, blockRows), 1, s)
		}
		told.Tell(s.j+n, nc)
	}
	return nil
}

// Run does blocks of rows [lo, hi) against the stripe.
func (s *sweep) Run(lo, hi int) {
	b := s.scratches.Get()
	if b.dots == nil {
		b.dots = pages.Make[float32](blockRows * blockCols)
		b.mask = make([]uint64, blockRows*blockCols/64)
		b.side = make([]float32, blockRows+blockCols)
	}
	end := len(s.rows) / s.d
	if s.self && s.from == s.j {
		end = s.j + s.packed.Len()
	} else if s.self {
		end = s.j
	}
	b.both = s.mirror || s.self && s.from < s.j
	groups := ceilDiv(s.packed.Len(), blockCols)
	for t := lo; t < hi; t++ {
		b.i = s.from + t*blockRows
		b.m = min(blockRows, end-b.i)
		for v := range groups {
			g := (v + t) % groups // tasks begin at different columns: fewer wait
			c := g * blockCols
			b.j, b.n = s.j+c, min(blockCols, s.packed.Len()-c)
			if s.usedNear(b, &s.locks[g]) {
				continue
			}
			if s.boundsPay(b) {
				s.packedBytes.Bounds(1, s.byteRows, b.i, b.m, c, c+b.cols64(), b.dots, blockCols, nil)
			} else {
				s.products(b)
			}
			s.user.use(b, &s.locks[g])
		}
	}
	s.scratches.Put(b)
}

// products fills the block with products.
func (s *sweep) products(b *block) {
	c := b.j - s.j
	s.packed.Dots(b.m, s.rows[b.i*s.d:(b.i+b.m)*s.d], s.d, c, c+b.cols64(), 1, b.dots, blockCols)
	b.bounds = false
}

// boundsPay decides whether a block is formed of bounds. Users start from
// products, and go back to them when most blocks of bounds were loose. What is
// decided depends on timing, what users find must not.
func (s *sweep) boundsPay(b *block) bool {
	b.bounds = s.byteRows != nil && (b.both || !s.self && s.j > 0) && s.notLoose()
	if b.bounds {
		s.tried.Add(1)
	}
	return b.bounds
}

// notLoose reports whether most blocks that were tried gained by it.
func (s *sweep) notLoose() bool { return 2*s.loose.Load() <= s.tried.Load()+16 }

// usedNear reports whether a block was used without its products.
func (s *sweep) usedNear(b *block, lock *sync.Mutex) bool {
	if s.near == nil || !s.notLoose() {
		return false
	}
	s.tried.Add(1)
	if s.near.useNear(b, lock) {
		return true
	}
	s.loose.Add(1)
	return false
}

// looseBounds turns a block of bounds that exclude too little into products.
func (s *sweep) looseBounds(b *block) {
	s.loose.Add(1)
	s.products(b)
}

// cols64 is the number of columns formed, a multiple of 64.
func (b *block) cols64() int { return roundUp(b.n, 64) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, b int) int { return ceilDiv(a, b) * b }
