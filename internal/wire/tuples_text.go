package wire

import (
	"fmt"

	"tercet/internal/noise"
	"tercet/internal/record"
)

// DescribeGraph says in one line what a pair graph is.
func DescribeGraph(g *record.PairGraph) string {
	return fmt.Sprintf("%d pairs (%d similar, %d different) of %d images, scenario %s, negatives %s, order %s; density %.3g, degree %d to %d, mean %.2f; "+
		"%d image pairs listed more than once, %d with contradictory labels, %d inconsistent cycles; %d pairs wrong (%.4f); no network is wrong on fewer than %.4f",
		g.Pairs, g.Similar, g.Different, g.Images, g.Scenario, g.Negatives, g.Order, g.Density, g.DegreeMin, g.DegreeMax, g.DegreeMean,
		g.Duplicates, g.Contradictions, g.InconsistentCycles, g.Wrong, g.Effective, g.FloorDuplicates)
}

// DescribeTriplets says in one line what triplets are.
func DescribeTriplets(t *record.Triplets) string {
	w, what := t.Weights, "exchanged"
	if t.Kind == noise.PairLabel {
		what = "labels of their pairs wrong"
	}
	return fmt.Sprintf("%d triplets of %d anchors; %d %s (%.4f, target %.4f); right %.4f, reversed %.4f, beta %.4f, gamma %.4f",
		t.Triplets, t.Anchors, t.Flipped, what, t.Found, t.Wanted, w.W11, w.W00, w.Beta, w.Gamma)
}
