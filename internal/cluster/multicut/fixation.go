package multicut

import (
	"context"
	"math"
	"slices"
)

// GreedyFixation clusters by greedy fixation (Levinkov, Kirillov and Andres 2017, "A
// comparative study of local search algorithms for correlation clustering"): as
// GAEC, but the next edge is the one of largest |cost|; where its cost is negative,
// its two clusters are kept apart for good.
//
// Of equal magnitudes joins come before cuts; then ties, zero costs, time, memory
// and errors are as for GAEC.
func GreedyFixation(ctx context.Context, c Costs) (*Result, error) {
	return contract(ctx, c, "greedy-fixation", fixationRule)
}

// forbidden is the weight of clusters that are kept apart. It survives additions.
var forbidden = math.Inf(-1)

// fixation finds out late which negative weights were fixed: a weight that has not
// changed since contraction s was fixed if a later contraction had a smaller one.
type fixation struct {
	least []float64 // of each contraction: the smallest weight of those after it
	since []int32   // of each row: contractions before its last
}

// combine sets toA to the weights of the joined clusters of rows a and b, whose own
// weight is w.
func (f *fixation) combine(a, b int, w float64, toA, toB []float64) {
	if len(f.least) == 0 {
		f.least = append(f.least, math.Inf(1))
	}
	for s, l := range f.least {
		f.least[s] = min(l, w)
	}
	for x, since := range f.since[:len(toA)] {
		if -toA[x] > f.least[max(since, f.since[a])] || -toB[x] > f.least[max(since, f.since[b])] {
			toA[x] = forbidden
		} else {
			toA[x] += toB[x]
		}
	}
	f.since[a] = int32(len(f.least))
	f.least = append(f.least, math.Inf(1))
}

// squeeze keeps the live rows.
func (f *fixation) squeeze(live []int32) {
	if f.since == nil {
		return
	}
	for k, i := range live {
		f.since[k] = f.since[i]
	}
	f.since = slices.Clip(f.since[:len(live)])
}
