package metric

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/progress"
	"tercet/internal/record"
)

// VerificationOptions configures Verify.
type VerificationOptions struct {
	// Threshold is the Euclidean distance up to which a pair is called same; nil
	// leaves out the scores that need one.
	Threshold *float64
	// Gallery (rows of d numbers), GalleryLabels and Exclude are those of Retrieve: the
	// pairs are then those of a query and a gallery item that is not excluded.
	Gallery       []float32
	GalleryLabels []int32
	Exclude       *Exclusion
	// FMR are false match rates, each above 0 and below 1, at which the errors are scored.
	FMR []float64
	// Intervals, where Classes is set, are those of fnmr and tar; otherwise each is the
	// score interval of Wilson, which takes pairs as independent.
	Intervals Intervals
	// Progress is told of the work done, where it is long.
	Progress progress.Count
}

// OperatingPoint is the largest distance at which the false match rate is not above a
// limit: pairs up to it are called same.
type OperatingPoint struct {
	FMR              float64 // the limit
	Threshold        float64 // -1 where no distance is small enough
	Matched, Falsely int64   // same pairs, and different ones, up to the threshold
}

// Verification is the result of Verify. Counts are of unordered pairs.
type Verification struct {
	Scores          record.Scores
	Same, Different int64 // pairs of one class, and of two
	// Accepted and Wrong are the pairs at or below the threshold, and of them those
	// of two classes.
	Accepted, Wrong int64
	EERThreshold    float64          // the distance of the equal error rate
	Points          []OperatingPoint // of each false match rate
	// SameDistances and DifferentDistances are of these pairs, Within of each class by
	// itself, within one set alone.
	SameDistances, DifferentDistances Distances
	Within                            ClassDistances
	AUCSlack                          float64 // the auc is exact to this: half the share of pairs that share a bin
}

// exactPairs is the number of pairs up to which all distances are sorted.
const exactPairs = 1 << 20

// Verify evaluates x (n, d), row-major, by all n(n-1)/2 unordered pairs of rows: is a
// pair of one class, told by its Euclidean distance alone? Labels may be any
// numbers. Keys and definitions, with the threshold t:
//
//	accuracy           accuracy(pairs,within)           share of pairs called right, those at d <= t same;
//	                                                    calling all of them different has 1 - 1/K with K
//	                                                    balanced classes
//	balanced_accuracy  balanced_accuracy(pairs,within)  mean of the shares among same and different pairs
//	precision          precision(pairs,within)          same among those at d <= t, 0 where there is none
//	recall             recall(pairs,within)             at d <= t among the same
//	f1                 f1(pairs,within)                 harmonic mean of the two
//	auc                auc(pairs)                       share of (same, different) whose same pair is the
//	                                                    nearer one, ties counted half
//	eer                eer(pairs)                       error at the distance where the shares of same pairs
//	                                                    above and of different pairs up to it are equal,
//	                                                    between two distances by the line between their
//	                                                    errors
//
//	fnmr@fmr=F         fnmr@fmr(pairs)                  share of same pairs beyond the largest distance up
//	                                                    to which the share of different ones is at most F
//	tar@far=F          tar@far(pairs)                   1 minus that, as face recognition reports it
//
// The first five are there with a threshold only, the last two for each of o.FMR. They are exact: where a float32
// product leaves a distance too close to t, float64 differences decide. auc and eer
// are exact, of sorted distances, up to 2^20 pairs. Beyond, distances are counted in
// up to 2^20 bins, chosen by a sample to hold about equally many, of at most
// 20 MB; AUCSlack bounds what that costs auc, about 1e-6; means, quantiles and thresholds
// of false match rates are then of the bins' upper ends. Pairs that share a row are not
// independent, so that only fnmr and tar have intervals: see VerificationOptions. Bits do
// not depend on threads.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), a threshold
// that is not a finite number > 0, no pair of one class or none of two, a canceled
// ctx.
func Verify(ctx context.Context, x []float32, n, d int, labels []int32, o VerificationOptions) (*Verification, error) {
	return verify(ctx, x, n, d, labels, o, exactPairs)
}

