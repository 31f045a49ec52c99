package loss

// Reduction says how the values of a batch's tuples become one loss.
type Reduction string

const (
	// Mean divides the sum by the number of tuples.
	Mean Reduction = "mean"
	// Sum adds the values up.
	Sum Reduction = "sum"
	// MeanNonzero divides the sum by the number of tuples with a positive value
	// ("AvgNonZero" in metric-learning libraries), so that inactive tuples do not
	// dilute the gradient.
	MeanNonzero Reduction = "mean-nonzero"
)

// finish makes the sums over res.Tuples tuples of res the loss and the means, and returns the
// factor of each tuple's gradient.
func (r Reduction) finish(res *Result) (scale float64) {
	scale = r.scale(res.Tuples, res.Active)
	res.Loss *= scale
	if res.Tuples > 0 {
		res.Positive /= float64(res.Tuples)
		res.Negative /= float64(res.Tuples)
	}
	return scale
}

// scale returns the factor that turns the sum of the values of `tuples` tuples,
// `active` of them positive, into the loss. The factor of an empty batch is 0.
func (r Reduction) scale(tuples, active int) float64 {
	switch {
	case r == Sum:
		return 1
	case r == Mean && tuples > 0:
		return 1 / float64(tuples)
	case r == MeanNonzero && active > 0:
		return 1 / float64(active)
	}
	return 0
}
