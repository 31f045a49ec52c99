package record

// Pairs is pairs.json, schema tercet.pairs/1: how a run on a pair graph tells pairs
// at its end. Errors are fractions of the pairs.
type Pairs struct {
	Schema     string   `json:"schema"`
	Rule       PairRule `json:"rule"`
	Parameters int      `json:"parameters"`
	Steps      int      `json:"steps"`
	// Train are the pairs of the last epoch by the labels that were trained on,
	// TrainClean the same ones by true labels, Test pairs of test images.
	Train      PairScore  `json:"train"`
	TrainClean PairScore  `json:"train_clean"`
	Test       *PairScore `json:"test,omitempty"`
	// TestNoise is the rate at which labels of Test were flipped, where they were.
	TestNoise *Noise `json:"test_noise,omitempty"`
	Noise     *Noise `json:"noise,omitempty"` // of the first epoch
	// FloorDuplicates is the share of Train that any function of two images gets wrong:
	// of couples that are labelled both ways, the lesser label.
	FloorDuplicates float64      `json:"floor_duplicates"`
	Theorem         *PairTheorem `json:"theorem,omitempty"` // with pair noise on a dense or full graph
}

// PairRule is what a pair is told by.
type PairRule struct {
	Score string  `json:"score"` // "distance": similar below At; "cosine" and "cosine-of-cosine": above
	At    float64 `json:"at"`
	Text  string  `json:"text"`
}

// PairScore is the error of one set of pairs.
type PairScore struct {
	Pairs          int        `json:"pairs"`
	Wrong          int        `json:"wrong"`
	WrongSimilar   int        `json:"wrong_similar"`   // of them, those that are similar and were told different
	WrongDifferent int        `json:"wrong_different"` // the reverse
	Error          float64    `json:"error"`
	CI95           [2]float64 `json:"ci95"` // Wilson's interval
	Loss           float64    `json:"loss"`
}

// PairTheorem is what Theorem 1 of DIBS says for this many classes, images of each
// and this noise.
type PairTheorem struct {
	Classes  int     `json:"classes"`
	PerClass int     `json:"per_class"`
	P        float64 `json:"p"`
	DIBSBounds
}

func (Pairs) kind() kind { return kind{schemas: []string{PairsSchema}, made: "eval"} }
