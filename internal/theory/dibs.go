package theory

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/noise"
	"tercet/internal/record"
)

// ErrInput is wrapped by every error about numbers that nothing can be calculated from.
var ErrInput = errors.New("cannot calculate")

// DIBS evaluates Theorem 1 for n_c classes of N_c = perClass images each, whose 2 n_c
// N_c pairs are a closed chain of similar ones in each class and, for each image, a
// different one to the image of the same index in another class; each label is wrong
// with probability P. With r = ((1-P)/2)^2,
//
//	E_sim  = P (1-P)^(N_c-1) / 2
//	lower  = P (1-P) / (2 (n_c-1))
//	E_diff = sum_{m=2}^{n_c} m P^(m-1) (1-P) / (2^m (n_c-1)^(m-1)) (n_c-2)!/(n_c-m)!
//	         * sum_{i=0}^{floor(N_c/2)} r^i
//	lower <= Error - E_sim < E_diff                                    (eqs. 7, 8)
//
// as printed, and for n_c = 2 Error - E_sim = P(1-P)/2 (Corollary 1.1), which is
// right but for terms of P^2.
//
// What is wrong with it, as numbered in the notes on the paper:
//   - D13: the number of inconsistent m-cycles of one index has the coefficient 1/2
//     for m >= 3 where E_diff has m/2^m, and cycles over neighboring indices are
//     counted sixteen times too rarely. E_diff bounds no error of a consistent
//     relation: that one is 1.6 to 6 times as large for three classes and more.
//   - D14: the floor is put down to broken transitivity. A distance below a
//     threshold need not be transitive; only pairs that carry both labels are
//     unavoidable, and their share, FloorDuplicates, is the lower bound.
//   - D15: the noise is T_PLN(2P): pair labels are replaced by a fair coin with
//     probability q~ = 2P and so are wrong with probability P.
//
// FloorDuplicates is exact: P(1-P)/(2(n_c-1)), and P(1-P)/2 more for chains of two
// images, whose one pair occurs twice.
//
// Errors: fewer than two classes or two images of each, more than 10^9 of either; a P
// outside [0, 1/2].
func DIBS(classes, perClass int, p float64) (record.DIBSBounds, error) {
	switch {
	case classes < 2:
		return record.DIBSBounds{}, fmt.Errorf("%w: number of classes is %d; different pairs need two or more", ErrInput, classes)
	case perClass < 2:
		return record.DIBSBounds{}, fmt.Errorf("%w: number of images of each class is %d; similar pairs need two or more", ErrInput, perClass)
	case max(classes, perClass) > 1e9:
		return record.DIBSBounds{}, fmt.Errorf("%w: %d classes of %d images each; at most 10^9 of either", ErrInput, classes, perClass)
	case !(p >= 0 && p <= 0.5):
		return record.DIBSBounds{}, fmt.Errorf("%w: noise is %v, want a number from 0 to 0.5: labels without information are wrong for half of the pairs", ErrInput, p)
	}
	b := record.DIBSBounds{
		ESim:  float64(p * math.Exp(float64(perClass-1)*math.Log1p(-p)) / 2),
		Lower: p * (1 - p) / (2 * float64(classes-1)),
	}
	b.EDiff = float64(sameIndex(classes, p, b.Lower) * chains(perClass, p))
	b.AbsoluteLower, b.AbsoluteUpper = b.ESim+b.Lower, b.ESim+b.EDiff
	b.FloorDuplicates = duplicatesFloor(classes, perClass, p, noise.SameIndex)
	if classes == 2 {
		c := p * (1 - p) / 2
		b.Corollary = &c
	}
	return b, nil
}

// sameIndex is the first sum of E_diff, over m; its first term is the lower bound.
// Each next term is the last one times (m+1)/m (n_c-m)/(n_c-1) P/2, which is below
// 3P/4, so that some hundred terms are all that a float64 can see.
func sameIndex(classes int, p, first float64) float64 {
	sum, term := first, first
	for m := 2; m < classes && term > sum*0x1p-60; m++ {
		term = float64(term * (float64(m+1) / float64(m) * float64(classes-m) / float64(classes-1) * p / 2))
		sum += term
	}
	return sum
}

// chains is the second sum of E_diff, a geometric one.
func chains(perClass int, p float64) float64 {
	r := float64((1 - p) * (1 - p) / 4)
	return (1 - math.Pow(r, float64(perClass/2+1))) / (1 - r)
}

// duplicatesFloor returns the expected share of pairs that are in error whatever is
// learned, because the same two images are labeled both ways: a pair of nodes that
// occurs twice is so with probability 2P(1-P) and then costs one error. With
// noise.SameIndex negatives n_c N_c/(2(n_c-1)) node pairs occur twice among the 2 n_c
// N_c pairs, with noise.RandomOne ones N_c times fewer. A chain of two images adds
// P(1-P)/2.
func duplicatesFloor(classes, perClass int, p float64, negatives string) float64 {
	floor := noise.Floor(p, classes)
	if negatives == noise.RandomOne {
		floor /= float64(perClass)
	}
	if perClass == 2 {
		floor += float64(p * (1 - p) / 2)
	}
	return floor
}
