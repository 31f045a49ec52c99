package measure

// Document is a measurement that was made: schema tercet.metricstability/1. Losses, risks and
// bounds are in units of the loss, errors are fractions.
type Document struct {
	Schema string `json:"schema"`
	// Claim is T1 to T7, S1, S2 or S4, or empty: then Series are what was asked for, and
	// nothing is judged.
	Claim string     `json:"claim,omitempty"`
	Says  string     `json:"says"`
	Data  DataRecord `json:"data"`
	Seed  uint64     `json:"seed"`
	// Options are what was asked for besides; absent in documents that were made before
	// they were recorded.
	Options *OptionsRecord `json:"options,omitempty"`
	Series  []Series       `json:"series"`
	Checks  []Check        `json:"checks,omitempty"`
	// Verdict is "supported" where all checks are, "contradicted" where one is, else
	// "inconclusive". Documents of older versions have "holds", "fails" and "open", and
	// answers by an earlier rule: see Renew.
	Verdict string   `json:"verdict,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Seconds is the wall time, CPUSeconds the processor time where it is known.
	Seconds    float64 `json:"seconds,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
}

// OptionsRecord says how a measurement was made.
type OptionsRecord struct {
	Repeats  int     `json:"repeats,omitempty"`  // of each setting; absent: the claim's own numbers
	Sizes    []int   `json:"sizes,omitempty"`    // n = n+ = n-; absent of a claim, which has its own
	Delta    float64 `json:"delta"`              // bounds on gaps hold with probability 1 - delta
	Triplets int     `json:"triplets,omitempty"` // tried of either kind; absent: DefaultTriplets
}

// DataRecord says what samples were drawn from.
type DataRecord struct {
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

// Series is one quantity along one axis.
type Series struct {
	Name     string        `json:"name"`
	Quantity string        `json:"quantity"` // what Measured is
	Axis     string        `json:"axis"`     // what X is
	Learner  LearnerRecord `json:"learner"`
	Points   []Point       `json:"points"`
	Rate     *Rate         `json:"rate,omitempty"`
	RateNote string        `json:"rate_note,omitempty"` // why there is none, or no interval
	// Expected is where the rate's slope is said to lie; equal ends: a limit for large n.
	Expected *[2]float64 `json:"expected,omitempty"`
	// LeftOut are sizes of the claim that there are not enough points for.
	LeftOut []Sizes `json:"left_out,omitempty"`
}

// Point is a measurement of one setting.
type Point struct {
	X float64 `json:"x"`
	Sizes
	Steps    int       `json:"steps,omitempty"` // of sgd
	Sigma    float64   `json:"sigma,omitempty"` // of rrm
	Measured Estimate  `json:"measured"`
	Repeats  []float64 `json:"repeats"`
	Bounds   []Bound   `json:"bounds,omitempty"`
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

// fit adds the rate of the points.
func (s *Series) fit(seed uint64) {
	var x []float64
	var groups [][]float64
	for _, p := range s.Points {
		x, groups = append(x, p.X), append(groups, p.Repeats)
	}
	r, err := Slope(x, groups, Resamples, seed)
	if err != nil {
		s.RateNote = err.Error()
		return
	}
	s.Rate = &r
	switch {
	case r.CI95 == nil && r.Resamples == 0:
		s.RateNote = "no interval: a size has one repeat"
	case r.CI95 == nil:
		s.RateNote = "no interval: means of resamples are not positive; more repeats are needed"
	}
}

// at fills what the learner is at these sizes.
func (p Point) at(l Learner, n Sizes) Point {
	p.Sizes = n
	switch a := l.(type) {
	case RRM:
		p.Sigma = a.Sigma.At(n.Least())
	case SGD:
		p.Steps = a.T(n)
	}
	return p
}

// uniformPoint is a Point of gamma.
func uniformPoint(x float64, l Learner, u *UniformResult) Point {
	b := u.Bounds
	if u.Lemma2 != nil {
		b = u.Lemma2.Bounds
	}
	return Point{X: x, Measured: u.Gamma, Repeats: u.Values, Bounds: b, Uniform: u}.at(l, u.Sizes)
}

// gapPoint is a Point of the expected gap.
func gapPoint(x float64, l Learner, g *GapResult) Point {
	return Point{X: x, Measured: g.Gap, Repeats: g.Values, Gap: g}.at(l, g.Sizes)
}
