package stat

import "slices"

// Quantile of one or more sorted values, p from 0 to 1, between neighbors on a line (R's
// type 7, NumPy's default). Every reported quantile is this one, but for NearestRank.
func Quantile(sorted []float64, p float64) float64 {
	at := float64(p * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// Interval95 is the percentile interval of resampled values: from the 2.5 % to the 97.5 %
// quantile. It sorts the values.
func Interval95(values []float64) [2]float64 {
	slices.Sort(values)
	return [2]float64{Quantile(values, 0.025), Quantile(values, 0.975)}
}

// NearestRank is the smallest of one or more sorted values that percent % of them do not
// exceed (R's type 1): always one of the values. The loss changes of stability.json are
// these, because each is then the change of one triplet.
func NearestRank(sorted []float64, percent int) float64 {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
