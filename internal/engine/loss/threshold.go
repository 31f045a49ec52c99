package loss

import (
	"tercet/internal/component"
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

func init() {
	Family.Register(component.Component[Options]{Name: "triplet-threshold", Doc: "positives within beta, negatives beyond alpha, in squared distance (L3 of Ho et al.)", Defaults: ThresholdDefaults()})
}

// ThresholdOptions are the keys of a ThresholdLoss.
type ThresholdOptions struct {
	Alpha   float64   `yaml:"alpha" check:">0" doc:"squared distance that a negative shall have, above beta; with normalized embeddings at most 4"`
	Beta    float64   `yaml:"beta" check:">0" doc:"squared distance that a positive may have; embeddings of one class are then up to sqrt((alpha + beta)/2) apart"`
	Reduce  Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of triplets, or of pairs, become one number"`
	Pairing Pairing   `yaml:"pairing" enum:"triplets|pairs" doc:"triplets: positive and negative of each mined triplet; pairs: every pair of the batch by its labels, without a miner"`
}

// ThresholdDefaults returns alpha 1, beta 0.5 (for embeddings of length 1), mean,
// by triplets.
func ThresholdDefaults() ThresholdOptions {
	return ThresholdOptions{Alpha: 1, Beta: 0.5, Reduce: Mean, Pairing: ByTriplets}
}

// Check implements component.Checker.
func (o ThresholdOptions) Check() []component.Fault { return checkBorders(o.Alpha, o.Beta) }

// Fit implements Fitter.
func (o ThresholdOptions) Fit(s Setting) []component.Fault { return fitBorders(o.Alpha, s) }

// New implements Options.
func (o ThresholdOptions) New() (Objective, error) { return NewThreshold(o) }

// Takes implements Options.
func (o ThresholdOptions) Takes() Kind {
	if o.Pairing == ByPairs {
		return Pairs
	}
	return Triplets
}

// For implements Switchable.
func (ThresholdOptions) For(k Kind) (key, value string, ok bool) {
	return "pairing", string(k), k == Triplets || k == Pairs
}

// Squared implements OnSquares.
func (ThresholdOptions) Squared() bool { return true }

// Borders implements Bordered.
func (o ThresholdOptions) Borders() (alpha, beta float64) { return o.Alpha, o.Beta }

// Summed implements Decomposable.
func (o ThresholdOptions) Summed() Options {
	o.Reduce = Sum
	return o
}

// Supremum implements Bounded.
func (o ThresholdOptions) Supremum(unit bool) (float64, bool) {
	return o.Alpha + max(0, 4-o.Beta), unit
}

// PairRule implements PairPredictor: similar below the threshold.
func (o ThresholdOptions) PairRule() PairRule { return PairRule{At: o.margins().threshold()} }

func (o ThresholdOptions) margins() margins { return margins{o.Alpha, o.Beta, false} }

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
	table Table // for many pairs
}

// NewThreshold returns the loss, or an error naming the option that is wrong.
func NewThreshold(o ThresholdOptions) (*ThresholdLoss, error) {
	return Checked("triplet-threshold", o, &ThresholdLoss{newMarginTriplets(o.margins(), o.Reduce), o.Pairing, NewTable(Squared)})
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
	if err := CheckShapes(z, grad); err != nil {
		return Result{}, err
	}
	if err := checkPairs(t.Pairs, z.Shape[0]); err != nil {
		return Result{}, err
	}
	if len(t.Pairs) > 0 && crowded(2*len(t.Pairs), z.Shape[0]) {
		return l.table.evalPairs(z, t.Pairs, l.t.pair, l.t.reduce, grad)
	}
	return l.t.g.evalPairs(z, t.Pairs, l.t.pair, l.t.reduce, grad)
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
