package record

// NoiseEstimate is a noise rate told from data.
type NoiseEstimate struct {
	Method string     `json:"method"` // Contradictions or LossMixture
	P      float64    `json:"p"`
	CI95   [2]float64 `json:"ci95"`
	N      int        `json:"n"` // comparisons or items that it rests on
	// Contradictions among the N comparisons.
	Contradictions int `json:"contradictions,omitempty"`
	// Of a mixture: the mean losses of the two groups, and how far apart these are, in
	// standard deviations (Ashman's D).
	Means      *[2]float64 `json:"means,omitempty"`
	Separation float64     `json:"separation,omitempty"`
}

// PairGraph describes a pair graph: images are its nodes, pairs its edges.
type PairGraph struct {
	Scenario  string `json:"scenario"`
	Negatives string `json:"negatives"`
	Order     string `json:"order"`

	Nodes     int     `json:"nodes"`  // images that pairs were made of
	Images    int     `json:"images"` // those in at least one pair
	Pairs     int     `json:"pairs"`
	Similar   int     `json:"similar"`   // pairs by label
	Different int     `json:"different"` // pairs by label
	Density   float64 `json:"density"`   // pairs / (Images (Images-1)/2)
	DegreeMin int     `json:"degree_min"`
	// Pairs that an image is in, over the images that are in one.
	DegreeMean float64 `json:"degree_mean"`
	DegreeMax  int     `json:"degree_max"`

	Duplicates     int `json:"duplicates"`     // couples of images that are paired more than once
	Mirrored       int `json:"mirrored"`       // couples that were paired as different more than once, before pair noise
	Contradictions int `json:"contradictions"` // couples that are labelled both ways
	// Pairs labelled different whose images are joined by a path of similar ones. Each
	// closes a cycle that no set of classes can satisfy.
	InconsistentCycles int `json:"inconsistent_cycles"`

	Q              float64 `json:"q"`               // of the pair noise
	Wanted         float64 `json:"wanted"`          // the probability that pair noise flips a label, q/2
	Flipped        int     `json:"flipped"`         // by pair noise
	Wrong          int     `json:"wrong"`           // labels against the true classes
	WrongSimilar   int     `json:"wrong_similar"`   // of these, labelled similar
	WrongDifferent int     `json:"wrong_different"` // of these, labelled different
	Effective      float64 `json:"effective"`       // wrong/pairs

	// FloorDuplicates is the share of pairs that any function of two images gets wrong,
	// against the labels: for each couple the lesser of its labels, over all pairs.
	FloorDuplicates float64 `json:"floor_duplicates"`
}

// Noise says what noise did to a set. Items are labels, pairs or triplets.
type Noise struct {
	Kind    string  `json:"kind"`
	Wanted  float64 `json:"wanted"`  // the rate asked for; that of a matrix is its mean over the items
	Found   float64 `json:"found"`   // flipped/items
	Flipped int     `json:"flipped"` // that differ from the truth
	Items   int     `json:"items"`
	Q       float64 `json:"q,omitempty"` // sln, pln: the probability of being drawn anew that gives the rate

	// The share of pairs that labels of this noise get wrong, half of the pairs being
	// similar: as expected, and for the labels that were drawn (of pair-label noise,
	// for the pairs). 0 for noise on triplets.
	Effective      float64 `json:"effective"`
	EffectiveFound float64 `json:"effective_found"`
}

// Triplets says what triplets are, against the truth.
type Triplets struct {
	Triplets int `json:"triplets"`
	// Images that can be an anchor: those with another one of their seen class.
	Anchors int `json:"anchors"`
	// Kind is PairLabel where noise is on the labels of the two pairs of each triplet,
	// else empty: it is on the order of positive and negative.
	Kind    string         `json:"kind,omitempty"`
	Wanted  float64        `json:"wanted"`  // the probability of an exchange, or that a pair's label is wrong
	Found   float64        `json:"found"`   // flipped of the triplets, or of their pairs
	Flipped int            `json:"flipped"` // exchanged, or wrong labels of pairs
	Weights TripletWeights `json:"weights"` // found, by the true classes and after exchanges
	// The share of triplets that are wrong in any way, 1 - W11.
	Wrong float64 `json:"wrong"`
}

// TripletWeights says how often the positive and the negative of a triplet (a, p, n)
// are what they are taken for. A positive is right when it is of the anchor's true
// class, a negative when it is not.
type TripletWeights struct {
	Beta  float64 `json:"beta"`  // the positive is right
	Gamma float64 `json:"gamma"` // the negative is right
	W11   float64 `json:"w11"`   // both are right
	W10   float64 `json:"w10"`   // the positive is right, the negative wrong
	W01   float64 `json:"w01"`   // the positive is wrong, the negative right
	W00   float64 `json:"w00"`   // both are wrong: p and n have changed places
}

// Contrast returns W11 - W00, which is Beta + Gamma - 1 whether or not the two errors
// are independent: the share of the clean signal that is left. At 0 and below, triplets
// teach nothing or the opposite.
func (w TripletWeights) Contrast() float64 { return w.W11 - w.W00 }

// NoiseRate is noise.json, schema tercet.noise/1: how much of what a run is trained on
// is wrong, as told without knowing the truth.
type NoiseRate struct {
	Schema string `json:"schema"`
	Source Source `json:"source"`
	// Of says what the rate is of: labels, pairs or triplets.
	Of       string        `json:"of"`
	Estimate NoiseEstimate `json:"estimate"`
	// Effective is the share of balanced pairs that this makes wrong; null for triplets.
	Effective *float64 `json:"effective,omitempty"`
	// Others are the other methods' estimates, Failed why there is none of a method.
	Others []NoiseEstimate   `json:"others,omitempty"`
	Failed map[string]string `json:"failed,omitempty"`
	Truth  *NoiseTruth       `json:"truth,omitempty"` // where the config puts the noise on
}

// NoiseTruth is the noise that a config puts on, in the units of the estimate.
type NoiseTruth struct {
	Kind   string  `json:"kind"`
	Wanted float64 `json:"wanted"`
	Found  float64 `json:"found"`
}

func (NoiseRate) kind() kind {
	return kind{schemas: []string{NoiseSchema}, made: "eval --noise-rate"}
}

// From is the training images that the rate was estimated from.
func (d NoiseRate) From() Source { return d.Source }

// Covers says what there has and d would not; nil if nothing. The items of the source of
// d are enough, 0 for all.
func (d NoiseRate) Covers(there NoiseRate) []string {
	if there.Of != OfLabels || d.Source.Items == 0 {
		return nil
	}
	return lessOf(there.Estimate.N, d.Source.Items, "images")
}

// What a noise rate is of.
const (
	OfLabels   = "labels"
	OfPairs    = "pairs"
	OfTriplets = "triplets"
)
