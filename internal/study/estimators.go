package study

import (
	"fmt"
	"slices"
	"strconv"
)

// measured is what an estimator finds: a number with words for the templates of its spec.
type measured struct {
	estimate Estimate
	words    map[string]string
	atEnd    bool // the peak is at the end of its curve
	binomial bool
}

// An estimator computes quantities of an item; none where it lacks what they need.
type estimator func(i *item, q *ClaimQuantity) []measured

// found is an estimate that there is, or none.
func found(e Estimate, ok bool, words map[string]string) []measured {
	if !ok {
		return nil
	}
	return []measured{{estimate: e, words: words}}
}

// overSeeds is the estimate of a value of each seed; none without values.
func overSeeds(values []float64, words map[string]string) []measured {
	if values == nil {
		return nil
	}
	return []measured{{estimate: EstimateOf(values), words: words}}
}

// bothSeeds calls f with the places of each seed that two rows have, in the order of the first.
func bothSeeds(a, b *Row, f func(i, j int)) {
	for i, seed := range a.Seeds {
		if j := slices.Index(b.Seeds, seed); j >= 0 {
			f(i, j)
		}
	}
}

// estimators are those that specs name.
var estimators map[string]estimator

func init() {
	estimators = map[string]estimator{
		"score": scoreOf, "rise": peakSide("rise", "first"), "fall": peakSide("fall", "last"), "peaks": peakDifference, "at-other-peak": atOtherPeak,
		"at-largest": atLargest, "mean": meanOver, "least": leastDifference, "moved": moved, "slope": slopeOf, "intercept": interceptOf,
		"offline": offlineLessOnline, "offline-between": offlineBetween, "online": onlineKinds, "found": foundShare, "partner": partnerScore, "difference": differenceOf,
		"kendall": kendall, "spearman": spearman,
	}
}

// scoreOf is a score of the largest network of the curve.
func scoreOf(i *item, q *ClaimQuantity) []measured {
	last := i.a[len(i.a)-1]
	e, ok := last.Scores[q.Score]
	return found(e, ok, map[string]string{"at": last.Fields["size"]})
}

// partnerScore is that of the partner.
func partnerScore(i *item, q *ClaimQuantity) []measured {
	if i.b == nil {
		return nil
	}
	e, ok := i.b[0].Scores[q.Score]
	return found(e, ok, nil)
}

// differenceOf is a score of the row less its partner's, seed by seed.
func differenceOf(i *item, q *ClaimQuantity) []measured {
	if i.b == nil {
		return nil
	}
	a, b := i.row(), i.b[0]
	if q.Back {
		a, b = b, a
	}
	e, ok := less(a, b, *i.d.table.Score(q.Score))
	return found(e, ok, nil)
}

// pair are the rows of both curves at the sizes that both have, with the scores of common
// seeds; reversed where the spec asks for the partner less the row.
func (i *item) pair(q *ClaimQuantity) (a, b []*Row, grids [2][][]float64) {
	first, second := i.a, i.b
	if q.Back {
		first, second = second, first
	}
	score := i.d.table.Reduce.Score
	if len(scored(first, score)) < 2 || len(scored(second, score)) < 2 {
		return nil, nil, grids
	}
	return matched(first, second, i.d.table.Reduce.X, score)
}

// atLargest is the difference at the largest size that both curves have, over the seeds
// that both rows have.
func atLargest(i *item, q *ClaimQuantity) []measured {
	a, b, _ := i.pair(q)
	if a == nil {
		return nil
	}
	x, y := a[len(a)-1], b[len(b)-1]
	var d []float64
	bothSeeds(x, y, func(k, j int) {
		v, ok := x.obs[k].Values[i.d.table.Reduce.Score]
		if w, too := y.obs[j].Values[i.d.table.Reduce.Score]; ok && too {
			d = append(d, v-w)
		}
	})
	return overSeeds(d, map[string]string{"at": x.Fields["size"]})
}

// meanOver is the mean difference over the sizes from Low to High.
func meanOver(i *item, q *ClaimQuantity) []measured {
	a, b, grids := i.pair(q)
	if a == nil {
		return nil
	}
	if q.Low != "" {
		low, _ := strconv.ParseFloat(q.Low, 64)
		high, _ := strconv.ParseFloat(q.High, 64)
		within := func(r *Row) bool {
			w, err := strconv.ParseFloat(r.Fields["width"], 64)
			return err == nil && w >= low && w <= high
		}
		var x, y []*Row
		for k := range a {
			if within(a[k]) {
				x, y = append(x, a[k]), append(y, b[k])
			}
		}
		if a, _, grids = matched(x, y, i.d.table.Reduce.X, i.d.table.Reduce.Score); a == nil {
			return nil
		}
	}
	words := map[string]string{"n": fmt.Sprint(len(a)), "low": a[0].Fields["width"], "high": a[len(a)-1].Fields["width"]}
	return []measured{{estimate: EstimateOf(meanDifference(grids[0], grids[1])), words: words}}
}

// leastDifference is, of the differences at each size, the one that is most against the
// first being larger: of intervals below 0 the lowest, else the one that begins lowest. It
// is above 0 only where all are.
func leastDifference(i *item, q *ClaimQuantity) []measured {
	a, _, grids := i.pair(q)
	if a == nil {
		return nil
	}
	var least Estimate
	at := 0
	for k := range a {
		if e := EstimateOf(meanDifference(grids[0][k:k+1], grids[1][k:k+1])); k == 0 || e.lower(least) {
			least, at = e, k
		}
	}
	return []measured{{estimate: least, words: map[string]string{"at": a[at].Fields["size"]}}}
}

// lower says whether an interval speaks more for values below 0 than another one.
func (e Estimate) lower(than Estimate) bool {
	switch {
	case e.CI95 == nil || than.CI95 == nil:
		return e.Value < than.Value
	case e.CI95[1] < 0 || than.CI95[1] < 0:
		return e.CI95[1] < than.CI95[1]
	}
	return e.CI95[0] < than.CI95[0]
}

// moved is by how many of the sizes that both curves have the peak of the first is to the
// right of that of the second, each seed's own peaks.
func moved(i *item, q *ClaimQuantity) []measured {
	a, _, grids := i.pair(q)
	if a == nil {
		return nil
	}
	top := func(grid [][]float64, seed int) int {
		at := 0
		for k := range grid {
			if grid[k][seed] > grid[at][seed] {
				at = k
			}
		}
		return at
	}
	var steps []float64
	for k := range grids[0][0] {
		steps = append(steps, float64(top(grids[0], k)-top(grids[1], k)))
	}
	first, second := i.a, i.b
	if q.Back {
		first, second = second, first
	}
	score := i.d.table.Reduce.Score
	return []measured{{estimate: EstimateOf(steps), words: map[string]string{"a.at": peakRow(first, score).Fields["size"], "b.at": peakRow(second, score).Fields["size"]}}}
}
