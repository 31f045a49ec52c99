package report

import (
	"context"

	"tercet/internal/noise"
	"tercet/internal/theory"
)

// partitionDraws are the graphs that the error of the best partition is the mean of, and
// partitionImages what a graph may have at most: solving one takes 0.2 s at 3,000 with
// same-index negatives, but minutes with random ones, which are left out.
const (
	partitionDraws  = 5
	partitionImages = 3000
)

// partitions fills what the best sets of classes get wrong of pairs with such noise: the
// exact multicut of graphs that are drawn as the runs' were, since what the runs have
// left does not hold their graphs.
func (s *PairStudy) partitions() {
	for i := range s.Floors {
		f := &s.Floors[i]
		row := f.row
		images := row.Pairs / 2 // as many of each class, but for a few
		if row.Noise != noise.PairLabel || row.Negatives != noise.SameIndex || row.Scenario == noise.Sparse || row.Wanted <= 0 || row.Wanted > 0.5 || images > partitionImages {
			continue
		}
		o := theory.SimOptions{Classes: row.Classes, PerClass: images / row.Classes, P: row.Wanted, Negatives: row.Negatives, Draws: partitionDraws}
		sim, err := theory.Simulate(context.Background(), o)
		if err != nil || sim.Proven < partitionDraws {
			continue // nothing exact to show
		}
		var shares []float64
		for _, d := range sim.Draws {
			shares = append(shares, float64(d.Errors)/float64(sim.Pairs))
		}
		e := estimateOf(shares)
		f.Multicut = &e
	}
}
