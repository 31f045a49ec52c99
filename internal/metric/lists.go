package metric

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/record"
)

// Lists are items that n queries have found, K each, nearest first, in the order of
// queries; -1 stands for none.
type Lists struct {
	K     int
	Index []int32 // (n, K)
}

// Len is the number of queries.
func (l Lists) Len() int { return len(l.Index) / l.K }

// Of is the list of a query.
func (l Lists) Of(q int) []int32 { return l.Index[q*l.K : (q+1)*l.K] }

// DropOwn takes each query's own item out of its list, whose end becomes -1, and returns
// how many lists had it.
func (l Lists) DropOwn() int {
	dropped := 0
	for q := range l.Len() {
		list := l.Of(q)
		if i := slices.Index(list, int32(q)); i >= 0 {
			copy(list[i:], list[i+1:])
			list[l.K-1] = -1
			dropped++
		}
	}
	return dropped
}

// DropRepeated replaces items that a list has named before by -1, and returns the number
// of lists with such items.
func (l Lists) DropRepeated() int {
	lists := 0
	seen := map[int32]bool{}
	for q := range l.Len() {
		clear(seen)
		repeated := false
		for i, item := range l.Of(q) {
			if item >= 0 && seen[item] {
				l.Of(q)[i], repeated = -1, true
			}
			seen[item] = true
		}
		if repeated {
			lists++
		}
	}
	return lists
}

// ListScores are the scores of lists, without values: how many of the nearest they hold and,
// with labels, those of RetrieveLists; whole adds the scores that need lists as long as the
// largest class.
func ListScores(ks []int, labels, whole bool) record.Scores {
	out := nearestScores(ks)
	if labels {
		out = append(out, labelScores(ks, whole)...)
	}
	return out
}

func scoreOf(key, definition string) record.Score {
	return record.Score{Key: key, Value: record.Value{Definition: definition}}
}

func nearestScores(ks []int) (out record.Scores) {
	for _, k := range ks {
		out = append(out, scoreOf(fmt.Sprintf("nn_recall@%d", k), fmt.Sprintf("nn_recall@%d(ties-count)", k)))
	}
	return out
}

func labelScores(ks []int, whole bool) (out record.Scores) {
	for _, k := range ks {
		out = append(out, scoreOf(fmt.Sprintf("recall@%d", k), fmt.Sprintf("recall@%d(any)", k)))
	}
	for _, k := range ks {
		out = append(out, scoreOf(fmt.Sprintf("precision@%d", k), fmt.Sprintf("precision@%d", k)))
	}
	if whole {
		out = append(out, scoreOf("map@r", "map@r(pml)"), scoreOf("r_precision", "r_precision"))
	}
	return out
}

// NearestFound is the recall of lists against exact search: of the first k items of a list,
// those that are no farther than the k-th nearest item, divided by k. found are the
// distances of the items listed, (n, K), +Inf for none; exact are those of the nearest
// items, (n, depth), ascending. No k may exceed K or depth.
func NearestFound(ctx context.Context, found []float64, k int, exact []float64, depth int, ks []int, o Intervals) (record.Scores, error) {
	var values []float64
	for q := range len(found) / k {
		for _, at := range ks {
			n := 0
			for _, d := range found[q*k : q*k+at] {
				if d <= exact[q*depth+at-1] {
					n++
				}
			}
			values = append(values, float64(n)/float64(at))
		}
	}
	return Means(ctx, nearestScores(ks), values, o)
}

// RetrieveLists scores lists by labels as Retrieve scores whole rankings: recall@k and, if
// whole, map@r and r_precision by its definitions, precision@k: relevant items among the
// first k, divided by k. relevant is the number of items that each query has to find;
// queries that have none are not counted. With whole, no list is shorter than that number.
func RetrieveLists(ctx context.Context, l Lists, labels, gallery, relevant []int32, ks []int, whole bool, o Intervals) (*Retrieval, error) {
	r := &Retrieval{Scores: labelScores(ks, whole), Gallery: len(gallery)}
	for q := range l.Len() {
		if relevant[q] == 0 {
			r.Excluded++
			continue
		}
		r.Query = append(r.Query, int32(q))
		hit := func(item int32) bool { return item >= 0 && gallery[item] == labels[q] }
		hits := func(k int) (n float64) {
			for _, item := range l.Of(q)[:k] {
				if hit(item) {
					n++
				}
			}
			return n
		}
		for _, k := range ks {
			r.PerQuery = append(r.PerQuery, min(1, hits(k)))
		}
		for _, k := range ks {
			r.PerQuery = append(r.PerQuery, hits(k)/float64(k))
		}
		if !whole {
			continue
		}
		var n, sum float64
		for i, item := range l.Of(q)[:relevant[q]] {
			if hit(item) {
				n++
				sum += n / float64(i+1)
			}
		}
		r.PerQuery = append(r.PerQuery, sum/float64(relevant[q]), n/float64(relevant[q]))
	}
	if len(r.Query) == 0 {
		return nil, fmt.Errorf("%w: none of the %d queries has an item of its class to find", ErrInput, l.Len())
	}
	return r, r.average(ctx, o)
}

// RelevantOf is the number of gallery items of each query's class, the query itself left out
// if it is one of them.
func RelevantOf(labels, gallery []int32, self bool) []int32 {
	size := map[int32]int32{}
	for _, y := range gallery {
		size[y]++
	}
	out := make([]int32, len(labels))
	for q, y := range labels {
		if out[q] = size[y]; self {
			out[q]--
		}
	}
	return out
}
