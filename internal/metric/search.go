package metric

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
)

const (
	keyBudget    = 128 << 20 // bytes of keys held at a time
	minBlockRows = 16
	maxBlockRows = 512
)

// search ranks a gallery for each query, a block of queries at a time.
type search struct {
	d, ng   int
	x, g    []float32 // queries and gallery, scaled alike
	self    bool      // the gallery is the query set
	cosine  bool
	fine    bool      // counting begins with rows rounded to two bytes
	norm    []float32 // of gallery items: ||g||^2, or 1/||g|| for cosine
	query   []int32   // rows that count
	class   []int32   // class of each row of x among the gallery's, or -1
	members groups    // gallery items of each class
	except  *exclusion
	ks      []int
	scores  record.Scores
	near    int // neighbors to keep

	values    []float64 // (len(query), len(scores))
	neighbors []int32   // (len(query), near)

	lo    int       // first query of the block
	block []float32 // its vectors, where they do not lie together
	keys  []float32 // (rows, ng)
	spare par.Free[rowScratch]
}

func newSearch(x []float32, n, d int, labels []int32, o *RetrievalOptions) (*search, error) {
	s, err := plainSearch(d, o.K, o.Distance)
	if err != nil {
		return nil, err
	}
	s.self = o.Gallery == nil && o.GalleryLabels == nil
	if o.Neighbors < 0 {
		return nil, fmt.Errorf("%d neighbors requested", o.Neighbors)
	}
	if err := checkRows("embeddings", x, n, d, labels); err != nil {
		return nil, err
	}
	g, galleryLabels := x, labels
	if !s.self {
		g, galleryLabels = o.Gallery, o.GalleryLabels
		if err := checkRows("gallery embeddings", g, len(galleryLabels), d, galleryLabels); err != nil {
			return nil, err
		}
	}
	s.ng = len(galleryLabels)
	if s.except, err = o.Exclude.index(n, s.ng, s.self); err != nil {
		return nil, err
	}
	s.scores = retrievalScores(s.ks, s.self)
	s.near = min(o.Neighbors, s.ng)
	if s.self {
		s.near = min(s.near, s.ng-1)
	}
	if err := s.setQueries(labels, galleryLabels); err != nil {
		return nil, err
	}
	if s.cosine {
		x, g = directions(x, g, d)
	} else {
		x, g = centered(x, g, d)
	}
	scale := spaciousScale(max(kernel.MaxAbs(x), kernel.MaxAbs(g)), d)
	s.x = scaled(x, scale)
	s.g = s.x
	if !s.self {
		s.g = scaled(g, scale)
	}
	return s, s.setNorms()
}

// plainSearch is a search by options alone.
func plainSearch(d int, ks []int, distance string) (*search, error) {
	ks, err := checkK(ks)
	if err != nil {
		return nil, err
	}
	switch distance {
	case "", Euclidean, Cosine:
		return &search{d: d, ks: ks, cosine: distance == Cosine, fine: finePays(d)}, nil
	}
	return nil, fmt.Errorf("distance %q: choose %s or %s", distance, Euclidean, Cosine)
}

// setQueries finds the queries that have something to find.
func (s *search) setQueries(labels, galleryLabels []int32) error {
	c := classesOf(galleryLabels)
	s.members = c.groups()
	s.class = c.of
	if !s.self {
		s.class = c.places(labels)
	}
	least := 1
	if s.self {
		least = 2
	}
	for i, k := range s.class {
		if k >= 0 && c.size[k]-s.except.relevant(i, c.of, k) >= least {
			s.query = append(s.query, int32(i))
		}
	}
	if len(s.query) == 0 {
		return fmt.Errorf("%w: none of the %d queries has another item of its class to find (%d classes, %d gallery items)",
			ErrInput, len(labels), len(c.size), s.ng)
	}
	return nil
}

func (s *search) setNorms() error {
	var err error
	if s.norm, err = s.normsOf(s.g, nil, 0); err != nil || !s.cosine || s.self {
		return err
	}
	for _, i := range s.query {
		if err := s.directed(s.x[int(i)*s.d:(int(i)+1)*s.d], int(i)); err != nil {
			return err
		}
	}
	return nil
}

