package loss

import "tercet/internal/engine/array"

// CappedOptions configures a CappedLoss. Alpha and Beta are squared distances.
type CappedOptions struct {
	Alpha  float64 // wanted gap between negative and positive, > Beta
	Beta   float64 // how far a positive may be, > 0
	Reduce Reduction
}

// CappedDefaults returns alpha 1, beta 0.5 (for embeddings of length 1), mean.
func CappedDefaults() CappedOptions { return CappedOptions{Alpha: 1, Beta: 0.5, Reduce: Mean} }

// CappedLoss is the triplet loss with a cap on the distance of positives: the
// reduced sum over triplets (a, p, n) of
//
//	max(0, alpha + d^2(a,p) - d^2(a,n)) + max(0, d^2(a,p) - beta),  d = |x - y|
//
// (Ho et al., ICPR 2020, L2). Without the second term it is their L1, the
// TripletLoss on squared distances. Where it is 0, positives have d^2 <= beta and
// negatives d^2 >= alpha. It serves one goroutine at a time.
type CappedLoss struct{ t *marginTriplets }

// NewCapped returns the loss, or an error naming the option that is wrong.
func NewCapped(o CappedOptions) (*CappedLoss, error) {
	t, err := newMarginTriplets("triplet-capped", margins{o.Alpha, o.Beta, true}, o.Reduce)
	if err != nil {
		return nil, err
	}
	return &CappedLoss{t}, nil
}

// Margin returns alpha: within it of the positive, in squared distance, a negative
// has a gradient.
func (l *CappedLoss) Margin() float64 { return l.t.alpha }

// Threshold implements Thresholder: sqrt((alpha+beta)/2).
func (l *CappedLoss) Threshold() float64 { return l.t.threshold() }

// Eval implements Objective on t.Triplets. A triplet is active where its value is
// above 0. Distances of the result are squared.
func (l *CappedLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	return l.t.eval(z, t.Triplets, grad)
}
