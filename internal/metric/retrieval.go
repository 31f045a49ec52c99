package metric

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/progress"
	"tercet/internal/record"
)

// Names of the distances of RetrievalOptions.
const (
	Euclidean = "euclidean"
	Cosine    = "cosine"
)

// RetrievalOptions says what Retrieve computes. The zero value is recall at 1,
// 2, 4 and 8 and all other scores, by Euclidean distance within one set, with
// bootstrap intervals.
type RetrievalOptions struct {
	// K lists the k of recall@k, each at least 1. Nil means 1, 2, 4, 8.
	K []int
	// Distance is Euclidean ("" too) on the vectors as given, or Cosine.
	Distance string
	// Gallery (rows of d numbers) and GalleryLabels are searched in place of the
	// queries' own set; then no item is excluded as a query's self, but those of Exclude.
	Gallery       []float32
	GalleryLabels []int32
	Exclude       *Exclusion // nil excludes none
	// Neighbors asks for that many nearest gallery items of each query.
	Neighbors int
	// Intervals sets the 95 % intervals; see Intervals.
	Intervals Intervals
	// Progress, where set, is called with the queries done and their total.
	Progress progress.Count
}

// Retrieval is the result of Retrieve. Its JSON is the object of Scores.
type Retrieval struct {
	Scores record.Scores
	// Query holds the rows that counted as queries, ascending. The others, of
	// number Excluded, have no other item of their class to find.
	Query    []int32
	Excluded int
	Gallery  int // number of gallery items, a query's self included
	// PerQuery is (len(Query), len(Scores)), row-major: each query's own value
	// of each score, of which the score is the mean.
	PerQuery []float64
	// Neighbors is (len(Query), NeighborCount): gallery items, nearest first,
	// ties by index, the query's self left out by index; -1 where Exclude leaves fewer.
	Neighbors     []int32
	NeighborCount int
}

// MarshalJSON writes r.Scores.
func (r *Retrieval) MarshalJSON() ([]byte, error) { return r.Scores.MarshalJSON() }

// Retrieve lets each of the n rows of x (d numbers each) search the other rows,
// or o.Gallery, and scores the ranking by labels.
//
// The query's self is left out by its index. A query without any other item of
// its class, or with none that Exclude leaves, is not counted. R is the number of relevant items, those of the
// query's class; rank counts from 1; P(i) is the precision of the first i. Keys
// and definitions, each averaged over queries:
//
//	recall@k  recall@k(any)        1 if a relevant item is among the first k
//	map       map(full)            mean of P(rank) over all relevant items
//	map@r     map@r(pml)           sum of P(rank) over relevant items with rank <= R, divided by R
//	r_precision  r_precision       relevant items with rank <= R, divided by R
//	mrr       mrr                  1 / rank of the first relevant item, over all ranks
//	map@10    map@10(robrank)      sum of P(rank) over relevant items with rank <= 10, divided by 10
//	triplet_error  triplet_error(ties-half)  share of the pairs of a relevant and an irrelevant item of
//	          which the irrelevant one is nearer; equally near, it counts half
//
// triplet_error is the share of wrong triplets with the query as anchor, and the one
// score that is better when it is lower; items all in one place have 1/2. Without an
// irrelevant item it is 0.
//
// Within one set, the keys recall@k(position-masked), map(position-masked) and
// map@10(position-masked) repeat these as robrank publishes them: the query
// stays in the ranking and whatever comes first is dropped, which differs where
// an item ranks before the query itself. They are no better scores: they are
// there to compare with published ones.
//
// Ranking uses float32 keys, ||g||^2 - 2 q.g for Euclidean (their error is about
// sqrt(d) 2^-24 (||q||^2 + ||g||^2), so items whose squared distances differ by
// less may swap; where a common offset dominates, the gallery's mean is subtracted
// first) and -q.g/||g|| for cosine. Equal keys are ordered by index.
// Where no neighbors are asked for and no class has more than 32 items, ranks
// come from counting in blocks of products, within one set from half of them.
// The result has the same bits for any number of threads. Memory beyond the
// arguments is at most about 128 MiB, or 16 rows of keys, or 20 bytes for each
// item of the largest class and each query, plus what the result holds.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), a zero row
// under cosine, no query left to count, a canceled ctx.
func Retrieve(ctx context.Context, x []float32, n, d int, labels []int32, o RetrievalOptions) (*Retrieval, error) {
	if err := o.Intervals.check(); err != nil { // before the work, not after it
		return nil, err
	}
	s, err := newSearch(x, n, d, labels, &o)
	if err != nil {
		return nil, err
	}
	r := &Retrieval{Query: s.query, Excluded: n - len(s.query), Gallery: s.ng, Scores: s.scores, NeighborCount: s.near}
	s.values = make([]float64, len(s.query)*len(s.scores))
	s.neighbors = make([]int32, len(s.query)*s.near)
	if err := s.run(ctx, o.Progress); err != nil {
		return nil, err
	}
	r.PerQuery, r.Neighbors = s.values, s.neighbors
	return r, r.average(ctx, o.Intervals)
}

// average fills the scores with the means of PerQuery, and their intervals.
func (r *Retrieval) average(ctx context.Context, o Intervals) error {
	m := len(r.Scores)
	for q := range r.Query {
		for i, v := range r.PerQuery[q*m : (q+1)*m] {
			r.Scores[i].Value.Value += v
		}
	}
	for i := range r.Scores {
		r.Scores[i].Value.Value /= float64(len(r.Query))
	}
	return o.of(r.Query).add(ctx, r.Scores, r.PerQuery, nil)
}

// retrievalScores lists the scores in the order in which scoreRow writes them.
func retrievalScores(ks []int, self bool) record.Scores {
	var s record.Scores
	add := func(key, definition string) {
		s = append(s, record.Score{Key: key, Value: record.Value{Definition: definition}})
	}
	for _, k := range ks {
		add(fmt.Sprintf("recall@%d", k), fmt.Sprintf("recall@%d(any)", k))
	}
	add("map", "map(full)")
	add("map@r", "map@r(pml)")
	add("r_precision", "r_precision")
	add("mrr", "mrr")
	add("map@10", "map@10(robrank)")
	add("triplet_error", "triplet_error(ties-half)")
	if self {
		for _, k := range ks {
			id := fmt.Sprintf("recall@%d(position-masked)", k)
			add(id, id)
		}
		add("map(position-masked)", "map(position-masked)")
		add("map@10(position-masked)", "map@10(robrank,position-masked)")
	}
	return s
}

func checkK(ks []int) ([]int, error) {
	if ks == nil {
		return []int{1, 2, 4, 8}, nil
	}
	for i, k := range ks {
		if k < 1 {
			return nil, fmt.Errorf("recall@%d: k must be at least 1", k)
		}
		if slices.Contains(ks[:i], k) {
			return nil, fmt.Errorf("recall@%d is requested twice", k)
		}
	}
	return ks, nil
}