func verify(ctx context.Context, x []float32, n, d int, labels []int32, o VerificationOptions, exact int64) (*Verification, error) {
	if err := checkRows("embeddings", x, n, d, labels); err != nil {
		return nil, err
	}
	limit := math.Inf(-1)
	if o.Threshold != nil {
		if t := *o.Threshold; !(t > 0) || math.IsInf(t, 0) {
			return nil, fmt.Errorf("%w: the threshold is %v; want a finite distance > 0", ErrInput, t)
		}
		limit = squareLimit(*o.Threshold)
	}
	if err := checkRates(o.FMR); err != nil {
		return nil, err
	}
	p, err := newPairCounts(x, n, d, labels, &o)
	if err != nil {
		return nil, err
	}
	p.limit = limit
	v := &Verification{}
	v.Same, v.Different = p.totals()
	switch {
	case v.Same == 0 && p.self:
		return nil, fmt.Errorf("%w: no two of the %d embeddings have the same label, so no pair is the same", ErrInput, n)
	case v.Same == 0:
		return nil, fmt.Errorf("%w: no query and gallery item have the same label, so no pair is the same", ErrInput)
	case v.Different == 0:
		return nil, fmt.Errorf("%w: all %d embeddings have the same label, so no pair is different", ErrInput, n)
	}
	if v.Same+v.Different <= exact {
		err = p.sorted(ctx)
	} else {
		err = p.binned(ctx, o.Progress)
	}
	if err != nil {
		return nil, fmt.Errorf("verification of %d pairs stopped: %w", v.Same+v.Different, err)
	}
	v.Accepted, v.Wrong = p.accepted.Load(), p.wrong.Load()
	v.score(p.curve, o.Threshold != nil)
	if err := v.operate(ctx, p, o); err != nil {
		return nil, err
	}
	v.SameDistances = distancesOf(p.curve, v.Same, func(r rung) int64 { return r.same })
	v.DifferentDistances = distancesOf(p.curve, v.Different, func(r rung) int64 { return r.different })
	if !p.self {
		return v, nil
	}
	c := classesOf(labels)
	if v.Within, err = classDistances(ctx, x, d, &c); err != nil {
		return nil, fmt.Errorf("distances within classes stopped: %w", err)
	}
	return v, nil
}

// squareLimit returns the largest s with sqrt(s) <= t.
func squareLimit(t float64) float64 {
	s := t * t
	for math.Sqrt(s) > t {
		s = math.Nextafter(s, 0)
	}
	for up := math.Nextafter(s, math.Inf(1)); math.Sqrt(up) <= t && !math.IsInf(up, 0); up = math.Nextafter(s, math.Inf(1)) {
		s = up
	}
	return s
}

// rung counts the pairs of one distance, or of a bin of distances.
type rung struct {
	distance        float64
	same, different int64
}

// score fills in the scores, of rungs by ascending distance.
func (v *Verification) score(curve []rung, threshold bool) {
	add := func(key, definition string, value float64) {
		v.Scores = append(v.Scores, record.Score{Key: key, Value: record.Value{Value: value, Definition: definition}})
	}
	same, different := float64(v.Same), float64(v.Different)
	if threshold {
		right := float64(v.Accepted - v.Wrong)
		recall, refused := right/same, (different-float64(v.Wrong))/different
		precision := 0.0
		if v.Accepted > 0 {
			precision = right / float64(v.Accepted)
		}
		add("accuracy", "accuracy(pairs,within)", (right+different-float64(v.Wrong))/(same+different))
		add("balanced_accuracy", "balanced_accuracy(pairs,within)", (recall+refused)/2)
		add("precision", "precision(pairs,within)", precision)
		add("recall", "recall(pairs,within)", recall)
		add("f1", "f1(pairs,within)", 2*right/(float64(v.Accepted)+same))
	}
	var nearer, ties, below, wrong float64 // of same pairs: up to the rung; of different ones
	missed, falsely := 1.0, 0.0            // the errors at the rung before
	eer := -1.0
	for _, r := range curve {
		s, d := float64(r.same), float64(r.different)
		nearer += float64(d * below)
		ties += float64(d * s)
		below += s
		wrong += d
		m, f := 1-below/same, wrong/different
		if eer < 0 && f >= m {
			at := (missed - falsely) / (missed - falsely + f - m)
			eer = falsely + float64(at*(f-falsely))
			v.EERThreshold = r.distance
		}
		missed, falsely = m, f
	}
	v.AUCSlack = ties / 2 / same / different
	add("auc", "auc(pairs)", (nearer+float64(ties/2))/same/different)
	add("eer", "eer(pairs)", eer)
}
