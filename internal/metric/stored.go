package metric

import (
	"context"
	"fmt"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// Rows are vectors that are read a range at a time, such as those of a file. Read fills out
// with rows from first on, as many as it holds; several goroutines may call it at once.
type Rows interface {
	Len() int
	Dim() int
	Read(first int, out []float32) error
}

// StoredOptions says what a Stored computes.
type StoredOptions struct {
	K        []int  // as in RetrievalOptions
	Distance string // as there
	// Queries are searched for in the gallery; nil searches for each gallery item among
	// all others. QueryLabels are their labels.
	Queries     Rows
	QueryLabels []int32
	// Memory bounds the bytes of queries and counts that are held at a time; 0 is 512 MiB.
	Memory int64
	// SaveEvery is after how many pairs of a query and an item counts are given to
	// Part.Save; 0 is 2^32, some ten seconds of work.
	SaveEvery int64
	// Progress, where set, is called with the rows of the first passes and their total.
	Progress progress.Count
}

// Stored is Retrieve of a gallery that need not fit into memory: all scores have the bits
// that Retrieve gives them, ties included.
//
// Queries are taken in chunks, whose borders depend on the data and the options alone. The
// counts of a chunk over parts of the gallery add up, in any order, to those over all of
// it: Count and Score are for work that is divided, Values does both. Where a set is searched
// for its own items and the counts of all fit into Memory, there is one chunk, and part
// [from, to) is the pairs whose later row is in it: each product is formed once.
//
// Memory is the options' Memory, twice at most, a sixteenth of it for gallery rows, and
// about 30 bytes for each row of labels.
type Stored struct {
	s     *search // without vectors
	g, x  Rows
	n     int // items that could be queries
	mean  []float64
	scale float32
	small bool // classes are small: ranks come from counting
	pairs bool // one chunk of all queries, whose parts are of pairs
	start []int
	room  int64
	block int   // bytes of gallery rows that are held at a time
	every int64 // as SaveEvery
}

// NewStored reads all rows, two or three times, for what a search needs to know before it
// begins. Errors are those of Retrieve, and of Read.
func NewStored(ctx context.Context, g Rows, labels []int32, o StoredOptions) (*Stored, error) {
	s, err := plainSearch(g.Dim(), o.K, o.Distance)
	if err != nil {
		return nil, err
	}
	t := &Stored{s: s, g: g, x: o.Queries, n: g.Len(), room: o.Memory}
	if t.room == 0 {
		t.room = 512 << 20
	}
	t.block, t.every = int(t.room/16), o.SaveEvery
	if t.every == 0 {
		t.every = 1 << 32
	}
	if len(labels) != g.Len() {
		return nil, fmt.Errorf("%w: %d embeddings but %d labels", ErrInput, g.Len(), len(labels))
	}
	queryLabels := labels
	if s.self = o.Queries == nil; s.self {
		t.x = g
	} else {
		t.n, queryLabels = t.x.Len(), o.QueryLabels
		if t.x.Dim() != s.d {
			return nil, fmt.Errorf("%w: queries have %d dimensions, and the gallery has %d", ErrInput, t.x.Dim(), s.d)
		}
		if len(queryLabels) != t.n {
			return nil, fmt.Errorf("%w: %d queries but %d labels", ErrInput, t.n, len(queryLabels))
		}
	}
	s.ng = g.Len()
	s.scores = retrievalScores(s.ks, s.self)
	if err := s.setQueries(queryLabels, labels); err != nil {
		return nil, err
	}
	t.small = s.counted()
	t.cutIntoChunks()
	return t, t.survey(ctx, o.Progress)
}

// cutBytes are what a counting holds for a cut.
const cutBytes = 16

// cutIntoChunks sets start: the first of s.query of each chunk, and their end.
func (t *Stored) cutIntoChunks() {
	if t.pairs = t.small && t.s.self && cutBytes*int64(t.s.cutBases()[t.n]) <= t.room; t.pairs {
		t.start = []int{0, len(t.s.query)}
		return
	}
	const mostSmall, mostLarge = 1 << 16, 1 << 12
	most, forCut := mostSmall, int64(cutBytes)
	if !t.small {
		most, forCut = mostLarge, 52
	}
	var bytes int64
	first := 0
	t.start = []int{0}
	for i, q := range t.s.query {
		need := 4*int64(t.s.d) + forCut*int64(len(t.s.members.of(int(t.s.class[q]))))
		if i > first && (i-first == most || bytes+need > t.room) {
			t.start, first, bytes = append(t.start, i), i, 0
		}
		bytes += need
	}
	t.start = append(t.start, len(t.s.query))
}

// Chunks is the number of chunks of queries.
func (t *Stored) Chunks() int { return len(t.start) - 1 }

// Queries are the places, among the queries that count, of those of a chunk.
func (t *Stored) Queries(chunk int) (lo, hi int) { return t.start[chunk], t.start[chunk+1] }

// Scores is the number of values of a query.
func (t *Stored) Scores() int { return len(t.s.scores) }

// CountsOf is the length of the counts of a chunk.
func (t *Stored) CountsOf(chunk int) int {
	n := 0
	for _, q := range t.s.query[t.start[chunk]:t.start[chunk+1]] {
		n += 2 * len(t.s.members.of(int(t.s.class[q])))
	}
	return n
}

// survey finds what rows are shifted and scaled by.
func (t *Stored) survey(ctx context.Context, told progress.Count) error {
	sides := []Rows{t.g}
	if !t.s.self {
		sides = append(sides, t.x)
	}
	total := 0
	for _, r := range sides {
		total += 3 * r.Len()
	}
	done := 0
	pass := func(r Rows, use func(x []float32)) error {
		return eachBlock(ctx, r, 0, r.Len(), t.block, func(_ int, x []float32) error {
			use(x)
			done += len(x) / t.s.d
			told.Tell(done, total)
			return nil
		})
	}
	var o offsets
	var largest float32
	for i, r := range sides {
		if err := pass(r, func(x []float32) {
			largest = max(largest, kernel.MaxAbs(x))
			if i == 0 && !t.s.cosine {
				o.addSums(x, t.s.d)
			}
		}); err != nil {
			return err
		}
	}
	if !t.s.cosine && largest <= safeToCenter {
		o.divide()
		if err := pass(t.g, func(x []float32) { o.addSpread(x, t.s.d) }); err != nil {
			return err
		}
		t.mean = o.shift()
	}
	if t.s.cosine || t.mean != nil {
		largest, t.scale = 0, 1
		for _, r := range sides {
			if err := pass(r, func(x []float32) { largest = max(largest, kernel.MaxAbs(t.prepared(x))) }); err != nil {
				return err
			}
		}
	}
	t.scale = spaciousScale(largest, t.s.d)
	told.Tell(total, total)
	return nil
}

// prepared are rows as they are multiplied.
func (t *Stored) prepared(x []float32) []float32 {
	if t.s.cosine {
		x = evened(x, t.s.d)
	} else if t.mean != nil {
		x = minus(x, t.mean)
	}
	return scaled(x, t.scale)
}

// eachBlock calls use with rows [from, to), so many bytes of them at a time. The rows are
// overwritten after use.
func eachBlock(ctx context.Context, r Rows, from, to, bytes int, use func(first int, x []float32) error) error {
	d := r.Dim()
	most := min(max(1, bytes/(4*d)), to-from)
	buf := pages.Make[float32](most * d)
	for first := from; first < to; first += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		x := buf[:min(most, to-first)*d]
		if err := readRows(r, first, x); err != nil {
			return err
		}
		if err := use(first, x); err != nil {
			return err
		}
	}
	return nil
}

