package metric

// Options say what is measured of a run of model mahalanobis, and how.
type Options struct {
	Gap        bool   // the generalization gap; otherwise the stability
	Checkpoint string // "last" or "best"
	Triplets   int    // drawn for a risk; 0 takes all
	Repeats    int    // samples of each size; of a Claim, 0 takes its own number
	Seed       uint64 // of samples
	Force      bool   // replaces a document that has more

	// Sizes are the n = n+ = n- that samples have; none takes 20, 40, 80, 160.
	Sizes []int
	// Claim is a statement of the theory to put to the test, such as T3 or S1; empty
	// measures what the run learned with.
	Claim string
	// Positive names the positives' classes, or is a pattern such as Latin.*; empty takes
	// those of the run.
	Positive string
	Delta    float64 // delta of the bounds: each holds with probability 1 - delta; 0 is 0.01
	Circle   bool    // with a Claim: on the unit circle in place of the run's images
	// Exact has the table's numbers in full, for csv and json.
	Exact bool
}

// file is the document's name in the run's directory.
func (o Options) file() string {
	if o.Gap {
		return "gap.json"
	}
	return "stability.json"
}

// Defaults of measurements of metrics.
const (
	defaultDelta  = 0.01
	triples       = 5 // (i, j, k) replaced in a repeat for on-average stability
	replaced      = 2 // samples of each side replaced in a repeat for uniform stability
	mostHeld      = 500
	mostReference = 1000
)

func (o Options) delta() float64 {
	if o.Delta == 0 {
		return defaultDelta
	}
	return o.Delta
}

func (o Options) sizes() []int {
	if len(o.Sizes) == 0 {
		return []int{20, 40, 80, 160}
	}
	return o.Sizes
}
