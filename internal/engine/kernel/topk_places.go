package kernel

import "fmt"

// Places are sorted numbers of several queries, cuts Base[q] to Base[q+1] being those of
// query q, at most MostCuts of them. Cut has MostCuts more at its end.
type Places struct {
	Base []int
	Cut  []float32
}

// Count finds the place of pairs among the cuts of their query, for the keys
// factor*dot[e] + add[item[e]], which may be off by width: it adds 1 to count, at the first
// cut above the key if there is one. It returns those pairs whose key may be on another side
// of a cut, in unsure, which has room for all.
func (p *Places) Count(dot []float32, item, query []int32, factor float32, add []float32, width float32, count, unsure []int32) []int32 {
	n := len(dot)
	if len(item) != n || len(query) != n || len(unsure) < n || len(count)+MostCuts > len(p.Cut) {
		panic(fmt.Sprintf("kernel: places of %d, %d and %d among %d cuts", n, len(item), len(query), len(count)))
	}
	if n == 0 {
		return unsure[:0]
	}
	a := placeArgs{n, &dot[0], &item[0], &query[0], &add[0], &p.Base[0], &p.Cut[0], &count[0], &unsure[0], factor, width}
	if assembly && HasFineDots() {
		return unsure[:countNearAVX512(&a)]
	}
	out := unsure[:0]
	for e, x := range dot {
		key := float32(factor*x) + add[item[e]]
		from, to := p.Base[query[e]], p.Base[query[e]+1]
		below, most := from, from
		for ; most < to && p.Cut[most] <= key+width; most++ {
			if p.Cut[most] < key-width {
				below++
			}
		}
		switch {
		case below != most:
			out = append(out, int32(e))
		case below < to:
			count[below]++
		}
	}
	return out
}

// placeArgs are the arguments of Count.
type placeArgs struct {
	pairs       int
	dot         *float32
	item, query *int32
	add         *float32
	base        *int
	cut         *float32
	count       *int32
	unsure      *int32
	factor      float32
	width       float32
}

// countNearAVX512 is the loop of Count with keys rounded once.
//
//go:noescape
func countNearAVX512(p *placeArgs) int
