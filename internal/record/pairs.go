package record

// Pairs is pairs.json, schema tercet.pairs/1: how a run on a pair graph classifies
// pairs at its end. Errors are fractions of the pairs.
type Pairs struct {
	Schema          string       `json:"schema" doc:"the name and number of the schema"`
	Rule            PairRule     `json:"rule" doc:"rule that classifies pairs as similar or different"`
	Parameters      int          `json:"parameters" doc:"parameters of the network"`
	Steps           int          `json:"steps" doc:"steps of the run"`
	Train           PairScore    `json:"train" doc:"the training pairs of the last epoch, by the labels used in training"`
	TrainClean      PairScore    `json:"train_clean" doc:"the same pairs, by true labels"`
	Test            *PairScore   `json:"test,omitempty" doc:"pairs of test images, half of them similar"`
	TestNoise       *Noise       `json:"test_noise,omitempty" doc:"noise on the test pairs"`
	Noise           *Noise       `json:"noise,omitempty" doc:"noise of the first epoch"`
	FloorDuplicates float64      `json:"floor_duplicates" doc:"smallest possible training error: fraction of pairs that any function of two images classifies wrongly"`
	Theorem         *PairTheorem `json:"theorem,omitempty" doc:"bounds of Theorem 1 of DIBS (for pair noise on a dense or full graph)"`
}

// PairRule is what a pair is told by.
type PairRule struct {
	Score string  `json:"score" doc:"'distance' (similar below 'at'), 'cosine' or 'cosine-of-cosine' (similar above)"`
	At    float64 `json:"at" doc:"threshold"`
	Text  string  `json:"text" doc:"the rule in words"`
}

// PairScore is the error of one set of pairs.
type PairScore struct {
	Pairs          int        `json:"pairs" doc:"number of pairs"`
	Wrong          int        `json:"wrong" doc:"pairs classified wrongly"`
	WrongSimilar   int        `json:"wrong_similar" doc:"similar pairs classified as different"`
	WrongDifferent int        `json:"wrong_different" doc:"different pairs classified as similar"`
	Error          float64    `json:"error" doc:"wrong / pairs"`
	CI95           [2]float64 `json:"ci95" doc:"Wilson's 95 % interval"`
	Loss           float64    `json:"loss" doc:"mean loss"`
}

// PairTheorem is what Theorem 1 of DIBS says for this many classes, images of each
// and this noise.
type PairTheorem struct {
	Classes  int     `json:"classes" doc:"number of classes"`
	PerClass int     `json:"per_class" doc:"images in each class"`
	P        float64 `json:"p" doc:"probability of a wrong pair label"`
	DIBSBounds
}

func (Pairs) kind() kind { return kind{schemas: []string{PairsSchema}, made: "eval"} }
