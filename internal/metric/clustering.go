package metric

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/record"
)

// ClusterScores is the result of Clustering. Its JSON is the object of Scores.
type ClusterScores struct {
	Scores   record.Scores
	Items    int
	Classes  int // distinct true labels
	Clusters int // distinct cluster labels
}

// MarshalJSON writes s.Scores.
func (s *ClusterScores) MarshalJSON() ([]byte, error) { return s.Scores.MarshalJSON() }

// Clustering compares cluster labels with true ones; both may be any int32
// numbers. Logarithms are natural; H is entropy, MI mutual information, n_ck the
// items of class c in cluster k. Keys, and definitions where they differ:
//
//	nmi            nmi(arithmetic): MI / mean of H(classes) and H(clusters); 1 where both are 0
//	ami            ami(arithmetic): (MI - E[MI]) / (mean - E[MI]), expectation over random
//	               labels with the same sizes (Vinh, Epps and Bailey 2010); 1 where each side is
//	               one group, or each side has only single items
//	ari            (RI - E[RI]) / (1 - E[RI]) (Hubert and Arabie 1985); 1 for equal partitions
//	acc            acc(hungarian): largest sum of n_ck over one-to-one maps of clusters to classes, / n
//	purity         sum over clusters of the largest n_ck, / n; rises with the number of clusters
//	v_measure      harmonic mean of homogeneity and completeness; equals nmi
//	homogeneity    MI / H(classes), 1 where that is 0
//	completeness   MI / H(clusters), 1 where that is 0
//	inverse_purity sum over classes of the largest n_ck, / n
//	bcubed_precision, bcubed_recall   mean over items of the share of their cluster (class) that has
//	               their class (cluster), the item itself counted; bcubed_f1 is their harmonic mean
//	pairwise_precision, pairwise_recall, pairwise_f1   over pairs of items: same class among those in
//	               one cluster, and the reverse; 1 where there is no such pair
//	fmi            geometric mean of pairwise precision and recall (Fowlkes and Mallows 1983), 0
//	               where no pair is together on both sides
//	ri             share of pairs on which both sides agree; 1 for a single item
//	nmi_geometric, nmi_max, nmi_min   nmi with another mean of the entropies
//
// Errors: unequal numbers of labels, none at all.
func Clustering(truth, pred []int32) (*ClusterScores, error) {
	t, err := newContingency(truth, pred)
	if err != nil {
		return nil, err
	}
	s := &ClusterScores{Items: t.n, Classes: len(t.class), Clusters: len(t.cluster)}
	add := func(key, definition string, v float64) {
		s.Scores = append(s.Scores, record.Score{Key: key, Value: record.Value{Value: v, Definition: definition}})
	}
	e := entropiesOf(t)
	p := pairsOf(t)
	bp, br := bcubed(t)
	add("nmi", "nmi(arithmetic)", e.normalized((e.class+e.cluster)/2))
	add("ami", "ami(arithmetic)", ami(t, e))
	add("ari", "ari", p.adjustedRand())
	add("acc", "acc(hungarian)", float64(bestMatching(t))/float64(t.n))
	add("purity", "purity", purity(t))
	add("v_measure", "v_measure(beta=1)", harmonic(e.homogeneity(), e.completeness()))
	add("homogeneity", "homogeneity", e.homogeneity())
	add("completeness", "completeness", e.completeness())
	add("inverse_purity", "inverse_purity", inversePurity(t))
	add("bcubed_precision", "bcubed_precision", bp)
	add("bcubed_recall", "bcubed_recall", br)
	add("bcubed_f1", "bcubed_f1", harmonic(bp, br))
	add("pairwise_precision", "pairwise_precision", p.precision())
	add("pairwise_recall", "pairwise_recall", p.recall())
	add("pairwise_f1", "pairwise_f1", harmonic(p.precision(), p.recall()))
	add("fmi", "fmi", p.fowlkesMallows())
	add("ri", "ri", p.rand())
	add("nmi_geometric", "nmi(geometric)", e.normalized(math.Sqrt(e.class*e.cluster)))
	add("nmi_max", "nmi(max)", e.normalized(max(e.class, e.cluster)))
	add("nmi_min", "nmi(min)", e.normalized(min(e.class, e.cluster)))
	return s, nil
}

func harmonic(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

func purity(t *contingency) float64 {
	most := make([]int64, len(t.cluster))
	for _, c := range t.cells {
		most[c.cluster] = max(most[c.cluster], c.count)
	}
	return share(most, t.n)
}

func inversePurity(t *contingency) float64 {
	most := make([]int64, len(t.class))
	for _, c := range t.cells {
		most[c.class] = max(most[c.class], c.count)
	}
	return share(most, t.n)
}

func share(counts []int64, n int) float64 {
	var sum int64
	for _, c := range counts {
		sum += c
	}
	return float64(sum) / float64(n)
}

// bcubed averages over items: those of one cell have n_ck/n_k and n_ck/n_c.
func bcubed(t *contingency) (precision, recall float64) {
	for _, c := range t.cells {
		square := float64(c.count) * float64(c.count)
		precision += square / float64(t.cluster[c.cluster])
		recall += square / float64(t.class[c.class])
	}
	return precision / float64(t.n), recall / float64(t.n)
}

// contingency counts items by true class and by cluster, without empty cells.
type contingency struct {
	n        int
	class    []int64 // items of each class
	cluster  []int64 // items of each cluster
	cells    []cell  // ascending by class, then cluster
	rowStart []int   // cells of class c are cells[rowStart[c]:rowStart[c+1]]
}

type cell struct {
	class, cluster int32
	count          int64
}

func newContingency(truth, pred []int32) (*contingency, error) {
	switch {
	case len(truth) != len(pred):
		return nil, fmt.Errorf("%w: %d true labels but %d cluster labels", ErrInput, len(truth), len(pred))
	case len(truth) == 0:
		return nil, fmt.Errorf("%w: no labels", ErrInput)
	case len(truth) > math.MaxInt32:
		return nil, fmt.Errorf("%w: %d labels are more than %d", ErrInput, len(truth), math.MaxInt32)
	}
	a, b := classesOf(truth), classesOf(pred)
	t := &contingency{n: len(truth), class: sizes(a), cluster: sizes(b), rowStart: make([]int, len(a.size)+1)}
	pair := make([]uint64, len(truth))
	for i, c := range a.of {
		pair[i] = uint64(c)<<32 | uint64(b.of[i])
	}
	slices.Sort(pair)
	for i, p := range pair {
		if i == 0 || p != pair[i-1] {
			t.cells = append(t.cells, cell{class: int32(p >> 32), cluster: int32(uint32(p))})
			t.rowStart[p>>32+1]++
		}
		t.cells[len(t.cells)-1].count++
	}
	for c := range a.size {
		t.rowStart[c+1] += t.rowStart[c]
	}
	return t, nil
}

func sizes(c classes) []int64 {
	s := make([]int64, len(c.size))
	for i, v := range c.size {
		s[i] = int64(v)
	}
	return s
}
