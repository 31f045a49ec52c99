package noise

import (
	"tercet/internal/data/batch"
	"tercet/internal/record"
)

// OfGraph is what the pair noise did, as a Report.
func OfGraph(r record.PairGraph) record.Noise {
	out := record.Noise{Kind: PairLabel, Wanted: r.Wanted, Flipped: r.Flipped, Items: r.Pairs, Q: r.Q, Effective: r.Wanted, EffectiveFound: r.Effective}
	if r.Pairs > 0 {
		out.Found = float64(r.Flipped) / float64(r.Pairs)
	}
	return out
}

// describe fills the numbers that pairs tell; flipped says which pair noise has changed.
func describe(r *record.PairGraph, pairs []batch.Pair, flipped []bool, truth []int32) {
	r.Pairs = len(pairs)
	degree := make([]int, len(truth))
	for i, p := range pairs {
		degree[p.I]++
		degree[p.J]++
		if flipped[i] {
			r.Flipped++
		}
		wrong := p.Similar != (truth[p.I] == truth[p.J])
		switch {
		case p.Similar && wrong:
			r.WrongSimilar++
		case wrong:
			r.WrongDifferent++
		}
		if p.Similar {
			r.Similar++
		}
	}
	r.Different = r.Pairs - r.Similar
	r.Wrong = r.WrongSimilar + r.WrongDifferent
	setDegrees(r, degree)
	couples(pairs, func(at []int32) {
		different, built := 0, 0
		for _, i := range at {
			if !pairs[i].Similar {
				different++
			}
			if pairs[i].Similar == flipped[i] {
				built++
			}
		}
		if len(at) > 1 {
			r.Duplicates++
		}
		if built > 1 {
			r.Mirrored++
		}
		if different > 0 && different < len(at) {
			r.Contradictions++
		}
	})
	r.InconsistentCycles = inconsistent(pairs, len(truth))
	if r.Pairs > 0 {
		r.Effective = float64(r.Wrong) / float64(r.Pairs)
		r.FloorDuplicates = float64(FloorDuplicates(pairs)) / float64(r.Pairs)
	}
}

func setDegrees(r *record.PairGraph, degree []int) {
	for _, d := range degree {
		if d == 0 {
			continue
		}
		if r.Images == 0 || d < r.DegreeMin {
			r.DegreeMin = d
		}
		r.DegreeMax = max(r.DegreeMax, d)
		r.Images++
	}
	if r.Images > 1 {
		n := float64(r.Images)
		r.DegreeMean = 2 * float64(r.Pairs) / n
		r.Density = float64(r.Pairs) / (n * (n - 1) / 2)
	}
}

// inconsistent counts the different pairs within one component of the similar ones.
func inconsistent(pairs []batch.Pair, n int) int {
	parent := make([]int32, n)
	for i := range parent {
		parent[i] = int32(i)
	}
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, p := range pairs {
		if p.Similar {
			parent[root(p.I)] = root(p.J)
		}
	}
	count := 0
	for _, p := range pairs {
		if !p.Similar && root(p.I) == root(p.J) {
			count++
		}
	}
	return count
}
