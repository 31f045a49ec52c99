package printed

import "tercet/internal/record"

// BoundDIBS is what tercet bound dibs prints, schema tercet.bound/1.
type BoundDIBS struct {
	Schema   string  `json:"schema" doc:"the name and number of the schema"`
	Kind     string  `json:"kind" doc:"'dibs'"`
	Classes  int     `json:"classes" doc:"number of classes"`
	PerClass int     `json:"per_class" doc:"images in each class"`
	P        float64 `json:"p" doc:"probability of a wrong pair label"`
	Q        float64 `json:"q" doc:"q~ = 2P"`
	Pairs    int     `json:"pairs" doc:"number of pairs"`
	record.DIBSBounds
	Cycles     []Cycles    `json:"cycles" doc:"inconsistent cycles by their length"`
	Simulation *Simulation `json:"simulation,omitempty" doc:"graphs that were drawn, if asked for"`
}

// Cycles compares E_diff with what it counts: cycles of pairs of which exactly one is
// labeled different, so that no relation that is transitive can satisfy all of them.
// Numbers are expected ones per pair.
type Cycles struct {
	Length  int     `json:"length" doc:"images in the cycle"`
	Indices int     `json:"indices" doc:"1: different pairs of one index; 2: pairs of two neighboring indices, joined by two similar pairs"`
	Printed float64 `json:"printed" doc:"the term of E_diff"`
	Exact   float64 `json:"exact" doc:"the true expected number, for three images of each class or more"`
}

// Simulation is what was measured on drawn graphs: errors as shares of the pairs.
type Simulation struct {
	Negatives string `json:"negatives" doc:"kind of negatives"`
	Seed      uint64 `json:"seed" doc:"random seed"`
	Wanted    int    `json:"draws_wanted" doc:"number of draws asked for"`
	Draws     []Draw `json:"draws" doc:"the draws in order; fewer after an interruption"`
	Images    int    `json:"images" doc:"images of each graph"`
	Pairs     int    `json:"pairs" doc:"pairs of each graph"`

	Wrong           record.Mean `json:"wrong" doc:"errors of the true classes"`
	FloorDuplicates record.Mean `json:"floor_duplicates" doc:"unavoidable errors of duplicate pairs"`
	Expected        float64     `json:"expected_floor_duplicates" doc:"expected value of 'floor_duplicates' for these negatives"`
	Multicut        record.Mean `json:"multicut" doc:"errors of the best partitions found"`
	// MulticutLower is there where some draw is not proven.
	MulticutLower *record.Mean `json:"multicut_lower,omitempty" doc:"lower bounds of 'multicut', if some optima are not proven"`
	Proven        int          `json:"proven" doc:"draws with a proven optimum"`
	Clusters      record.Mean  `json:"clusters" doc:"clusters of the partitions"`
	Theorem       *Theorem     `json:"theorem,omitempty" doc:"verdicts on Theorem 1; absent for random negatives, which it does not cover"`
}

// Draw is one graph.
type Draw struct {
	Draw  int `json:"draw" doc:"number of the draw"`
	Wrong int `json:"wrong" doc:"wrong pairs under the true classes"`
	record.GraphFloor
}

// Theorem compares Theorem 1 with two readings of the error that no network can go
// below: the duplicates' and the best partition's.
type Theorem struct {
	FloorDuplicates TheoremChecks `json:"floor_duplicates" doc:"of the errors of duplicate pairs, whose known mean decides"`
	Multicut        TheoremChecks `json:"multicut" doc:"of the errors of the best partitions, whose 95 % interval decides"`
}

// TheoremChecks says which claims of Theorem 1 hold for an error.
type TheoremChecks struct {
	Lower     TheoremCheck `json:"lower" doc:"E_sim + lower <= error"`
	Upper     TheoremCheck `json:"upper" doc:"error < E_sim + E_diff; equal counts as supported"`
	Corollary string       `json:"corollary,omitempty" doc:"of two classes: error = E_sim + P(1-P)/2; for 'multicut' to within a tenth of P(1-P)/2"`
}

// TheoremCheck is the verdict on one claim. The theorem is about the mean over graphs;
// single draws scatter around it.
type TheoremCheck struct {
	Verdict string `json:"verdict" doc:"'supported', 'contradicted' or 'inconclusive'"`
	Draws   int    `json:"draws" doc:"number of draws that satisfy the inequality themselves"`
}

// BoundNoise is what tercet bound noise prints, schema tercet.bound/1.
type BoundNoise struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	Kind   string `json:"kind" doc:"'noise'"`
	*MatchedNoise
}

// MatchedNoise is noise of three kinds that compare: on labels and on pairs with the same
// effective noise P, and on the order of triplets with the same contrast 1-2P.
type MatchedNoise struct {
	Given     string     `json:"given" doc:"which number was given: 'sln', 'rate', 'pln', 'effective' or 'flips'"`
	Value     float64    `json:"value" doc:"that number"`
	Classes   int        `json:"classes" doc:"number of classes"`
	Similar   float64    `json:"similar" doc:"fraction of similar pairs before noise, for 'pln'"`
	Effective float64    `json:"effective" doc:"effective noise P"`
	SLN       LabelNoise `json:"sln" doc:"noise on labels"`
	PLN       LabelNoise `json:"pln" doc:"noise on pair labels"`
	Flips     OrderNoise `json:"flips" doc:"noise on the order of triplets"`
}

