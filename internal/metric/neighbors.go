package metric

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/progress"
)

// NeighborOptions says what Neighbors looks for.
type NeighborOptions struct {
	// K is the number of neighbors of each query, at least 1.
	K int
	// Gallery (rows of d numbers) is searched in place of the queries' own set.
	Gallery []float32
	// Exclude says which items of Gallery do not count for a query; nil excludes none.
	Exclude *Exclusion
	// Self lets a query find itself within its own set, at distance 0.
	Self bool
	// Progress, where set, is called with the gallery items done and their total.
	Progress progress.Count
}

// NeighborTable is the result of Neighbors.
type NeighborTable struct {
	K int
	// Index is (n, K): gallery items, nearest first, ties by index; -1, at distance +Inf,
	// where Exclude leaves fewer.
	Index []int32
	// Distance is (n, K): the Euclidean distances, in float64 from the rows as
	// given.
	Distance []float64
}

// Neighbors finds the K nearest gallery items of each of the n rows of x, d
// numbers each, by Euclidean distance: exactly those of a float64 search through
// all pairs (squared differences summed as by kernel.SquaredDistanceLanes), equal
// distances in the order of the items.
//
// Products come from float32 blocks, within one set only from half of them; where
// the processor multiplies bytes faster, rows rounded to bytes first exclude what
// is too far by the inequality of Cauchy and Schwarz. An item is left out only
// where its distance exceeds the K-th by more than the error bound of what it was
// evaluated by, and what is left, little more than K items a query, is measured in
// float64. Rows without a difference beyond that bound are all measured, so that
// collapsed data take longer.
//
// The result has the same bits for any number of threads and at every kernel
// level. Memory beyond arguments and result: about 8*(K + max(21, K/4)) bytes a
// query, with K more by the most items that are excluded for one, a quarter of the
// arguments for the bytes, and a few MiB; once more the
// arguments where a common offset dominates them or their squares leave float32.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), K outside
// what there is to find, a canceled ctx.
func Neighbors(ctx context.Context, x []float32, n, d int, o NeighborOptions) (*NeighborTable, error) {
	if err := CheckMatrix(ErrInput, "embeddings", x, n, d); err != nil {
		return nil, err
	}
	self := o.Gallery == nil
	g, ng := x, n
	if !self {
		g, ng = o.Gallery, len(o.Gallery)/d
		if err := CheckMatrix(ErrInput, "gallery embeddings", g, ng, d); err != nil {
			return nil, err
		}
	}
	most := ng
	if self && !o.Self {
		most--
	}
	if o.K < 1 || o.K > most {
		return nil, fmt.Errorf("%w: %d neighbors of each query: there are 1 to %d to find", ErrInput, o.K, most)
	}
	except, err := o.Exclude.index(n, ng, self)
	if err != nil {
		return nil, err
	}
	s := newNearest(x, g, d, self, o.Self, min(most, o.K+except.most(n)))
	if kernel.HasByteDots() && d >= leastByteDim {
		s.sweep.useBytes()
	}
	if err := s.sweep.run(ctx, o.Progress); err != nil {
		return nil, fmt.Errorf("the search for neighbors stopped: %w", err)
	}
	return s.table().without(except, o.K), nil
}

// leastByteDim is the number of columns from which bounds by bytes are faster.
const leastByteDim = 32

// nearest is a search for neighbors: a user of blocks of products.
type nearest struct {
	sweep sweep
	self  bool // one set
	own   bool // a query finds itself
	k     int
	x, g  []float32 // as given
	scale float64   // squared distances of the sweep's rows are those of x times this
	// With key(q, g) = ||q-g||^2 - ||q||^2, a computed ||g||^2 - 2 q.g is within
	// unit*(||q||^2 + ||g||^2) + least of it.
	unit       float64
	rows, cols *sideNorms
	lists      lists
}

// sideNorms are the norms of the rows, or of the columns, of all products.
type sideNorms struct {
	square []float64 // ||.||^2
	half   []float32 // half of the least key at a product of 0; +Inf beyond the last
}

// least exceeds what underflow can do to a key.
const least = 0x1p-120

// slack is the error of a key beyond that of the sum of products, in units of
// ||q||^2 + ||g||^2: rounding of what is compared and kept, and of rows that were
// centered.
const slack = 32 * 0x1p-24

func newNearest(x, g []float32, d int, self, own bool, k int) *nearest {
	s := &nearest{self: self, own: own, k: k, x: x, g: g, unit: kernel.DotError(d) + slack}
	cx, cg := centered(x, g, d)
	scale := spaciousScale(max(kernel.MaxAbs(cx), kernel.MaxAbs(cg)), d)
	s.scale = float64(scale) * float64(scale)
	s.sweep = sweep{d: d, rows: scaled(cx, scale), self: self, user: s}
	s.sweep.cols = s.sweep.rows
	if !self {
		s.sweep.cols = scaled(cg, scale)
	}
	s.rows = s.norms(s.sweep.rows)
	s.cols = s.rows
	if !self {
		s.cols = s.norms(s.sweep.cols)
	}
	s.lists.init(s, len(x)/d)
	return s
}

func (s *nearest) norms(x []float32) *sideNorms {
	d := s.sweep.d
	n := len(x) / d
	v := &sideNorms{squares(x, n, d), make([]float32, n+blockCols)}
	for i := range v.half {
		v.half[i] = float32(math.Inf(1))
		if i < n {
			v.half[i] = float32((float64(v.square[i]*(1-s.unit)) - least) / 2)
		}
	}
	return v
}
