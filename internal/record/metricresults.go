package record

// GapResult is R(A(S)) - R_S(A(S)) over samples S.
type GapResult struct {
	Sizes
	Gap         Estimate      `json:"gap" doc:"gap R - R_S, with the control variate"`
	Values      []float64     `json:"values" doc:"the gap of each repeat"`
	Raw         Estimate      `json:"raw" doc:"the gap without the control variate"`
	Absolute    Estimate      `json:"absolute" doc:"|R - R_S|, which Theorem 1 bounds"`
	Absolutes   []float64     `json:"absolutes" doc:"|R - R_S| of each repeat"`
	Train       Estimate      `json:"train_risk" doc:"training risk R_S"`
	Test        Estimate      `json:"test_risk" doc:"test risk R"`
	Norm        Estimate      `json:"norm" doc:"norm of w"`
	MeanLoss    float64       `json:"mean_loss" doc:"largest mean loss of a triplet of the ball, an estimate of M from below"`
	LargestLoss float64       `json:"largest_loss" doc:"largest loss of a repeat"`
	Certificate float64       `json:"certificate" doc:"largest distance of a solution from the minimizer"`
	Errors      *MetricErrors `json:"errors,omitempty" doc:"triplet errors"`
	MovedPos    *Estimate     `json:"moved_pos,omitempty" doc:"mean squared movement of w, with a fresh positive"`
	MovedNeg    *Estimate     `json:"moved_neg,omitempty" doc:"mean squared movement of w, with a fresh negative"`
}

// MetricErrors holds shares of triplets with u >= 0 at zeta = 0, and at the loss's zeta.
type MetricErrors struct {
	Train           Estimate  `json:"train" doc:"training triplet error"`
	Test            Estimate  `json:"test" doc:"test triplet error"`
	Euclidean       Estimate  `json:"euclidean" doc:"test triplet error of the Euclidean metric"`
	Values          []float64 `json:"values" doc:"test error of each repeat"`
	EuclideanValues []float64 `json:"euclidean_values" doc:"Euclidean test error of each repeat"`
	// Zeta, TrainZeta and TestZeta are of the paper's 0-1 loss; older documents lack them.
	Zeta      float64   `json:"zeta,omitempty" doc:"margin of the 0-1 loss"`
	TrainZeta *Estimate `json:"train_zeta,omitempty" doc:"share of training triplets with u >= 0 at that margin"`
	TestZeta  *Estimate `json:"test_zeta,omitempty" doc:"the same of test triplets"`
	GapZeta   []float64 `json:"gap_zeta,omitempty" doc:"test_zeta - train_zeta of each repeat"`
}

// OnAverageResult is the on-average stability (Definition 2).
type OnAverageResult struct {
	Sizes
	Value  Estimate  `json:"value" doc:"mean change of the loss of the replaced triplet"`
	Values []float64 `json:"values" doc:"change of each repeat"`
	Moved  Estimate  `json:"moved_squared" doc:"mean squared movement of w"`
}

// UniformResult is what replacing samples did. Gamma is a lower estimate of the uniform
// stability: the supremum of Definition 1 is over all samples, all replacements and all
// triplets.
type UniformResult struct {
	Sizes
	Replaced    int             `json:"replacements" doc:"replacements in all repeats"`
	Gamma       Estimate        `json:"gamma" doc:"largest change of a triplet's loss in a repeat"`
	OnData      Estimate        `json:"on_data" doc:"the same, over triplets of the sample"`
	Values      []float64       `json:"values" doc:"gamma of each repeat"`
	By          []ByReplacement `json:"by" doc:"gamma by side and kind of replacement"`
	Typical     Estimate        `json:"typical" doc:"median over replaced samples of their largest change"`
	Moved       Estimate        `json:"moved" doc:"largest movement ||w - w'||"`
	Ceiling     *Estimate       `json:"ceiling,omitempty" doc:"L ||w - w'||: no loss changed by more"`
	SquaredPos  *Estimate       `json:"squared_pos,omitempty" doc:"mean squared movement, with a fresh positive"`
	SquaredNeg  *Estimate       `json:"squared_neg,omitempty" doc:"mean squared movement, with a fresh negative"`
	Certificate float64         `json:"certificate" doc:"largest distance of a solution from the minimizer"`
	Bounds      []MetricBound   `json:"bounds,omitempty" doc:"bounds of Lemma 4"`
	Lemma2      *Lemma2         `json:"lemma_2,omitempty" doc:"Lemma 2 ('sgd')"`
}

// ByReplacement is the largest change by one kind of replacement.
type ByReplacement struct {
	Side  string   `json:"side" doc:"replaced side: positives or negatives"`
	By    string   `json:"by" doc:"kind of replacement"`
	Gamma Estimate `json:"gamma" doc:"largest change of a loss"`
}

