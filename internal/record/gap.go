package record

import (
	"fmt"
	"path/filepath"
)

// GapDoc is gap.json, schema tercet.gap/1: how much better a network does on triplets of
// its training images than on those of images that it has not seen. Both are drawn
// alike, without a miner, by true labels, and judged as they are stored: training images
// undistorted too.
type Gap struct {
	Schema    string     `json:"schema"`
	Source    Source     `json:"source"` // the set that is judged on
	Options   GapOptions `json:"options"`
	Train     Set        `json:"train"`
	Resampled string     `json:"resampled"` // for the intervals: images or classes
	// Reference is the run of the control variate, nil without one.
	Reference *GapReference `json:"reference,omitempty"`
	Loss      LossGap       `json:"loss"`
	Error     Sides         `json:"triplet_error"`
	Bound     *GapBound     `json:"bound,omitempty"` // on the loss: on its plain gap
	Warnings  []string      `json:"warnings,omitempty"`
	Cost      CostRecord    `json:"cost"`
}

// GapOptions are those of GapDoc.
type GapOptions struct {
	Triplets  int    `json:"triplets"` // of each set
	Bootstrap int    `json:"bootstrap"`
	Seed      uint64 `json:"seed"`
	Limit     int    `json:"limit,omitempty"`
}

// Sides are the mean over triplets of training images, that of test images, and test -
// train.
type Sides struct {
	Train Value `json:"train"`
	Test  Value `json:"test"`
	Gap   Value `json:"gap"`
	// Control is train - test of the reference on the same triplets, whose mean over
	// training and test sets is 0. Controlled is Gap + Coefficient Control, with the
	// coefficient that makes its variance over the resamples least, 1 without resamples.
	Control     *Value   `json:"control,omitempty"`
	Coefficient *float64 `json:"coefficient,omitempty"`
	Controlled  *Value   `json:"controlled,omitempty"`
}

// LossGap is that of the run's own loss.
type LossGap struct {
	Name string `json:"name"`
	Of   string `json:"of"` // triplets, or pairs: a triplet then costs the sum of its two
	Sides
	// Largest and Smallest are those seen on a triplet of either set.
	Largest  float64 `json:"largest"`
	Smallest float64 `json:"smallest"`
	// Sup is the largest that there can be on embeddings of length 1; none of others.
	Sup *float64 `json:"sup,omitempty"`
}

// GapBound is Theorem 1 of Chen et al. for the gap of a run. It is about one class
// against the rest; here anchors are of all classes, so that the bound is the mean of
// those of the classes, weighted by their images, each at delta over their number.
// M is the largest loss that was seen, by its absolute value, which the mean over training
// sets of the largest loss may exceed.
type GapBound struct {
	Source  string  `json:"source"`
	Delta   float64 `json:"delta"`
	Classes int     `json:"classes"`
	NPos    int     `json:"n_pos"` // of the smallest class
	NNeg    int     `json:"n_neg"` // of the rest of the largest
	M       float64 `json:"m"`
	Sup     float64 `json:"sup"` // the most that two losses, and so the gap, can differ by
	// SupFrom is "length 1" of the embeddings, "seen", the largest loss where none is below
	// 0, or "range", from the smallest to the largest that were seen.
	SupFrom string   `json:"sup_from"`
	Least   BoundAt  `json:"without_gamma"`
	At      *BoundAt `json:"with_gamma,omitempty"` // where the run's stability was measured
}

// BoundAt is the bound at a uniform stability gamma: at 0, what is left of it for a
// learner that no image could sway.
type BoundAt struct {
	Gamma   float64 `json:"gamma"`
	Value   float64 `json:"value"`
	Vacuous bool    `json:"vacuous"` // above sup: it says nothing
	// Crossed says that the gap is larger than the bound.
	Crossed bool `json:"crossed,omitempty"`
}

// GapReference is the run of a gap's control variate.
type GapReference struct {
	Run        string `json:"run"`
	Checkpoint string `json:"checkpoint"`
	Step       int    `json:"step"`
	Train      Set    `json:"train"`
	// Copies are images that it has learnt from and that equal training or judged
	// images of the run in all pixels, but are stored beside them.
	Copies int `json:"copies,omitempty"`
}

func (Gap) kind() kind { return kind{schemas: []string{GapSchema}, made: "eval --gap"} }

// From is the set that the network is evaluated on.
func (d Gap) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not; nil if
// nothing. The options of d and the run of its reference are enough.
func (d Gap) Covers(there Gap) []string {
	had, is := there.Options, d.Options
	out := lessOf(had.Triplets, is.Triplets, "triplets of each set")
	if had.Bootstrap > 0 && is.Bootstrap == 0 {
		out = append(out, "intervals")
	}
	switch {
	case there.Reference == nil:
	case d.Reference == nil:
		out = append(out, "the reference "+there.Reference.Run)
	default:
		out = append(out, otherThan(filepath.Clean(there.Reference.Run), filepath.Clean(d.Reference.Run), "reference")...)
	}
	if n := is.Limit; n > 0 && (there.Source.Items > n || there.Train.Items > n) {
		if had.Limit == 0 {
			out = append(out, fmt.Sprintf("all images of both sets instead of %d of each", n))
		} else {
			out = append(out, lessOf(had.Limit, n, "images of each set")...)
		}
	}
	return append(out, otherThan(had.Seed, is.Seed, "seed")...)
}
