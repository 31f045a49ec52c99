package noise

import (
	"math"

	"tercet/internal/record"
)

// Product returns the weights with the errors taken as independent, as the
// noise-robust triplet loss does: W11 = Beta Gamma and so on.
func Product(w record.TripletWeights) record.TripletWeights { return independent(w.Beta, w.Gamma) }

func independent(beta, gamma float64) record.TripletWeights {
	return record.TripletWeights{
		Beta: beta, Gamma: gamma,
		W11: beta * gamma, W10: beta * (1 - gamma),
		W01: (1 - beta) * gamma, W00: (1 - beta) * (1 - gamma),
	}
}

// SLNTriplets returns the weights of triplets that are drawn by labels with
// single-label noise q: the positive from the anchor's noisy class, the negative from
// another one, all classes being equally large. The two errors share the anchor's
// label, so they are not independent; the weights are the joint ones, exactly. All are
// NaN for q outside [0, K/(K-1)] or fewer than two classes.
func SLNTriplets(q float64, classes int) record.TripletWeights {
	k := float64(classes)
	if classes < 2 || !(q >= 0 && q*(k-1) <= k*(1+1e-12)) {
		return undefined()
	}
	e := q / k     // a label is one certain wrong class
	s := 1 - q + e // a label is right
	// The anchor's label is wrong: the negative, of another label, is of the anchor's
	// true class.
	nu := s/(k-1) + e*(k-2)/(k-1)
	w := record.TripletWeights{
		W11: float64(s*s*(1-e)) + float64((k-1)*e*e*(1-nu)),
		W10: float64(s*s*e) + float64((k-1)*e*e*nu),
		W01: float64(s*(1-s)*(1-e)) + float64((k-1)*e*(1-e)*(1-nu)),
		W00: float64(s*(1-s)*e) + float64((k-1)*e*(1-e)*nu),
	}
	w.Beta, w.Gamma = w.W11+w.W10, w.W11+w.W01
	return w
}

// PLNTriplets returns the weights of triplets made of a pair that is labeled similar
// and one that is labeled different, when pair labels flip with probability p and a
// share similar of the pairs is truly similar. Flips are independent, and so are the
// errors. All are NaN for arguments outside [0, 1], and where no pair is left under one
// of the labels.
func PLNTriplets(p, similar float64) record.TripletWeights {
	if !isProbability(p) || !isProbability(similar) {
		return undefined()
	}
	different := 1 - similar
	beta := similar * (1 - p) / (float64(similar*(1-p)) + float64(different*p))
	gamma := different * (1 - p) / (float64(different*(1-p)) + float64(similar*p))
	if math.IsNaN(beta) || math.IsNaN(gamma) {
		return undefined()
	}
	return independent(beta, gamma)
}

// OrderFlips returns the weights of clean triplets whose positive and negative change
// places with probability rho. Both are then right or both wrong: Beta and Gamma are
// 1-rho, and their product is not W11. All are NaN for rho outside [0, 1].
func OrderFlips(rho float64) record.TripletWeights {
	if !isProbability(rho) {
		return undefined()
	}
	return record.TripletWeights{Beta: 1 - rho, Gamma: 1 - rho, W11: 1 - rho, W00: rho}
}

func undefined() record.TripletWeights {
	n := math.NaN()
	return record.TripletWeights{Beta: n, Gamma: n, W11: n, W10: n, W01: n, W00: n}
}
