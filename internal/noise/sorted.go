package noise

import "math"

// sortedDraws are the graphs that Sorted takes the mean over.
const sortedDraws = 40

// Sorted returns the share of wrong pairs that is left of single-label noise with
// effective noise p in a dense graph of so many classes with perClass images each, when
// the lists of a class are sorted by true class, as the algorithms of Fonseca & Guidetti
// leave them: the mean over 40 draws, and the deviation of one draw. It has no closed
// form and depends on perClass: the fewer wrong images a list has of another class, the
// less they stand beside each other. Errors are those of SLNFromEffective and Graph.
func Sorted(p float64, classes, perClass int) (mean, sd float64, err error) {
	q, err := SLNFromEffective(p)
	if err != nil {
		return 0, 0, err
	}
	truth := make([]int32, classes*perClass)
	for i := range truth {
		truth[i] = int32(i % classes)
	}
	o := GraphOptions{Scenario: Dense, Pairs: 2 * len(truth), Negatives: SameIndex, Order: PaperOrder}
	squares := 0.0
	for o.Seed = range uint64(sortedDraws) {
		seen, _, err := Labels(truth, classes, SLNRate(q, classes), o.Seed)
		if err != nil {
			return 0, 0, err
		}
		_, r, err := Graph(truth, seen, classes, o)
		if err != nil {
			return 0, 0, err
		}
		mean += r.Effective / sortedDraws
		squares += r.Effective * r.Effective / sortedDraws
	}
	return mean, math.Sqrt(max(0, squares-float64(mean*mean)) * sortedDraws / (sortedDraws - 1)), nil
}
