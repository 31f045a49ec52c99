package measure

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/theory/stability"
)

// ofSeries is the bound on a quantity of a learner and what it assumes of the loss.
var ofSeries = []struct {
	quantity, learner, source string
	lipschitz, smooth         bool
}{
	{"gamma", "rrm", "Lemma 4", true, false},
	{"gamma", "sgd", "Lemma 2", true, true},
	{"|gap|", "rrm", "Theorem 1", true, false},
	{"|gap|", "sgd", "Theorem 2", true, true},
	{"gap", "rrm", "Theorem 4", false, true},
}

// Unbounded says why bounds are missing at points of the series, in the ball of that
// radius; "" where none is.
func Unbounded(s record.MetricSeries, radius float64) string {
	switch {
	case s.Quantity == "on-average":
		return "no bound is on the on-average stability itself; its expectation is that of the gap"
	case s.Quantity == "triplet error", s.Quantity == zeroOneGap:
		return "bounds are on losses, not on errors"
	case s.Quantity == "gap" && s.Learner.Name == "sgd":
		return "the bounds on the expected gap are those of regularized risk minimization"
	}
	l, err := mahalanobis.NewLoss(s.Learner.Loss, s.Learner.Zeta, s.Learner.Delta)
	if err != nil {
		return "" // a document of another making
	}
	for _, of := range ofSeries {
		if of.quantity == s.Quantity && of.learner == s.Learner.Name {
			return without(s, l, radius, of.source, of.lipschitz, of.smooth)
		}
	}
	return ""
}

// without says why points lack the bound of that source.
func without(s record.MetricSeries, l mahalanobis.Loss, radius float64, source string, lipschitz, smooth bool) string {
	var alpha [2]float64
	for i, constants := range []string{stability.Paper, stability.Tight} {
		k, err := l.Constants(radius, constants)
		switch {
		case err != nil:
			return ""
		case lipschitz && math.IsInf(k.L, 0):
			return fmt.Sprintf("%s assumes a Lipschitz loss, which %s is not", source, l.Name)
		case smooth && math.IsInf(k.Alpha, 0):
			return fmt.Sprintf("%s assumes a smooth loss, which %s is not", source, l.Name)
		}
		alpha[i] = k.Alpha
	}
	lacks := func(constants string) bool {
		return slices.ContainsFunc(s.Points, func(p record.MetricPoint) bool {
			return !slices.ContainsFunc(p.Bounds, func(b record.MetricBound) bool { return b.Source == source && b.Constants == constants })
		})
	}
	if !lacks(stability.Paper) && !lacks(stability.Tight) {
		return ""
	}
	switch source {
	case "Theorem 4":
		return fmt.Sprintf("Theorem 4 assumes sigma min(n+, n-) >= 8 alpha: %.4g with the paper's alpha, %.4g with the smallest", 8*alpha[0], 8*alpha[1])
	case "Theorem 2":
		return fmt.Sprintf("the paper's alpha allows c up to 2/alpha = %.4g, and SGD has c = %.4g: Theorem 2 with the smallest alpha alone", 2/alpha[0], s.Learner.C)
	case "Lemma 2":
		return fmt.Sprintf("the paper's alpha allows steps up to 2/alpha = %.4g, and SGD's are larger at some setting: Lemma 2 with the smallest alpha alone", 2/alpha[0])
	}
	return ""
}
