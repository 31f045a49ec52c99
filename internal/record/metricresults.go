package record

// GapResult is R(A(S)) - R_S(A(S)) over samples S.
type GapResult struct {
	Sizes
	// Gap is the mean with the control variate: R_S - R of a fixed w, learnt from the
	// reference, which has mean 0, is added. Values are those of each repeat.
	Gap    Estimate  `json:"gap"`
	Values []float64 `json:"values"`
	// Raw is without it; Absolute is |R - R_S|, what Theorem 1 bounds.
	Raw       Estimate  `json:"raw"`
	Absolute  Estimate  `json:"absolute"`
	Absolutes []float64 `json:"absolutes"`
	Train     Estimate  `json:"train_risk"` // R_S
	Test      Estimate  `json:"test_risk"`  // R
	Norm      Estimate  `json:"norm"`       // ||w||
	// MeanLoss is the largest mean over samples of a triplet's loss, over triplets of the
	// ball: an estimate of M of Theorem 1, from below (S8). LargestLoss is the largest
	// loss of a repeat.
	MeanLoss    float64       `json:"mean_loss"`
	LargestLoss float64       `json:"largest_loss"`
	Certificate float64       `json:"certificate"`
	Errors      *MetricErrors `json:"errors,omitempty"`
	// MovedPos and MovedNeg are means of ||A(S') - A(S)||^2, with a fresh positive and a
	// fresh negative in S'.
	MovedPos *Estimate `json:"moved_pos,omitempty"`
	MovedNeg *Estimate `json:"moved_neg,omitempty"`
}

// MetricErrors holds shares of triplets with u >= 0 at zeta = 0.
type MetricErrors struct {
	Train     Estimate `json:"train"`
	Test      Estimate `json:"test"`
	Euclidean Estimate `json:"euclidean"` // w = I, test
	// Values and EuclideanValues are the test errors of each repeat.
	Values          []float64 `json:"values"`
	EuclideanValues []float64 `json:"euclidean_values"`
}

// OnAverageResult is the on-average stability (Definition 2).
type OnAverageResult struct {
	Sizes
	// Value is the mean over repeats of l(A(S_ijk); z_i, z_j, z_k) - l(A(S); z_i, z_j,
	// z_k), with the points of S. Its expectation is that of R(A(S)) - R_S(A(S)).
	Value  Estimate  `json:"value"`
	Values []float64 `json:"values"` // of each repeat
	// Moved is the mean of ||A(S_ijk) - A(S)||^2.
	Moved Estimate `json:"moved_squared"`
}

// UniformResult is what replacing samples did. Gamma is a lower estimate of the uniform
// stability: the supremum of Definition 1 is over all samples, all replacements and all
// triplets.
type UniformResult struct {
	Sizes
	Replaced int `json:"replacements"` // in all repeats
	// Gamma is the largest change of a triplet's loss in a repeat; OnData the same over
	// triplets of the sample alone.
	Gamma  Estimate  `json:"gamma"`
	OnData Estimate  `json:"on_data"`
	Values []float64 `json:"values"` // Gamma of each repeat
	// By is Gamma with one side replaced, by one kind of point; its order is that of
	// sides and Replacements.
	By []ByReplacement `json:"by"`
	// Typical is the median over replaced samples of their largest change (S7).
	Typical Estimate `json:"typical"`
	Moved   Estimate `json:"moved"` // the largest ||w - w'||
	// Ceiling is L ||w - w'||, with the tight L: no triplet's loss changed by more. Absent
	// for a loss that is not Lipschitz.
	Ceiling *Estimate `json:"ceiling,omitempty"`
	// SquaredPos and SquaredNeg are means of ||w - w'||^2 over fresh points: what Lemma 6
	// asks for. Absent where no fresh points were drawn.
	SquaredPos *Estimate `json:"squared_pos,omitempty"`
	SquaredNeg *Estimate `json:"squared_neg,omitempty"`
	// Certificate is the largest distance of a solution from the minimiser.
	Certificate float64 `json:"certificate"`
	// Bounds are those of Lemma 4, each crossed where the largest change of all repeats
	// is above it; for SGD of Lemma 2, see Lemma2.
	Bounds []MetricBound `json:"bounds,omitempty"`
	Lemma2 *Lemma2       `json:"lemma_2,omitempty"`
}

// ByReplacement is the largest change by one kind of replacement.
type ByReplacement struct {
	Side  string   `json:"side"`
	By    string   `json:"by"`
	Gamma Estimate `json:"gamma"`
}

// Lemma2 sets Lemma 2 beside every replacement: the change of any triplet's loss is
// at most 2 L^2 eta times the steps that used the sample.
type Lemma2 struct {
	Replacements int `json:"replacements"`
	Unused       int `json:"unused"`       // of samples that no step used
	UnusedMoved  int `json:"unused_moved"` // of them, those that changed w
	// Largest is the replacement with the largest change, and the uses of its sample.
	Largest float64 `json:"largest"`
	Uses    int     `json:"uses"`
	// MostUses is the largest number of uses of a replaced sample, of which Bounds are.
	MostUses   int           `json:"most_uses"`
	Bounds     []MetricBound `json:"bounds"`
	Violations []Violations  `json:"violations"`
}

// Violations counts replacements above the bound with those constants; Ratio is the
// largest quotient of change and bound.
type Violations struct {
	Constants string  `json:"constants"`
	Count     int     `json:"count"`
	Ratio     float64 `json:"ratio"`
}
