package record

import (
	"fmt"
	"slices"

	"tercet/internal/option"
	"tercet/internal/text"
)

// OnAverage is on-average.json, schema tercet.onaverage/1: the on-average stability of
// Chen et al., Definition 2. A triplet of training images is replaced by fresh images of
// its classes, the run is retrained on the same batches, and the loss of the removed
// triplet is compared with what it was. The mean change is in expectation the
// generalization gap on random triplets.
type OnAverage struct {
	Schema    string                 `json:"schema" doc:"the name and number of the schema"`
	Source    Source                 `json:"source" doc:"the set that the replacing images come from"`
	Options   OnAverageOptions       `json:"options" doc:"the options of the command, with defaults filled in"`
	N         int                    `json:"n" doc:"triplets whose retraining finished"`
	Loss      OnAverageLoss          `json:"loss" doc:"means of the loss"`
	Error     OnAverageMeans         `json:"triplet_error" doc:"means of the 0-1 error"`
	Gap       *StoredGaps            `json:"gap,omitempty" doc:"generalization gap of the same weights, from 'gap.json'"`
	Reference string                 `json:"reference" doc:"network that others are compared with: 'run', or 'retrained' if retraining did not reproduce the run's bits"`
	Replaced  []ReplacedTripleRecord `json:"replaced" doc:"each replaced triplet with its effect"`
	Warnings  []string               `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost      CostRecord             `json:"cost" doc:"passes through the network, and the time"`
}

// OnAverageOptions are those of OnAverage.
type OnAverageOptions struct {
	Repeats int    `json:"repeats" doc:"number of replaced triplets"`
	Images  []int  `json:"images,omitempty" doc:"images that the user chose, three for each triplet"`
	Seed    uint64 `json:"seed" doc:"random seed"`
}

// OnAverageMeans are means over triplets: under the network that was trained on them, under
// those that were trained without, and of unseen - seen, with the interval of Student's t
// over the triplets; none where all are equal.
type OnAverageMeans struct {
	Seen   Value `json:"seen" doc:"mean under the network trained on the triplets"`
	Unseen Value `json:"unseen" doc:"mean under networks trained without the triplets"`
	Change Value `json:"change" doc:"unseen - seen"`
}

// OnAverageLoss is that of the run's own loss.
type OnAverageLoss struct {
	Name string `json:"name" doc:"name of the loss"`
	Of   string `json:"of" doc:"'triplets' or 'pairs'"`
	OnAverageMeans
}

// StoredGaps are the gaps of a gap.json, which the mean changes estimate too.
type StoredGaps struct {
	File     string `json:"file" doc:"name of the file"`
	Triplets int    `json:"triplets" doc:"number of its triplets"`
	Loss     Sides  `json:"loss" doc:"gap of the loss"`
	Error    Sides  `json:"triplet_error" doc:"gap of the 0-1 error"`
}

// ReplacedTripleRecord is what came of one triplet.
type ReplacedTripleRecord struct {
	ReplacedTriple
	Uses    [3]int        `json:"uses" doc:"how often a batch contained each image"`
	Status  Status        `json:"status" doc:"status of the retraining"`
	Change  *TripleChange `json:"change,omitempty" doc:"its effect; absent if the retraining collapsed or diverged"`
	Message string        `json:"message,omitempty" doc:"how the retraining collapsed or diverged"`
	Seconds float64       `json:"seconds" doc:"wall time in seconds"`
}

// Took is what the retraining took, in seconds.
func (r ReplacedTripleRecord) Took() float64 { return r.Seconds }

// TripleChange is the loss of a triplet under the network that was trained on it and the
// one that was not, and whether its order was wrong.
type TripleChange struct {
	Seen        float64 `json:"loss_seen" doc:"loss under the network trained on the triplet"`
	Unseen      float64 `json:"loss_unseen" doc:"loss under the network trained without it"`
	WrongSeen   bool    `json:"wrong_seen" doc:"whether its order is wrong under the first network"`
	WrongUnseen bool    `json:"wrong_unseen" doc:"whether its order is wrong under the second network"`
}

// ReplacedTriple is a triplet of training images and what takes their places: anchor i,
// positive j of its class and negative k of another.
type ReplacedTriple struct {
	Images [3]int    `json:"images" doc:"anchor, positive and negative (items of the training set)"`
	By     [3]int    `json:"by" doc:"items that replace them"`
	Of     string    `json:"of" doc:"split of these items: 'test' or 'validation'"`
	Class  [3]string `json:"class" doc:"classes of the three"`
}

func (OnAverage) kind() kind {
	return kind{schemas: []string{OnAverageSchema}, made: "stability " + option.Name("replace") + " triplet"}
}

// From is the set that fresh images are of.
func (d OnAverage) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not; nil if
// nothing. The seed of d and its replaced triplets are enough.
func (d OnAverage) Covers(there OnAverage) []string {
	if other := otherThan(there.Options.Seed, d.Options.Seed, "seed"); other != nil {
		return other
	}
	gone := 0
	for _, v := range there.Replaced {
		if !slices.ContainsFunc(d.Replaced, func(q ReplacedTripleRecord) bool { return q.ReplacedTriple == v.ReplacedTriple }) {
			gone++
		}
	}
	if gone == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of its %s", gone, text.Plural(len(there.Replaced), "replaced triplet", "replaced triplets"))}
}

// TripleKey is what the result of one triplet depends on.
type TripleKey struct {
	Config   string         `json:"config"` // hash of the retrained config
	Version  string         `json:"version"`
	Base     string         `json:"base"` // weights that it is compared with, and kernels
	Train    string         `json:"train"`
	Fresh    string         `json:"fresh"`
	Replaced ReplacedTriple `json:"replaced"`
}
