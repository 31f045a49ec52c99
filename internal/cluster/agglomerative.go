package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/text"
)

// AgglomerativeOptions sets Agglomerative. Exactly one of K and Threshold is set.
type AgglomerativeOptions struct {
	Linkage   string  // "average", "complete" or "ward"
	K         int     // clusters, 1 to n
	Threshold float64 // positive: clusters at this distance or farther stay apart
	// Memory is the number of bytes that the distances of average and complete linkage
	// may take [4 GiB]: they need 2 n (n-1).
	Memory   int64
	Progress progress.Count
}

// Agglomeration is the result of Agglomerative: the clusters, and the whole tree.
type Agglomeration struct {
	Labels  []int32 // n numbers by decreasing size, equal sizes by their first row
	Sizes   []int
	Merges  []Merge // n-1, by ascending distance
	Linkage string
}

// Merge joins two clusters. Clusters 0..n-1 are the rows, n+i is the one that merge i
// makes.
type Merge struct {
	A, B     int32 // A < B
	Distance float64
	Size     int // rows of the new cluster
}

// Linkages are the names that AgglomerativeOptions knows.
var Linkages = []string{"average", "complete", "ward"}

// defaultMemory is the room for distances in bytes.
const defaultMemory = 4 << 30

// Agglomerative clusters the n rows of x, d numbers each. It begins with single rows and
// repeatedly joins the two nearest clusters, until K are left or the nearest are at
// distance Threshold. Distances between rows are Euclidean; between clusters A and B of a
// and b rows it is
//
//	average   the mean over pairs (UPGMA)
//	complete  the largest over pairs
//	ward      sqrt(2ab/(a+b)) times the distance of their means (Ward 1963)
//
// as in scikit-learn and SciPy, whose tree it gives where no distances are equal. Equal
// ones are taken in a fixed order; the result has the same bits for any number of
// threads.
//
// It follows chains of nearest neighbors (Murtagh 1983), which takes O(n^2) distances;
// Ward first merges all pairs of nearest neighbors at once, round by round, while that
// pays. Average and complete linkage hold all distances as float32, 200 MB for 10,000
// rows; Ward holds means, O(n d).
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), an unknown
// linkage, not exactly one of K in 1..n and a positive Threshold, more memory than
// allowed, a canceled ctx.
func Agglomerative(ctx context.Context, x []float32, n, d int, o AgglomerativeOptions) (*Agglomeration, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return nil, err
	}
	if err := o.check(n); err != nil {
		return nil, err
	}
	data := center(x, n, d)
	t := newTree(n, o.Progress)
	var links linkage
	if o.Linkage == "ward" {
		w, err := newWard(ctx, x, data)
		if err != nil {
			return nil, err
		}
		if err := w.rounds(ctx, t); err != nil {
			return nil, err
		}
		links = w
	} else {
		m, err := newMatrix(ctx, x, data, o.Linkage == "complete")
		if err != nil {
			return nil, err
		}
		links = m
	}
	if err := t.chain(ctx, links); err != nil {
		return nil, err
	}
	a := &Agglomeration{Merges: dendrogram(t.joins, n), Linkage: o.Linkage}
	for i := range a.Merges {
		a.Merges[i].Distance /= data.scale
	}
	a.Labels, a.Sizes = a.cut(n, a.merged(n, o))
	return a, nil
}

func (o *AgglomerativeOptions) check(n int) error {
	switch {
	case !slices.Contains(Linkages, o.Linkage):
		return fmt.Errorf("linkage %q: choose one of %v", o.Linkage, Linkages)
	case o.K < 0 || o.Threshold < 0 || math.IsNaN(o.Threshold) || o.Memory < 0:
		return fmt.Errorf("k = %d, threshold %v, memory %d: all must be non-negative numbers", o.K, o.Threshold, o.Memory)
	case (o.K > 0) == (o.Threshold > 0):
		return fmt.Errorf("agglomerative clustering stops at a number of clusters or at a distance: give one of k (%d) and a positive threshold (%v)", o.K, o.Threshold)
	case o.K > n:
		return fmt.Errorf("%w: k = %d clusters of %d rows: k must be in 1..%d", ErrInput, o.K, n, n)
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if need := 2 * int64(n) * int64(n-1); o.Linkage != "ward" && need > o.Memory {
		return fmt.Errorf("%w: %s linkage of %d rows holds %s of distances, more than the %s allowed: use ward, which holds none, cluster a sample, or allow more", ErrInput, o.Linkage, n, text.Bytes(need), text.Bytes(o.Memory))
	}
	return nil
}

// merged is the number of merges to do.
func (a *Agglomeration) merged(n int, o AgglomerativeOptions) int {
	if o.K > 0 {
		return n - o.K
	}
	return sortedBelow(a.Merges, o.Threshold)
}

// sortedBelow counts the merges at less than the threshold.
func sortedBelow(m []Merge, threshold float64) int {
	n, _ := slices.BinarySearchFunc(m, threshold, func(m Merge, t float64) int { return cmp.Compare(m.Distance, t) })
	return n
}

// cut returns the clusters after the first merges.
func (a *Agglomeration) cut(n, merges int) ([]int32, []int) {
	s := NewSets(2*n - 1)
	for i, m := range a.Merges[:merges] {
		s.Parent[s.Find(m.A)] = int32(n + i)
		s.Parent[s.Find(m.B)] = int32(n + i)
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = s.Find(int32(i))
	}
	return labels, Numbered(labels, 2*n-1)
}

// join is a merge as a chain finds it: of the clusters that rows a and b are in.
type join struct {
	a, b     int32
	distance float64
}

// dendrogram puts merges in the order of their distances and numbers the clusters.
func dendrogram(joins []join, n int) []Merge {
	slices.SortStableFunc(joins, func(a, b join) int { return cmp.Compare(a.distance, b.distance) })
	s := NewSets(2*n - 1)
	size := make([]int, 2*n-1)
	for i := range n {
		size[i] = 1
	}
	merges := make([]Merge, len(joins))
	for i, j := range joins {
		a, b := s.Find(j.a), s.Find(j.b)
		to := n + i
		s.Parent[a], s.Parent[b] = int32(to), int32(to)
		size[to] = size[a] + size[b]
		merges[i] = Merge{A: min(a, b), B: max(a, b), Distance: j.distance, Size: size[to]}
	}
	return merges
}
