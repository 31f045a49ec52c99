package config

// NoNoise leaves labels, pairs and triplets as they are.
type NoNoise struct{}

// SymmetricNoise flips each training label independently to another class, all of
// them equally likely. Exactly one of Rate, Q and Effective is set.
type SymmetricNoise struct {
	Rate      *float64 `yaml:"rate" check:">=0,<1" oneof:"amount" doc:"probability that a label becomes another one"`
	Q         *float64 `yaml:"q" check:">=0,<=1" oneof:"amount" doc:"probability that a label is drawn anew from all K classes, its own too: rate q (K-1)/K"`
	Effective *float64 `yaml:"effective" check:">=0,<=0.5" oneof:"amount" doc:"probability that the label of a pair, as often similar as different, is wrong: q - q^2/2"`
	Seed      *uint64  `yaml:"seed" doc:"seed of the noise; null takes the run's. One seed disturbs the same labels at every rate, and more of them at a higher one"`
}

// PairNoise replaces the label of each pair of a pair graph, or of the two pairs of each
// triplet of a triplet list, by a fair coin. Exactly one of Q and Effective is set.
type PairNoise struct {
	Q         *float64 `yaml:"q" check:">=0,<=1" oneof:"amount" doc:"probability that a pair's label is replaced by a fair coin, so that half as many are wrong"`
	Effective *float64 `yaml:"effective" check:">=0,<=0.5" oneof:"amount" doc:"probability that a pair's label is wrong: q/2"`
	Seed      *uint64  `yaml:"seed" doc:"seed of the noise; null takes the run's"`
}

// TripletNoise exchanges positive and negative of triplets of a triplet list.
type TripletNoise struct {
	Rate float64 `yaml:"rate" check:">=0,<=1" doc:"rho, the probability that positive and negative of a triplet are exchanged"`
	Seed *uint64 `yaml:"seed" doc:"seed of the noise; null takes the run's"`
}

// ConfusionNoise replaces each training label by a draw from its class's row of a
// matrix.
type ConfusionNoise struct {
	Matrix string  `yaml:"matrix" doc:"CSV file of K rows of K probabilities: row y says what becomes of class y; each sums to 1"`
	Seed   *uint64 `yaml:"seed" doc:"seed of the noise; null takes the run's"`
}

// PairFlipNoise turns training labels of class y into y+1, of the last class into
// the first.
type PairFlipNoise struct {
	Rate float64 `yaml:"rate" check:">=0,<=1" doc:"probability that a label becomes the next class's"`
	Seed *uint64 `yaml:"seed" doc:"seed of the noise; null takes the run's"`
}
