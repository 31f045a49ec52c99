package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tercet/internal/lists"
)

// MetricBound is a calculated bound of a measured quantity.
type MetricBound struct {
	Source    string  `json:"source" doc:"the statement, such as \"Lemma 4\""`
	Form      string  `json:"form" doc:"'paper' or 'corrected'"`
	Constants string  `json:"constants" doc:"'paper' or 'tight'"`
	Value     float64 `json:"value" doc:"value of the bound"`
	Crossed   bool    `json:"crossed" doc:"whether the measured value violates the bound"`
	Undecided bool    `json:"undecided,omitempty" doc:"whether the interval of the mean contains the bound, or is missing"`
	Vacuous   *bool   `json:"vacuous,omitempty" doc:"whether the bound is above the largest possible loss"`
}

// MetricStability is a measurement that was made: schema tercet.metricstability/1. Losses, risks and
// bounds are in units of the loss, errors are fractions.
type MetricStability struct {
	Schema     string         `json:"schema" doc:"the name and number of the schema"`
	Claim      string         `json:"claim,omitempty" doc:"id of the claim: T1 to T12, S1, S2 or S4; absent for a measurement without a claim"`
	Says       string         `json:"says" doc:"the claim, or what was measured, in words"`
	Data       MetricData     `json:"data" doc:"where the samples come from"`
	Seed       uint64         `json:"seed" doc:"random seed"`
	Options    *MetricOptions `json:"options,omitempty" doc:"options of the measurement"`
	Series     []MetricSeries `json:"series" doc:"the measured quantities"`
	Checks     []MetricCheck  `json:"checks,omitempty" doc:"verdict on each part of the claim"`
	Verdict    string         `json:"verdict,omitempty" doc:"'supported', 'contradicted' or 'inconclusive'"`
	Notes      []string       `json:"notes,omitempty" doc:"notes in words"`
	Seconds    float64        `json:"seconds,omitempty" doc:"wall time in seconds"`
	CPUSeconds float64        `json:"cpu_seconds,omitempty" doc:"processor time in seconds"`
}

// MetricOptions says how a measurement was made.
type MetricOptions struct {
	Repeats  int     `json:"repeats,omitempty" doc:"repeats of each setting; absent: the claim's default"`
	Sizes    []int   `json:"sizes,omitempty" doc:"sample sizes n = n+ = n-"`
	Delta    float64 `json:"delta" doc:"bounds on gaps hold with probability 1 - delta"`
	Triplets int     `json:"triplets,omitempty" doc:"number of triplets of each kind that were tried"`
}

// MetricData says what samples were drawn from.
type MetricData struct {
	Name        string  `json:"name" doc:"name of the data"`
	Positives   string  `json:"positives" doc:"the positives in words"`
	Negatives   string  `json:"negatives" doc:"the negatives in words"`
	Dims        int     `json:"dims" doc:"dimension"`
	Radius      float64 `json:"radius" doc:"radius of the ball that holds the points"`
	Pool        *Sizes  `json:"pool,omitempty" doc:"number of points that samples are drawn from"`
	Reference   *Sizes  `json:"reference,omitempty" doc:"number of points of the control variate"`
	Fingerprint string  `json:"fingerprint,omitempty" doc:"SHA-256 of images and labels"`
	Run         string  `json:"run,omitempty" doc:"the run whose features were used"`
}

// MetricSeries is one quantity along one axis.
type MetricSeries struct {
	Name     string        `json:"name" doc:"name of the series"`
	Quantity string        `json:"quantity" doc:"what is measured"`
	Axis     string        `json:"axis" doc:"quantity on the x axis"`
	Learner  Learner       `json:"learner" doc:"the learning algorithm"`
	Points   []MetricPoint `json:"points" doc:"the measurements"`
	Rate     *Rate         `json:"rate,omitempty" doc:"power law fitted to the points"`
	RateNote string        `json:"rate_note,omitempty" doc:"why the rate or its interval is missing"`
	Expected *[2]float64   `json:"expected,omitempty" doc:"range of exponents that the claim predicts"`
	LeftOut  []Sizes       `json:"left_out,omitempty" doc:"sample sizes for which the data are too few"`
}

