package stat

// Line is the least-squares line y = intercept + slope x. The slope is NaN or infinite
// where all x are equal.
func Line(x, y []float64) (slope, intercept float64) {
	mx, my := Mean(x), Mean(y)
	xy, xx := 0.0, 0.0
	for i := range x {
		xy += float64((x[i] - mx) * (y[i] - my))
		xx += float64((x[i] - mx) * (x[i] - mx))
	}
	slope = xy / xx
	return slope, my - float64(slope*mx)
}