// Lemma2 sets Lemma 2 beside every replacement: the change of any triplet's loss is
// at most 2 L^2 eta times the steps that used the sample.
type Lemma2 struct {
	Replacements int           `json:"replacements" doc:"number of replacements"`
	Unused       int           `json:"unused" doc:"replaced samples that no step used"`
	UnusedMoved  int           `json:"unused_moved" doc:"unused samples whose replacement changed w"`
	Largest      float64       `json:"largest" doc:"largest change of a loss"`
	Uses         int           `json:"uses" doc:"uses of the sample with the largest change"`
	MostUses     int           `json:"most_uses" doc:"largest number of uses of a replaced sample"`
	Bounds       []MetricBound `json:"bounds" doc:"bounds at that number of uses"`
	Violations   []Violations  `json:"violations" doc:"violations of the bound at each sample's own uses"`
}

// Violations counts replacements above the bound with those constants; Ratio is the
// largest quotient of change and bound.
type Violations struct {
	Constants string  `json:"constants" doc:"'paper' or 'tight'"`
	Count     int     `json:"count" doc:"number of violations"`
	Ratio     float64 `json:"ratio" doc:"largest ratio of change to bound"`
}

// ExcessResult is R(A(S)) - R(w*) over samples S, and the terms of eq. 4, whose sum it is.
type ExcessResult struct {
	Sizes
	Excess       Estimate  `json:"excess" doc:"R(A(S)) - R(w*)"`
	Values       []float64 `json:"values" doc:"the excess risk of each repeat"`
	Estimation   Estimate  `json:"estimation" doc:"R(A(S)) - R_S(A(S))"`
	Optimization Estimate  `json:"optimization" doc:"R_S(A(S)) - R_S(w*)"`
	Deviation    Estimate  `json:"deviation" doc:"R_S(w*) - R(w*)"`
	Least        float64   `json:"least" doc:"R(w*)"`
	Norm         float64   `json:"norm" doc:"||w*||"`
	Certificate  float64   `json:"certificate" doc:"largest distance of a solution from the minimizer"`
}

// LemmaResult is what Lemmas 1, 3 and 5 and Theorem 3 bound, over samples S; w* minimizes
// the regularized risk.
type LemmaResult struct {
	Sizes
	Triple          Estimate  `json:"triple" doc:"largest change of a loss with two positives and a negative replaced"`
	TripleValues    []float64 `json:"triple_values" doc:"that change of each repeat"`
	Steps           Estimate  `json:"steps" doc:"sum of the largest changes of the three single replacements"`
	Deviation       Estimate  `json:"deviation" doc:"|R_S(w*) - R(w*)|"`
	DeviationValues []float64 `json:"deviation_values" doc:"that of each repeat"`
	Mean            Estimate  `json:"mean" doc:"|E_S[l(A(S)) - l(w*)]| at the triplet where it is largest"`
	MeanValues      []float64 `json:"mean_values" doc:"l(A(S)) - l(w*) of each repeat there, with the sign of the mean"`
	Gap             Estimate  `json:"gap" doc:"|R_S(A(S)) - R(A(S))|"`
	GapValues       []float64 `json:"gap_values" doc:"that of each repeat"`
	Risk            float64   `json:"risk" doc:"R(w*)"`
	B               float64   `json:"b" doc:"largest loss of w*"`
	Tau             float64   `json:"tau" doc:"variance of the loss of w*"`
	Certificate     float64   `json:"certificate" doc:"largest distance of a solution from the minimizer"`
}

// NotionsResult is the notions of stability of Table 4 that are about means over fresh
// triplets or about w; samples are replaced by fresh points.
type NotionsResult struct {
	Sizes
	Hypothesis       Estimate  `json:"hypothesis" doc:"mean |l - l'|, of the side where it is larger"`
	HypothesisValues []float64 `json:"hypothesis_values" doc:"that of each repeat"`
	Error            Estimate  `json:"error" doc:"largest |mean of l - l'| of a repeat"`
	ErrorValues      []float64 `json:"error_values" doc:"that of each repeat"`
	Moved            Estimate  `json:"moved" doc:"mean ||w - w'||, of the side where it is larger"`
	MovedValues      []float64 `json:"moved_values" doc:"that of each repeat"`
	Near             Estimate  `json:"near" doc:"mean |l - l'| of the tenth of the triplets with a point nearest to the replaced one"`
	NearValues       []float64 `json:"near_values" doc:"that of each repeat"`
	Far              Estimate  `json:"far" doc:"the same of the tenth that is farthest"`
	FarValues        []float64 `json:"far_values" doc:"that of each repeat"`
	Elastic          Estimate  `json:"elastic" doc:"largest mean |l - l'| by one replaced sample of a repeat"`
	// Of each side: hypothesis stability and ||w - w'||.
	Positives   [2]Estimate `json:"positives" doc:"mean |l - l'| and mean ||w - w'||, with a positive replaced"`
	Negatives   [2]Estimate `json:"negatives" doc:"the same, with a negative replaced"`
	Certificate float64     `json:"certificate" doc:"largest distance of a solution from the minimizer"`
}

// KeptPoint is a file of RUN/stability/points: what was measured at one setting.
type KeptPoint struct {
	Schema string `json:"schema"`
	// By is the program and its kernel: results of another are measured again.
	By      string  `json:"by"`
	Seconds float64 `json:"seconds"`
	Result  any     `json:"result"`
}
