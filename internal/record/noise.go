package record

// NoiseEstimate is an estimated noise rate.
type NoiseEstimate struct {
	Method         string      `json:"method" doc:"'contradictions' or 'loss-mixture'"`
	P              float64     `json:"p" doc:"estimated rate"`
	CI95           [2]float64  `json:"ci95" doc:"95 % interval"`
	N              int         `json:"n" doc:"comparisons or items behind the estimate"`
	Contradictions int         `json:"contradictions,omitempty" doc:"contradictions among the comparisons"`
	Means          *[2]float64 `json:"means,omitempty" doc:"mean losses of the two groups"`
	Separation     float64     `json:"separation,omitempty" doc:"their separation in standard deviations (Ashman's D)"`
}

// PairGraph describes a pair graph: images are its nodes, pairs its edges.
type PairGraph struct {
	Scenario  string `json:"scenario" doc:"scenario of the config"`
	Negatives string `json:"negatives" doc:"kind of negatives"`
	Order     string `json:"order" doc:"order of the pairs"`

	Replacement bool `json:"replacement,omitempty" doc:"images drawn with replacement"`

	Nodes      int     `json:"nodes" doc:"images that pairs may join, copies counted"`
	Images     int     `json:"images" doc:"images in at least one pair"`
	Pairs      int     `json:"pairs" doc:"number of pairs"`
	Similar    int     `json:"similar" doc:"pairs labeled similar"`
	Different  int     `json:"different" doc:"pairs labeled different"`
	Density    float64 `json:"density" doc:"pairs over all possible pairs of 'images'"`
	DegreeMin  int     `json:"degree_min" doc:"fewest pairs of an image"`
	DegreeMean float64 `json:"degree_mean" doc:"mean number of pairs of an image"`
	DegreeMax  int     `json:"degree_max" doc:"most pairs of an image"`

	Duplicates         int `json:"duplicates" doc:"image pairs that occur more than once"`
	Mirrored           int `json:"mirrored" doc:"image pairs that occur more than once as different, before noise"`
	Contradictions     int `json:"contradictions" doc:"image pairs labeled both ways"`
	InconsistentCycles int `json:"inconsistent_cycles" doc:"pairs labeled different whose images are connected by similar pairs"`

	Q              float64 `json:"q" doc:"probability that noise redraws a label; of noise by label twice 'wanted'"`
	Wanted         float64 `json:"wanted" doc:"target fraction of flips, q/2"`
	Flipped        int     `json:"flipped" doc:"labels flipped by noise"`
	Wrong          int     `json:"wrong" doc:"labels that contradict the true classes"`
	WrongSimilar   int     `json:"wrong_similar" doc:"wrong labels 'similar'"`
	WrongDifferent int     `json:"wrong_different" doc:"wrong labels 'different'"`
	Effective      float64 `json:"effective" doc:"wrong labels over pairs"`

	FloorDuplicates float64 `json:"floor_duplicates" doc:"fraction of pairs that any function of two images gets wrong"`
}

// Noise says what noise did to a set. Items are labels, pairs or triplets.
type Noise struct {
	Kind    string  `json:"kind" doc:"kind of noise"`
	Wanted  float64 `json:"wanted" doc:"target rate"`
	Found   float64 `json:"found" doc:"realized rate, flipped / items"`
	Flipped int     `json:"flipped" doc:"items that differ from the truth"`
	Items   int     `json:"items" doc:"labels, pairs or triplets"`
	Q       float64 `json:"q,omitempty" doc:"probability of a redraw that gives the rate ('sln', 'pln')"`

	Effective      float64 `json:"effective" doc:"expected fraction of wrong pairs, half of them similar; 0 for triplets"`
	EffectiveFound float64 `json:"effective_found" doc:"the same fraction for the labels drawn"`
}

// Triplets says what triplets are, against the truth.
type Triplets struct {
	Triplets int            `json:"triplets" doc:"number of triplets"`
	Anchors  int            `json:"anchors" doc:"images that can be an anchor"`
	Kind     string         `json:"kind,omitempty" doc:"'pln' for noise on the two pairs of each triplet"`
	Wanted   float64        `json:"wanted" doc:"target probability of an exchange or of a wrong pair label"`
	Found    float64        `json:"found" doc:"realized fraction of triplets, or of their pairs"`
	Flipped  int            `json:"flipped" doc:"exchanged triplets, or wrong pair labels"`
	Weights  TripletWeights `json:"weights" doc:"fractions of correct positives and negatives"`
	Wrong    float64        `json:"wrong" doc:"fraction of triplets that are wrong in any way"`
}

// TripletWeights says how often the positive and the negative of a triplet (a, p, n)
// are what they are taken for. A positive is right when it is of the anchor's true
// class, a negative when it is not.
type TripletWeights struct {
	Beta  float64 `json:"beta" doc:"fraction of correct positives"`
	Gamma float64 `json:"gamma" doc:"fraction of correct negatives"`
	W11   float64 `json:"w11" doc:"both correct"`
	W10   float64 `json:"w10" doc:"positive correct, negative wrong"`
	W01   float64 `json:"w01" doc:"positive wrong, negative correct"`
	W00   float64 `json:"w00" doc:"both wrong: exchanged"`
}

// Contrast returns W11 - W00, which is Beta + Gamma - 1 whether or not the two errors
// are independent: the share of the clean signal that is left. At 0 and below, triplets
// teach nothing or the opposite.
func (w TripletWeights) Contrast() float64 { return w.W11 - w.W00 }

// NoiseRate is noise.json, schema tercet.noise/1: how much of what a run is trained on
// is wrong, as told without knowing the truth.
type NoiseRate struct {
	Schema    string            `json:"schema" doc:"the name and number of the schema"`
	Source    Source            `json:"source" doc:"what the result was computed from"`
	Of        string            `json:"of" doc:"what the rate is of: 'labels', 'pairs' or 'triplets'"`
	Estimate  NoiseEstimate     `json:"estimate" doc:"the estimate"`
	Effective *float64          `json:"effective,omitempty" doc:"fraction of wrong pairs, half of them similar; absent for triplets"`
	Others    []NoiseEstimate   `json:"others,omitempty" doc:"estimates by other methods"`
	Failed    map[string]string `json:"failed,omitempty" doc:"why a method gives no estimate"`
	Truth     *NoiseTruth       `json:"truth,omitempty" doc:"the noise of the config"`
}

// NoiseTruth is the noise that a config puts on, in the units of the estimate.
type NoiseTruth struct {
	Kind   string  `json:"kind" doc:"kind of noise"`
	Wanted float64 `json:"wanted" doc:"target rate"`
	Found  float64 `json:"found" doc:"realized rate"`
}

func (NoiseRate) kind() kind {
	return kind{schemas: []string{NoiseSchema}, made: "noise"}
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