// normsOf appends the norms of gallery items from first on, whose vectors are g, to out.
func (s *search) normsOf(g, out []float32, first int) ([]float32, error) {
	n := len(g) / s.d
	out = slices.Grow(out, n)
	for i := range n {
		q := kernel.SumSquares(g[i*s.d : (i+1)*s.d])
		switch {
		case !s.cosine:
			out = append(out, float32(q))
		case q < leastSquare:
			return nil, noDirection("gallery", first+i)
		default:
			out = append(out, float32(1/math.Sqrt(q)))
		}
	}
	return out, nil
}

// directed returns an error if query i, x, has no direction.
func (s *search) directed(x []float32, i int) error {
	if kernel.SumSquares(x) < leastSquare {
		return noDirection("query", i)
	}
	return nil
}

// leastSquare is the squared length below which float32 products of a row are
// no longer exact to 24 bits.
const leastSquare = 0x1p-200

func noDirection(what string, row int) error {
	return fmt.Errorf("%w: %s row %d is zero, or too small to have a direction: use the distance %s", ErrInput, what, row, Euclidean)
}

func (s *search) run(ctx context.Context, told progress.Count) error {
	if s.counted() {
		if _, err := s.runCounting(ctx, told); err != nil {
			return fmt.Errorf("retrieval of %d queries stopped: %w", len(s.query), err)
		}
		return nil
	}
	rows := max(minBlockRows, min(maxBlockRows, keyBudget/4/s.ng))
	rows = min(rows, len(s.query))
	s.keys = pages.Make[float32](rows * s.ng)
	for s.lo = 0; s.lo < len(s.query); s.lo += rows {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("retrieval stopped after %d of %d queries: %w", s.lo, len(s.query), err)
		}
		b := min(rows, len(s.query)-s.lo)
		s.computeKeys(b)
		par.Do(b, 1, s)
		told.Tell(s.lo+b, len(s.query))
	}
	return nil
}

// computeKeys fills the keys of b queries from s.lo on: what is smaller is nearer.
func (s *search) computeKeys(b int) {
	x := s.vectors(s.query[s.lo : s.lo+b])
	if s.cosine {
		kernel.Gemm(false, true, b, s.ng, s.d, -1, x, s.d, s.g, s.d, 0, s.keys, s.ng)
		return
	}
	for i := range b {
		copy(s.keys[i*s.ng:(i+1)*s.ng], s.norm)
	}
	kernel.Gemm(false, true, b, s.ng, s.d, -2, x, s.d, s.g, s.d, 1, s.keys, s.ng)
}

// vectors returns those of queries, ascending rows: where they lie together, as nearly
// always, in place, since a block of long ones may be as large as all that is given.
func (s *search) vectors(queries []int32) []float32 {
	first, n := int(queries[0]), len(queries)
	if int(queries[n-1]) == first+n-1 {
		return s.x[first*s.d : (first+n)*s.d]
	}
	s.block = gather(s.block, s.x, s.d, queries)
	return s.block
}

// Run scores queries [lo, hi) of the block.
func (s *search) Run(lo, hi int) {
	w := s.spare.Get()
	defer s.spare.Put(w)
	m := len(s.scores)
	for i := lo; i < hi; i++ {
		keys := s.keys[i*s.ng : (i+1)*s.ng]
		if s.cosine {
			for j, v := range s.norm {
				keys[j] *= v
			}
		}
		q := s.lo + i
		row := s.query[q]
		self := int32(-1)
		if s.self {
			self = row
		}
		relevant, left := s.members.of(int(s.class[row])), s.except.of(int(row))
		if len(left) > 0 {
			relevant = w.exclude(keys, relevant, left)
		}
		w.rank(keys, relevant)
		w.score(s.ks, self, s.ng-len(left), s.values[q*m:(q+1)*m])
		if s.near > 0 {
			w.nearest(keys, self, s.neighbors[q*s.near:(q+1)*s.near])
		}
	}
}
