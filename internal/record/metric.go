package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MetricBound is a calculated bound, set beside what was measured.
type MetricBound struct {
	Source    string  `json:"source"`    // "Lemma 4"
	Form      string  `json:"form"`      // paper or corrected
	Constants string  `json:"constants"` // paper or tight
	Value     float64 `json:"value"`
	// Crossed says that the measured value lies above: of a mean, its whole interval.
	// Undecided says of a mean that its interval holds the bound, or that it has none.
	Crossed   bool `json:"crossed"`
	Undecided bool `json:"undecided,omitempty"`
	// Vacuous says that the bound is above the largest loss there can be; nil where
	// there is none.
	Vacuous *bool `json:"vacuous,omitempty"`
}

// MetricStability is a measurement that was made: schema tercet.metricstability/1. Losses, risks and
// bounds are in units of the loss, errors are fractions.
type MetricStability struct {
	Schema string `json:"schema"`
	// Claim is T1 to T7, S1, S2 or S4, or empty: then Series are what was asked for, and
	// nothing is judged.
	Claim string     `json:"claim,omitempty"`
	Says  string     `json:"says"`
	Data  MetricData `json:"data"`
	Seed  uint64     `json:"seed"`
	// Options are what was asked for besides; absent in documents that were made before
	// they were recorded.
	Options *MetricOptions `json:"options,omitempty"`
	Series  []MetricSeries `json:"series"`
	Checks  []MetricCheck  `json:"checks,omitempty"`
	// Verdict is "supported" where all checks are, "contradicted" where one is, else
	// "inconclusive". Documents of older versions have "holds", "fails" and "open", and
	// answers by an earlier rule: see Renew.
	Verdict string   `json:"verdict,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Seconds is the wall time, CPUSeconds the processor time where it is known.
	Seconds    float64 `json:"seconds,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
}

// MetricOptions says how a measurement was made.
type MetricOptions struct {
	Repeats  int     `json:"repeats,omitempty"`  // of each setting; absent: the claim's own numbers
	Sizes    []int   `json:"sizes,omitempty"`    // n = n+ = n-; absent of a claim, which has its own
	Delta    float64 `json:"delta"`              // bounds on gaps hold with probability 1 - delta
	Triplets int     `json:"triplets,omitempty"` // tried of either kind; absent: DefaultTriplets
}

// MetricData says what samples were drawn from.
type MetricData struct {
	Name      string  `json:"name"`
	Positives string  `json:"positives"` // in words: "digit 3"
	Negatives string  `json:"negatives"`
	Dims      int     `json:"dims"`
	Radius    float64 `json:"radius"`
	Pool      *Sizes  `json:"pool,omitempty"` // that samples are drawn from
	Reference *Sizes  `json:"reference,omitempty"`
	// Fingerprint is that of the data set's files, Run the run whose map was taken.
	Fingerprint string `json:"fingerprint,omitempty"`
	Run         string `json:"run,omitempty"`
}

// MetricSeries is one quantity along one axis.
type MetricSeries struct {
	Name     string        `json:"name"`
	Quantity string        `json:"quantity"` // what Measured is
	Axis     string        `json:"axis"`     // what X is
	Learner  Learner       `json:"learner"`
	Points   []MetricPoint `json:"points"`
	Rate     *Rate         `json:"rate,omitempty"`
	RateNote string        `json:"rate_note,omitempty"` // why there is none, or no interval
	// Expected is where the rate's slope is said to lie; equal ends: a limit for large n.
	Expected *[2]float64 `json:"expected,omitempty"`
	// LeftOut are sizes of the claim that there are not enough points for.
	LeftOut []Sizes `json:"left_out,omitempty"`
}

// MetricPoint is a measurement of one setting.
type MetricPoint struct {
	X float64 `json:"x"`
	Sizes
	Steps    int           `json:"steps,omitempty"` // of sgd
	Sigma    float64       `json:"sigma,omitempty"` // of rrm
	Measured Estimate      `json:"measured"`
	Repeats  []float64     `json:"repeats"`
	Bounds   []MetricBound `json:"bounds,omitempty"`
	// The measurement in full.
	Uniform   *UniformResult   `json:"uniform,omitempty"`
	OnAverage *OnAverageResult `json:"on_average,omitempty"`
	Gap       *GapResult       `json:"gap,omitempty"`
	With      []Number         `json:"with,omitempty"`
}

