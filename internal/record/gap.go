package record

import (
	"fmt"
	"path/filepath"
)

// Gap is gap.json, schema tercet.gap/1: how much better a network does on triplets of its
// training images than on those of other images. Both are drawn in the same way, without a
// miner and by true labels, from the images as they are stored.
type Gap struct {
	Schema    string        `json:"schema" doc:"the name and number of the schema"`
	Source    Source        `json:"source" doc:"the held-out set"`
	Options   GapOptions    `json:"options" doc:"the options of the command, with defaults filled in"`
	Train     Set           `json:"train" doc:"the training set"`
	Resampled string        `json:"resampled" doc:"what the intervals resample: 'images' or 'classes'"`
	Reference *GapReference `json:"reference,omitempty" doc:"the run of the control variate"`
	Loss      LossGap       `json:"loss" doc:"means of the loss"`
	Error     Sides         `json:"triplet_error" doc:"means of the 0-1 error"`
	Bound     *GapBound     `json:"bound,omitempty" doc:"Theorem 1 of Chen et al., on the loss"`
	Warnings  []string      `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost      CostRecord    `json:"cost" doc:"passes through the network, and the time"`
}

// GapOptions are those of Gap.
type GapOptions struct {
	Triplets  int    `json:"triplets" doc:"triplets drawn from each set"`
	Bootstrap int    `json:"bootstrap" doc:"resamples of the intervals; 0 gives none"`
	Seed      uint64 `json:"seed" doc:"random seed"`
	Limit     int    `json:"limit,omitempty" doc:"largest number of images of a set; 0 is all"`
}

// Sides are the mean over triplets of training images, that of test images, and test -
// train.
type Sides struct {
	Train       Value    `json:"train" doc:"mean over training triplets"`
	Test        Value    `json:"test" doc:"mean over test triplets"`
	Gap         Value    `json:"gap" doc:"test - train"`
	Control     *Value   `json:"control,omitempty" doc:"train - test of the reference run on the same triplets; its expectation is 0"`
	Coefficient *float64 `json:"coefficient,omitempty" doc:"factor of the control variate that minimizes the variance"`
	Controlled  *Value   `json:"controlled,omitempty" doc:"gap + coefficient × control"`
}

// LossGap is that of the run's own loss.
type LossGap struct {
	Name string `json:"name" doc:"name of the loss"`
	Of   string `json:"of" doc:"what the loss takes: 'triplets', or 'pairs' (the loss of a triplet is then the sum over its two pairs)"`
	Sides
	Largest  float64  `json:"largest" doc:"largest loss of a triplet of either set"`
	Smallest float64  `json:"smallest" doc:"smallest loss of a triplet of either set"`
	Sup      *float64 `json:"sup,omitempty" doc:"largest possible loss for embeddings of length 1"`
}

// GapBound is Theorem 1 of Chen et al. for the gap of a run. The theorem is about one class
// against the rest. Here the bound is the mean over classes, weighted by their images, each
// at delta over their number. M is the largest absolute loss measured; the mean over
// training sets of the largest loss may exceed it.
type GapBound struct {
	Source  string   `json:"source" doc:"name of the theorem"`
	Delta   float64  `json:"delta" doc:"the bound holds with probability 1 - delta"`
	Classes int      `json:"classes" doc:"number of classes; the bound is the mean of the classes' bounds"`
	NPos    int      `json:"n_pos" doc:"size of the smallest class"`
	NNeg    int      `json:"n_neg" doc:"number of images outside the largest class"`
	M       float64  `json:"m" doc:"largest absolute loss measured"`
	Sup     float64  `json:"sup" doc:"largest difference of two losses"`
	SupFrom string   `json:"sup_from" doc:"source of 'sup': 'length 1' (embeddings of length 1), 'seen' (largest measured loss) or 'range' (largest minus smallest measured loss)"`
	Least   BoundAt  `json:"without_gamma" doc:"the bound at gamma 0"`
	At      *BoundAt `json:"with_gamma,omitempty" doc:"the bound at the measured gamma"`
}

// BoundAt is the bound at a uniform stability gamma. At 0 it is that of a learner that no
// image changes.
type BoundAt struct {
	Gamma   float64 `json:"gamma" doc:"uniform stability"`
	Value   float64 `json:"value" doc:"value of the bound"`
	Vacuous bool    `json:"vacuous" doc:"whether it exceeds 'sup', so that it carries no information"`
	Crossed bool    `json:"crossed,omitempty" doc:"whether the gap violates it"`
}

// GapReference is the run of a gap's control variate.
type GapReference struct {
	Run        string `json:"run" doc:"directory of the run"`
	Checkpoint string `json:"checkpoint" doc:"'last'"`
	Step       int    `json:"step" doc:"step of the checkpoint"`
	Train      Set    `json:"train" doc:"its training set"`
	Copies     int    `json:"copies,omitempty" doc:"number of its training images that are pixel-identical to an image of the run"`
}

func (Gap) kind() kind { return kind{schemas: []string{GapSchema}, made: "gap"} }

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