// MetricPoint is a measurement of one setting.
type MetricPoint struct {
	X float64 `json:"x" doc:"position on the axis"`
	Sizes
	Steps     int              `json:"steps,omitempty" doc:"steps of 'sgd'"`
	Sigma     float64          `json:"sigma,omitempty" doc:"regularization of 'rrm'"`
	Measured  Estimate         `json:"measured" doc:"the measured value"`
	Repeats   []float64        `json:"repeats" doc:"its value in each repeat"`
	Bounds    []MetricBound    `json:"bounds,omitempty" doc:"the bounds"`
	Uniform   *UniformResult   `json:"uniform,omitempty" doc:"uniform stability in full"`
	OnAverage *OnAverageResult `json:"on_average,omitempty" doc:"on-average stability in full"`
	Gap       *GapResult       `json:"gap,omitempty" doc:"generalization gap in full"`
	Excess    *ExcessResult    `json:"excess,omitempty" doc:"excess risk in full"`
	Lemmas    *LemmaResult     `json:"lemmas,omitempty" doc:"Lemmas 1, 3 and 5 and Theorem 3 in full, at the first series"`
	Notions   *NotionsResult   `json:"notions,omitempty" doc:"notions of stability in full, at the first of their series"`
	With      []Number         `json:"with,omitempty" doc:"intermediate values"`
}

// Number is a named number.
type Number struct {
	Name  string  `json:"name" doc:"name"`
	Value float64 `json:"value" doc:"value"`
}

// Estimate is the mean of repeats with its standard error and its 95 % interval by
// Student's t; both are left out where there is one repeat.
type Estimate struct {
	Value float64     `json:"value" doc:"mean over repeats"`
	SE    *float64    `json:"se,omitempty" doc:"standard error"`
	CI95  *[2]float64 `json:"ci95,omitempty" doc:"95 % interval, Student's t"`
	N     int         `json:"n" doc:"number of repeats"`
	Max   float64     `json:"max" doc:"largest repeat"`
}

// MetricCheck is a sentence that is supported or contradicted; Holds is nil where it is
// inconclusive.
type MetricCheck struct {
	Says  string `json:"says" doc:"the statement"`
	Found string `json:"found" doc:"what was measured"`
	Holds *bool  `json:"holds" doc:"verdict: true is supported, false contradicted, null inconclusive"`
}

// Scale is Factor * n^Power, with n the smaller of n+ and n-.
type Scale struct {
	Factor float64 `json:"factor" doc:"factor f of f n^p"`
	Power  float64 `json:"power,omitempty" doc:"power p"`
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

// Learner describes a learning algorithm.
type Learner struct {
	Name  string  `json:"name" doc:"'rrm' or 'sgd'"`
	Loss  string  `json:"loss" doc:"loss"`
	Zeta  float64 `json:"zeta" doc:"margin of the loss"`
	Delta float64 `json:"huber_delta,omitempty" doc:"width of the Huber part"`
	Sigma *Scale  `json:"sigma,omitempty" doc:"regularization of 'rrm'"`
	Prior float64 `json:"prior,omitempty" doc:"strength of the prior of 'rrm'"`
	Tol   float64 `json:"tol,omitempty" doc:"tolerance of 'rrm'"`
	C     float64 `json:"c,omitempty" doc:"step size c / sqrt(T) of 'sgd'"`
	Steps *Scale  `json:"steps,omitempty" doc:"number of steps T of 'sgd'"`
	PSD   bool    `json:"psd,omitempty" doc:"whether the metric is kept positive semidefinite"`
}

// Rate is a power law y = c x^Slope, fitted by least squares to log means.
type Rate struct {
	Slope     float64     `json:"slope" doc:"exponent of the power law"`
	Intercept float64     `json:"intercept" doc:"logarithm of the value at x = 1"`
	CI95      *[2]float64 `json:"ci95,omitempty" doc:"95 % bootstrap interval of the slope"`
	Resamples int         `json:"resamples,omitempty" doc:"number of resamples"`
	Undefined int         `json:"undefined,omitempty" doc:"resamples without a slope because a mean is not positive"`
}

// Sizes are numbers of positives and of negatives.
type Sizes struct {
	Pos int `json:"n_pos" doc:"number of positives"`
	Neg int `json:"n_neg" doc:"number of negatives"`
}

func (MetricStability) kind() kind {
	return kind{schemas: []string{MetricSchema}, made: "stability"}
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
	sizes := lists.Filter(had.Sizes, func(n int) bool { return !slices.Contains(is.Sizes, n) })
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
