package loss

import (
	"strings"
	"testing"

	"tercet/internal/component"
)

// What options ask of their values beyond the tags, and New with them.
func TestOptionRules(t *testing.T) {
	rho := 0.1
	for want, o := range map[string]Options{
		"eps must be at most 0.01, is 1":                               TripletOptions{0.2, Euclidean, Hinge, Mean, 1},
		"eps must be at most 0.0001, is 0.001":                         CosineOptions{0.5, Cosine, Mean, 1e-3},
		"eps must be at most 0.01, is 0.02":                            RobustOptions{Distance: Squared, Form: RobustOdd, Weights: "joint", Temperature: 1, Reduce: Mean, Eps: 0.02, W1: 1},
		"alpha must be above loss.beta (0.5), is 0.5":                  CappedOptions{0.5, 0.5, Mean},
		"alpha must be above loss.beta (0.6), is 0.5":                  ThresholdOptions{0.5, 0.6, Mean, ByPairs},
		"beta beta and gamma must be set together":                     RobustOptions{Distance: Squared, Form: RobustOdd, Weights: "joint", Temperature: 1, Reduce: Mean, W1: 1, Beta: component.Auto{Given: true, N: 0.9}},
		"rho is another way to say":                                    RobustOptions{Distance: Squared, Form: RobustOdd, Weights: "joint", Temperature: 1, Reduce: Mean, W1: 1, Rho: &rho, Beta: component.Auto{Given: true, N: 0.9}, Gamma: component.Auto{Given: true, N: 0.9}},
		"beta beta + gamma is 1":                                       RobustOptions{Distance: Squared, Form: RobustOdd, Weights: "joint", Temperature: 1, Reduce: Mean, W1: 1, Beta: component.Auto{Given: true, N: 0.4}, Gamma: component.Auto{Given: true, N: 0.6}},
		"noise_from is read for beta and gamma":                        RobustOptions{Distance: Squared, Form: RobustOdd, Weights: "joint", Temperature: 1, Reduce: Mean, W1: 1, Rho: &rho, NoiseFrom: "x"},
		"temperature must be from 1e-6 to 1e6 with form sigmoid, is 5": RobustOptions{Distance: Squared, Form: RobustSigmoid, Weights: "joint", Temperature: 5e6, Reduce: Mean, W1: 1},
	} {
		if _, err := o.New(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