// Number is a named one.
type Number struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Estimate is the mean of repeats with its standard error and its 95 % interval by
// Student's t; both are left out where there is one repeat.
type Estimate struct {
	Value float64     `json:"value"`
	SE    *float64    `json:"se,omitempty"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
	N     int         `json:"n"`
	Max   float64     `json:"max"` // of the repeats
}

// MetricCheck is a sentence that is supported or contradicted; Holds is nil where it is
// inconclusive.
type MetricCheck struct {
	Says  string `json:"says"`
	Found string `json:"found"`
	Holds *bool  `json:"holds"`
}

// Scale is Factor * n^Power, with n the smaller of n+ and n-.
type Scale struct {
	Factor float64 `json:"factor"`
	Power  float64 `json:"power,omitempty"`
}

// At is the value at n.
func (s Scale) At(n int) float64 {
	if s.Power == 0 {
		return s.Factor
	}
	return s.Factor * math.Pow(float64(n), s.Power)
}

// String is such as "0.5" or "2 n^-0.5".
func (s Scale) String() string {
	switch {
	case s.Power == 0:
		return fmt.Sprintf("%g", s.Factor)
	case s.Factor == 1 && s.Power == 1:
		return "n"
	case s.Factor == 1:
		return fmt.Sprintf("n^%g", s.Power)
	case s.Power == 1:
		return fmt.Sprintf("%g n", s.Factor)
	}
	return fmt.Sprintf("%g n^%g", s.Factor, s.Power)
}

// Learner says in documents what was learnt with.
type Learner struct {
	Name  string  `json:"name"`
	Loss  string  `json:"loss"`
	Zeta  float64 `json:"zeta"`
	Delta float64 `json:"huber_delta,omitempty"`
	Sigma *Scale  `json:"sigma,omitempty"` // of rrm
	Prior float64 `json:"prior,omitempty"` // of rrm
	Tol   float64 `json:"tol,omitempty"`   // of rrm, where it is given; see RRM
	C     float64 `json:"c,omitempty"`     // of sgd: the step is c / sqrt(T)
	Steps *Scale  `json:"steps,omitempty"` // of sgd: T
	PSD   bool    `json:"psd,omitempty"`
}

// Rate is a power law y = c x^Slope, fitted by least squares to log means.
type Rate struct {
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"` // log of y at x = 1
	// CI95 holds the 2.5 % and 97.5 % points of the slopes of resampled repeats; nil
	// where a size has one repeat or resamples had no logarithm.
	CI95      *[2]float64 `json:"ci95,omitempty"`
	Resamples int         `json:"resamples,omitempty"`
	// Undefined counts resamples with a mean of 0 or below.
	Undefined int `json:"undefined,omitempty"`
}

// Sizes are numbers of positives and of negatives.
type Sizes struct {
	Pos int `json:"n_pos"`
	Neg int `json:"n_neg"`
}

func (MetricStability) kind() kind {
	return kind{schemas: []string{MetricSchema}, made: "eval --stability"}
}

// MetricTriplets is how many triplets of either kind are tried where the options do not
// say it.
const MetricTriplets = 40000

// Covers says what there has and d, of the same map, would not; nil if nothing. The data,
// seed and options of d are enough.
func (d MetricStability) Covers(there MetricStability) []string {
	had, is := there.Options, d.Options
	if had == nil { // an old document, which does not say how it was made
		return nil
	}
	lost := otherThan(there.Data.Positives, d.Data.Positives, "positives")
	lost = append(lost, otherThan(there.Seed, d.Seed, "seed")...)
	lost = append(lost, otherThan(had.Delta, is.Delta, "delta")...)
	if had.Repeats == 0 || is.Repeats == 0 { // a claim's own numbers
		lost = append(lost, otherThan(ownNumber(had.Repeats), ownNumber(is.Repeats), "repeats")...)
	} else {
		lost = append(lost, lessOf(had.Repeats, is.Repeats, "repeats")...)
	}
	lost = append(lost, lessOf(cmp.Or(had.Triplets, MetricTriplets), cmp.Or(is.Triplets, MetricTriplets), "triplets")...)
	var sizes []int
	for _, n := range had.Sizes {
		if !slices.Contains(is.Sizes, n) {
			sizes = append(sizes, n)
		}
	}
	if sizes != nil {
		lost = append(lost, fmt.Sprintf("the sizes %v", sizes))
	}
	return lost
}

func ownNumber(n int) string {
	if n == 0 {
		return "the claim's own"
	}
	return fmt.Sprint(n)
}
