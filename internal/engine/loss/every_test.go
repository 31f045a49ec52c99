package loss

// The values of options that tests go through.
func everyReduction() []Reduction { return []Reduction{Mean, Sum, MeanNonzero} }
func everyDistance() []Distance   { return []Distance{Euclidean, Squared} }
func everyForm() []RobustForm {
	return []RobustForm{RobustExpected, RobustBackward, RobustOdd, RobustSigmoid}
}
