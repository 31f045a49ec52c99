package loss

import (
	"fmt"

	"tercet/internal/engine/array"
)

// Pairing says which positives and negatives a ThresholdLoss sums over.
type Pairing string

const (
	// ByTriplets takes the positive and the negative of each triplet.
	ByTriplets Pairing = "triplets"
	// ByPairs takes each pair of Tuples.Pairs, whose positives and negatives need
	// not share an anchor.
	ByPairs Pairing = "pairs"
)

// ThresholdOptions configures a ThresholdLoss. Alpha and Beta are squared distances.
type ThresholdOptions struct {
	Alpha   float64 // how far a negative shall be, > Beta
	Beta    float64 // how far a positive may be, > 0
	Reduce  Reduction
	Pairing Pairing
}

// ThresholdDefaults returns alpha 1, beta 0.5 (for embeddings of length 1), mean,
// by triplets.
func ThresholdDefaults() ThresholdOptions {
	return ThresholdOptions{Alpha: 1, Beta: 0.5, Reduce: Mean, Pairing: ByTriplets}
}

// ThresholdLoss bounds positives and negatives each for itself, so that one
// threshold tells them apart whatever the anchor: the reduced sum of
//
//	max(0, d^2 - beta) for positives + max(0, alpha - d^2) for negatives,  d = |x - y|
//
// (Ho et al., ICPR 2020, L3). By triplets a tuple is both terms of a triplet, by
// pairs it is one of them. The Sum over each pair of a batch once is half of
// pytorch-metric-learning's ContrastiveLoss(pos_margin=beta, neg_margin=alpha) on
// LpDistance(power=2, normalize_embeddings=False) with a sum reducer, which lists
// each pair in both orders. (Its means are others: they divide positives and
// negatives by their own numbers.) It serves one goroutine at a time.
type ThresholdLoss struct {
	t     *marginTriplets
	by    Pairing
	table table // for many pairs
}

// NewThreshold returns the loss, or an error naming the option that is wrong.
func NewThreshold(o ThresholdOptions) (*ThresholdLoss, error) {
	if o.Pairing != ByTriplets && o.Pairing != ByPairs {
		return nil, fmt.Errorf("loss: triplet-threshold: unknown pairing %q (valid: triplets, pairs)", string(o.Pairing))
	}
	t, err := newMarginTriplets("triplet-threshold", margins{o.Alpha, o.Beta, false}, o.Reduce)
	if err != nil {
		return nil, err
	}
	return &ThresholdLoss{t, o.Pairing, table{distance: Squared}}, nil
}

// Margin returns alpha - beta: a negative so much farther, in squared distance, than
// a positive at its border beta is at its own.
func (l *ThresholdLoss) Margin() float64 { return l.t.alpha - l.t.beta }

// Threshold implements Thresholder: sqrt((alpha+beta)/2).
func (l *ThresholdLoss) Threshold() float64 { return l.t.threshold() }

// Eval implements Objective on t.Triplets or, by pairs, on t.Pairs. A triplet is
// active where its value is above 0, a pair where its gradient is not zero.
// Distances of the result are squared.
func (l *ThresholdLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	if l.by == ByTriplets {
		return l.t.eval(z, t.Triplets, grad)
	}
	if err := checkShapes(z, grad); err != nil {
		return Result{}, err
	}
	if err := checkPairs(t.Pairs, z.Shape[0]); err != nil {
		return Result{}, err
	}
	if len(t.Pairs) > 0 && crowded(2*len(t.Pairs), z.Shape[0]) {
		return l.tabled(z, t.Pairs, grad)
	}
	return l.listed(z, t.Pairs, grad)
}

// listed evaluates few pairs, each measured by itself.
func (l *ThresholdLoss) listed(z *array.Array, pairs []Pair, grad *array.Array) (Result, error) {
	g := &l.t.g
	g.pairs = g.pairs[:0]
	for _, p := range pairs {
		g.pairs = append(g.pairs, edge{p.I, p.J})
	}
	if err := g.measure(z); err != nil {
		return Result{}, err
	}
	var sums pairSums
	for i, p := range pairs {
		term := l.t.pair(p.Similar, g.dist[i])
		g.coef[i] = term.slope
		sums.add(p, term)
	}
	res, scale := sums.finish(l.t.reduce)
	if grad != nil {
		for e := range g.coef {
			g.coef[e] *= scale
		}
		g.pull(z, grad)
	}
	return res, nil
}

// tabled evaluates many pairs, which look their distances up.
func (l *ThresholdLoss) tabled(z *array.Array, pairs []Pair, grad *array.Array) (Result, error) {
	t := &l.table
	if err := t.measure(z); err != nil {
		return Result{}, err
	}
	var sums pairSums
	for _, p := range pairs {
		at := int(p.I)*t.rows + int(p.J)
		term := l.t.pair(p.Similar, t.dist[at])
		t.coef[at] += term.slope
		sums.add(p, term)
	}
	res, scale := sums.finish(l.t.reduce)
	if grad != nil {
		t.pull(scale, grad)
	}
	return res, nil
}

// pair returns the term of a pair at squared distance s.
func (m margins) pair(similar bool, s float64) pairTerm {
	t := pairTerm{distance: s}
	if similar {
		if over := s - m.beta; over > 0 {
			t.value, t.slope, t.active = over, 1, true
		}
	} else if gap := m.alpha - s; gap > 0 {
		t.value, t.slope, t.active = gap, -1, s > 0
	}
	return t
}
