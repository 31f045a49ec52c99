package record

// NoiseEstimate is an estimated noise rate.
type NoiseEstimate struct {
	Method         string      `json:"method" doc:"'contradictions' or 'loss-mixture'"`
	P              float64     `json:"p" doc:"estimated rate"`
	CI95           [2]float64  `json:"ci95" doc:"95 % interval"`
	N              int         `json:"n" doc:"number of comparisons, or of items, that the estimate uses"`
	Contradictions int         `json:"contradictions,omitempty" doc:"number of contradictory comparisons"`
	Means          *[2]float64 `json:"means,omitempty" doc:"mean losses of the two groups"`
	Separation     float64     `json:"separation,omitempty" doc:"their separation in standard deviations (Ashman's D)"`
}

// PairGraph describes a pair graph: images are its nodes, pairs its edges.
type PairGraph struct {
	Scenario  string `json:"scenario" doc:"batch.scenario of the config: 's1' (sparse), 's2' (dense) or 'full'"`
	Negatives string `json:"negatives" doc:"kind of negatives"`
	Order     string `json:"order" doc:"batch.order of the config: the order of images before pairs are formed"`

	Replacement bool `json:"replacement,omitempty" doc:"whether images were drawn with replacement"`

	Nodes      int     `json:"nodes" doc:"images that pairs may contain, counting repeated draws"`
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
	Contradictions     int `json:"contradictions" doc:"image pairs labeled both similar and different"`
	InconsistentCycles int `json:"inconsistent_cycles" doc:"pairs labeled different whose images are connected through similar pairs"`

	Q              float64 `json:"q" doc:"probability that noise draws a pair's label again; for noise by label, twice 'wanted'"`
	Wanted         float64 `json:"wanted" doc:"target fraction of flipped labels, q/2"`
	Flipped        int     `json:"flipped" doc:"labels flipped by noise"`
	Wrong          int     `json:"wrong" doc:"labels that contradict the true classes"`
	WrongSimilar   int     `json:"wrong_similar" doc:"pairs wrongly labeled similar"`
	WrongDifferent int     `json:"wrong_different" doc:"pairs wrongly labeled different"`
	Effective      float64 `json:"effective" doc:"fraction of wrong labels: 'wrong' / 'pairs'"`

	FloorDuplicates float64 `json:"floor_duplicates" doc:"smallest possible error: fraction of pairs that any function of two images classifies wrongly"`
}

// Noise says what noise did to a set. Items are labels, pairs or triplets.
type Noise struct {
	Kind    string  `json:"kind" doc:"kind of noise"`
	Wanted  float64 `json:"wanted" doc:"target rate"`
	Found   float64 `json:"found" doc:"realized rate: 'flipped' / 'items'"`
	Flipped int     `json:"flipped" doc:"items that differ from their true label"`
	Items   int     `json:"items" doc:"number of labels, pairs or triplets"`
	Q       float64 `json:"q,omitempty" doc:"probability that a label is drawn again, which gives the target rate ('sln', 'pln')"`

	Effective      float64 `json:"effective" doc:"expected fraction of wrong pairs, if half of the pairs are similar; 0 for triplets"`
	EffectiveFound float64 `json:"effective_found" doc:"the same fraction, from the realized labels"`
}

// Triplets says what triplets are, against the truth.
type Triplets struct {
	Triplets int            `json:"triplets" doc:"number of triplets"`
	Anchors  int            `json:"anchors" doc:"images that can be an anchor"`
	Kind     string         `json:"kind,omitempty" doc:"'pln' if noise is on the two pairs of each triplet; absent if it exchanges positive and negative"`
	Wanted   float64        `json:"wanted" doc:"target probability of an exchange, or of a wrong pair label"`
	Found    float64        `json:"found" doc:"realized fraction of triplets, or of their pairs"`
	Flipped  int            `json:"flipped" doc:"number of exchanged triplets, or of wrong pair labels"`
	Weights  TripletWeights `json:"weights" doc:"fractions of correct positives and negatives"`
	Wrong    float64        `json:"wrong" doc:"fraction of triplets with a wrong positive or a wrong negative"`
}

// TripletWeights says how often the positive and the negative of a triplet (a, p, n)
// are what they are taken for. A positive is right when it is of the anchor's true
// class, a negative when it is not.
type TripletWeights struct {
	Beta  float64 `json:"beta" doc:"fraction of correct positives"`
	Gamma float64 `json:"gamma" doc:"fraction of correct negatives"`
	W11   float64 `json:"w11" doc:"probability that positive and negative are correct"`
	W10   float64 `json:"w10" doc:"probability that only the positive is correct"`
	W01   float64 `json:"w01" doc:"probability that only the negative is correct"`
	W00   float64 `json:"w00" doc:"probability that both are wrong, as if exchanged"`
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
	Of        string            `json:"of" doc:"what is counted: wrong 'labels', 'pairs' or 'triplets'"`
	Estimate  NoiseEstimate     `json:"estimate" doc:"the estimate"`
	Effective *float64          `json:"effective,omitempty" doc:"estimated fraction of wrong pairs, if half of the pairs are similar; absent for triplets"`
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