// LabelNoise is noise on labels (SLN) or on pair labels (PLN).
type LabelNoise struct {
	Q    float64 `json:"q" doc:"q or q~: probability that a label is drawn again"`
	Rate float64 `json:"rate" doc:"probability that a label changes"`
	NoiseWeights
}

// OrderNoise is noise on the order of triplets.
type OrderNoise struct {
	Rho float64 `json:"rho" doc:"probability that positive and negative are exchanged"`
	NoiseWeights
}

// NoiseWeights says how often a triplet is right: as it is, and with the errors of its two
// pairs taken as independent.
type NoiseWeights struct {
	record.TripletWeights         // w11 and the others are joint probabilities
	Product               Product `json:"product" doc:"the weights as products"`
	Contrast              float64 `json:"contrast" doc:"w11 - w00: fraction of the clean signal that remains"`
}

// Product is the weights as products: w11 = beta gamma and so on.
type Product struct {
	W11 float64 `json:"w11" doc:"beta gamma"`
	W10 float64 `json:"w10" doc:"beta (1 - gamma)"`
	W01 float64 `json:"w01" doc:"(1 - beta) gamma"`
	W00 float64 `json:"w00" doc:"(1 - beta) (1 - gamma)"`
}

// BoundAmbiguous is what tercet bound ambiguous prints, schema tercet.bound/1.
type BoundAmbiguous struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	Kind   string `json:"kind" doc:"'ambiguous'"`
	*Ambiguous
}

// Ambiguous holds the claim of the noise-robust appendix that triplets with one wrong label
// have an expected gradient of zero against drawn triplets. Classes are N(+-Apart/2 e1, I) in
// the plane, the embedding is f(x) = s x, and gradients are those in s: above 0 they shrink
// the embedding.
type Ambiguous struct {
	Beta    float64         `json:"beta" doc:"probability that the positive is right"`
	Gamma   float64         `json:"gamma" doc:"probability that the negative is right"`
	Margin  float64         `json:"margin" doc:"margin of the loss on squared distances"`
	Scale   float64         `json:"scale" doc:"s of the embedding f(x) = s x"`
	Apart   float64         `json:"apart" doc:"distance of the class means, in standard deviations"`
	Draws   int             `json:"draws" doc:"triplets of each kind"`
	Kinds   []AmbiguousKind `json:"kinds" doc:"the four kinds of triplets"`
	Kept    AmbiguousPart   `json:"kept" doc:"what equations 3 and 4 of the paper keep"`
	Dropped AmbiguousPart   `json:"dropped" doc:"what they neglect: the ambiguous part of equation 2"`
}

// AmbiguousKind is one of the four kinds of triplets of equation 1.
type AmbiguousKind struct {
	Positive    bool    `json:"positive_right" doc:"whether the positive is right"`
	Negative    bool    `json:"negative_right" doc:"whether the negative is right"`
	Probability float64 `json:"probability" doc:"probability of the kind"`
	AmbiguousPart
	Largest float64 `json:"largest" doc:"largest |D| that was drawn; only if it were at most the margin would the gradient of ambiguous triplets be 0"`
}

// AmbiguousPart is the expected loss of some triplets, and its gradient in s.
type AmbiguousPart struct {
	Loss     Expected `json:"loss" doc:"expected loss"`
	Gradient Expected `json:"gradient" doc:"its derivative with respect to s"`
}

// Expected is a mean of draws with its 95 % interval.
type Expected struct {
	Value float64    `json:"value" doc:"mean over draws"`
	CI95  [2]float64 `json:"ci95" doc:"95 % interval"`
}

// BoundStability is what tercet bound stability prints, schema tercet.bound/1.
type BoundStability struct {
	Schema    string             `json:"schema" doc:"the name and number of the schema"`
	Kind      string             `json:"kind" doc:"'stability'"`
	Source    string             `json:"source" doc:"theorem, lemma or corollary"`
	Inputs    map[string]float64 `json:"inputs" doc:"the given numbers, by name of the flag, with '_' for '-'"`
	Constants string             `json:"constants,omitempty" doc:"'paper' or 'tight', if they matter"`
	Forms     []BoundForm        `json:"forms" doc:"the bound in each form"`
}

// BoundForm is one form of the bound, or why there is none.
type BoundForm struct {
	Form string `json:"form" doc:"'paper' or 'corrected'"`
	*record.BoundValue
	Refused string `json:"refused,omitempty" doc:"the assumption of that form that is not met"`
}

// BoundPartition is what tercet bound partition prints, schema tercet.bound/1.
type BoundPartition struct {
	Schema     string            `json:"schema" doc:"the name and number of the schema"`
	Kind       string            `json:"kind" doc:"'partition'"`
	Partitions []StoredPartition `json:"partitions" doc:"each setting, with the runs that have it"`
	Others     []string          `json:"others,omitempty" doc:"runs for which there is no such partition"`
}

// StoredPartition is a partition and the runs that have it.
type StoredPartition struct {
	Runs []string `json:"runs" doc:"directories of the runs"`
	Kept bool     `json:"kept,omitempty" doc:"whether the partition was already stored"`
	*record.Partition
}