// readRows reads rows from first on with all threads, and checks that they are finite.
func readRows(r Rows, first int, x []float32) error {
	const part = 2048
	d := r.Dim()
	n := len(x) / d
	errs := make([]error, ceilDiv(n, part))
	par.For(n, part, func(lo, hi int) {
		rows := x[lo*d : hi*d]
		err := r.Read(first+lo, rows)
		if i, ok := kernel.AllFinite(rows); err == nil && !ok {
			err = fmt.Errorf("%w: embeddings row %d column %d is %v: drop the row or look for divergence in training", ErrInput, first+lo+i/d, i%d, rows[i])
		}
		errs[lo/part] = err
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// gatherRows reads single rows of r into out, prepared.
func (t *Stored) gatherRows(r Rows, items []int32) ([]float32, error) {
	d := t.s.d
	out := pages.Make[float32](len(items) * d)
	const part = 64
	errs := make([]error, ceilDiv(len(items), part))
	par.For(len(items), part, func(lo, hi int) {
		for i := lo; i < hi && errs[lo/part] == nil; {
			n := 1 // rows that follow each other
			for i+n < hi && items[i+n] == items[i]+int32(n) {
				n++
			}
			errs[lo/part] = r.Read(int(items[i]), out[i*d:(i+n)*d])
			i += n
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return t.prepared(out), nil
}

// Result makes the result of the values of all queries that count.
func (t *Stored) Result(ctx context.Context, values []float64, o Intervals) (*Retrieval, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Retrieval{Query: t.s.query, Excluded: t.n - len(t.s.query), Gallery: t.s.ng, Scores: t.s.scores, PerQuery: values}
	return r, r.average(ctx, o)
}
