package loss

import (
	"tercet/internal/component"
	"tercet/internal/engine/array"
)

func init() {
	Family.Register(component.Component[Options]{Name: "triplet-capped", Doc: "triplet loss on squared distances with a cap on the positive's (L2 of Ho et al.)", Defaults: CappedDefaults()})
}

// CappedOptions are the keys of a CappedLoss.
type CappedOptions struct {
	Alpha  float64   `yaml:"alpha" check:">0" doc:"target gap between the squared distances of negative and positive, above beta; with normalized embeddings at most 4"`
	Beta   float64   `yaml:"beta" check:">0" doc:"squared distance that a positive may have; embeddings of one class are then up to sqrt((alpha + beta)/2) apart"`
	Reduce Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
}

// CappedDefaults returns alpha 1, beta 0.5 (for embeddings of length 1), mean.
func CappedDefaults() CappedOptions { return CappedOptions{Alpha: 1, Beta: 0.5, Reduce: Mean} }

// Check implements component.Checker.
func (o CappedOptions) Check() []component.Fault { return checkBorders(o.Alpha, o.Beta) }

// Fit implements Fitter.
func (o CappedOptions) Fit(s Setting) []component.Fault { return fitBorders(o.Alpha, s) }

// New implements Options.
func (o CappedOptions) New() (Objective, error) { return NewCapped(o) }

// Takes implements Options.
func (CappedOptions) Takes() Kind { return Triplets }

// Squared implements OnSquares.
func (CappedOptions) Squared() bool { return true }

// Borders implements Bordered.
func (o CappedOptions) Borders() (alpha, beta float64) { return o.Alpha, o.Beta }

// Summed implements Decomposable.
func (o CappedOptions) Summed() Options {
	o.Reduce = Sum
	return o
}

// Supremum implements Bounded.
func (o CappedOptions) Supremum(unit bool) (float64, bool) {
	return o.Alpha + 4 + max(0, 4-o.Beta), unit
}

// PairRule implements PairPredictor: similar below the threshold.
func (o CappedOptions) PairRule() PairRule { return PairRule{At: o.margins().threshold()} }

func (o CappedOptions) margins() margins { return margins{o.Alpha, o.Beta, true} }

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
	return Checked("triplet-capped", o, &CappedLoss{newMarginTriplets(o.margins(), o.Reduce)})
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
