package noise

import (
	"fmt"
	"math"
)

// SLNRate returns the probability that single-label noise changes a label:
// q (K-1)/K, where q is the probability that the label is replaced by one of all K
// classes, its own included. NaN for q outside [0, 1] or fewer than one class.
func SLNRate(q float64, classes int) float64 {
	if !isProbability(q) || classes < 1 {
		return math.NaN()
	}
	return q * float64(classes-1) / float64(classes)
}

// SLNFromRate returns the q of single-label noise that changes labels at rate. Rates
// above (K-1)/K, more than drawing all labels again gives, come with a q above 1, for
// which SLNEffective still holds. NaN for rates outside [0, 1] or fewer than two
// classes.
func SLNFromRate(rate float64, classes int) float64 {
	if !isProbability(rate) || classes < 2 {
		return math.NaN()
	}
	return rate * float64(classes) / float64(classes-1)
}

// SLNEffective returns the effective noise of single-label noise, q - q²/2 whatever
// the number of classes (Fonseca & Guidetti, eq. 17). It holds for classes of equal
// size, and for q up to K/(K-1). NaN for q outside [0, 2].
func SLNEffective(q float64) float64 {
	if !(q >= 0 && q <= 2) {
		return math.NaN()
	}
	return q - float64(q*q/2)
}

// SLNFromEffective returns the q of single-label noise that makes a share p of
// balanced pairs wrong, 1 - sqrt(1-2p). Labels drawn wholly again make half of them
// wrong: a p outside [0, 1/2] is an error.
func SLNFromEffective(p float64) (float64, error) {
	if err := effective(p); err != nil {
		return 0, err
	}
	return 2 * p / (1 + math.Sqrt(1-2*p)), nil // the same, without cancellation
}

// PLNEffective returns the effective noise of pair-label noise, q/2: the probability
// that a pair's label changes when it is replaced by a fair coin with probability q
// (Fonseca & Guidetti, eq. 10). NaN for q outside [0, 1].
func PLNEffective(q float64) float64 {
	if !isProbability(q) {
		return math.NaN()
	}
	return q / 2
}

// PLNFromEffective returns the q of pair-label noise that makes a share p of the pairs
// wrong. A p outside [0, 1/2] is an error: fair coins are wrong half of the time.
func PLNFromEffective(p float64) (float64, error) {
	if err := effective(p); err != nil {
		return 0, err
	}
	return 2 * p, nil
}

// effective refuses what is no effective noise.
func effective(p float64) error {
	if !(p >= 0 && p <= 0.5) {
		return fmt.Errorf("noise: effective noise is %v, want a number from 0 to 0.5: labels without information are wrong for half of the pairs", p)
	}
	return nil
}

func isProbability(p float64) bool { return p >= 0 && p <= 1 }

// checkProbability refuses what is no probability, naming it.
func checkProbability(name string, p float64) error {
	if !isProbability(p) {
		return fmt.Errorf("noise: %s is %v, want a number from 0 to 1", name, p)
	}
	return nil
}
