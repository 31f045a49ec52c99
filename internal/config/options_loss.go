package config

// TripletLoss is the triplet loss max(0, d_ap - d_an + margin) and its soft form
// log(1 + exp(d_ap - d_an + margin)). Squared, with hinge, it is L1 of Ho et al.
// (2020), their alpha the margin.
type TripletLoss struct {
	Margin   float64 `yaml:"margin" check:">=0" doc:"gamma, the wanted gap between the two distances"`
	Distance string  `yaml:"distance" enum:"euclidean|squared" doc:"Euclidean distance or its square, with which the loss is L1 of Ho et al., alpha the margin"`
	Form     string  `yaml:"form" enum:"hinge|soft" doc:"hinge max(0, x) or soft log(1 + exp(x))"`
	Reducer  string  `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
	Eps      float64 `yaml:"eps" check:">=0" doc:"added to each coordinate difference inside the Euclidean distance, as PyTorch does"`
}

// CappedLoss is L2 of Ho et al. (2020) on squared distances:
// max(0, d_ap - d_an + alpha) + max(0, d_ap - beta).
type CappedLoss struct {
	Alpha   float64 `yaml:"alpha" check:">0" doc:"wanted gap between the squared distances of negative and positive, above beta; with normalised embeddings at most 4"`
	Beta    float64 `yaml:"beta" check:">0" doc:"squared distance that a positive may have; embeddings of one class are then up to sqrt((alpha + beta)/2) apart"`
	Reducer string  `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
}

// ThresholdLoss is L3 of Ho et al. (2020) on squared distances:
// max(0, alpha - d_an) + max(0, d_ap - beta).
type ThresholdLoss struct {
	Alpha   float64 `yaml:"alpha" check:">0" doc:"squared distance that a negative shall have, above beta; with normalised embeddings at most 4"`
	Beta    float64 `yaml:"beta" check:">0" doc:"squared distance that a positive may have; embeddings of one class are then up to sqrt((alpha + beta)/2) apart"`
	Reducer string  `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of triplets, or of pairs, become one number"`
	Pairing string  `yaml:"pairing" enum:"triplets|pairs" doc:"triplets: positive and negative of each mined triplet; pairs: every pair of the batch by its labels, no miner is asked"`
}

// ContrastiveLoss is d^2 for similar pairs and max(0, margin - d)^2 for different
// ones (DIBS, eq. 19). Pairs closer than margin/2 are called similar.
type ContrastiveLoss struct {
	Margin  float64 `yaml:"margin" check:">0" doc:"how far different pairs are pushed apart; pairs closer than half of it are called similar"`
	Reducer string  `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of pairs become one number"`
	Eps     float64 `yaml:"eps" check:">=0,<=0.01" doc:"its square is added to the squared distance inside the root"`
}

// CosineLoss is 1 - s for similar pairs and max(0, s - margin) for different ones,
// s the cosine of the embeddings (DIBS, eq. 22).
type CosineLoss struct {
	Margin     float64 `yaml:"margin" check:">=-1,<1" doc:"cosine that different pairs are pushed below, cos(alpha); pairs of a cosine above cos(alpha/2) are called similar"`
	Similarity string  `yaml:"similarity" enum:"cosine|paper" doc:"the cosine, or the cosine of it, as eq. 21 is printed"`
	Reducer    string  `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of pairs become one number"`
	Eps        float64 `yaml:"eps" check:">=0,<=0.01" doc:"added to the squared lengths inside the root"`
}

// RobustLoss is the triplet loss for triplets that are right with probability w1
// and have positive and negative exchanged with probability w2.
type RobustLoss struct {
	Margin      float64  `yaml:"margin" check:">=0" doc:"alpha, the wanted gap between the two distances"`
	Distance    string   `yaml:"distance" enum:"squared|euclidean" doc:"squared Euclidean distance, as in the paper, or the distance itself"`
	Form        string   `yaml:"form" enum:"expected|backward|odd|sigmoid" doc:"expected: w1 max(0, alpha + D) + w2 max(0, alpha - D), eq. 4; backward: the same with -w2, over w1^2 - w2^2; odd: the two hinges' difference; sigmoid of D/temperature; D is d_ap - d_an"`
	Weights     string   `yaml:"weights" enum:"joint|product" doc:"where noise gives them: joint probabilities that both or none of the two are right, or, as in the paper, beta gamma and (1-beta)(1-gamma)"`
	Beta        Auto     `yaml:"beta" check:">0,<=1" doc:"probability that a positive is of the anchor's class; auto follows from the noise, or from noise_from"`
	Gamma       Auto     `yaml:"gamma" check:">0,<=1" doc:"probability that a negative is of another class; auto as for beta"`
	Rho         *float64 `yaml:"rho" check:">=0,<0.5" doc:"probability that positive and negative are exchanged, in place of beta and gamma: w1 = 1 - rho, w2 = rho; null is none"`
	NoiseFrom   string   `yaml:"noise_from" doc:"noise.json that tercet eval --noise-rate has written: beta and gamma for the noise found there; empty takes the noise in force"`
	Temperature float64  `yaml:"temperature" check:">0" doc:"tau of form sigmoid"`
	Rescale     bool     `yaml:"rescale" doc:"divide by w1 - w2, so that noise does not lower the learning rate"`
	Reducer     string   `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
	Eps         float64  `yaml:"eps" check:">=0" doc:"added to each coordinate difference inside the Euclidean distance, as PyTorch does"`
}
