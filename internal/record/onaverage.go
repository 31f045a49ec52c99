package record

import (
	"fmt"
	"slices"

	"tercet/internal/text"
)

// OnAverage is on-average.json, schema tercet.onaverage/1: the on-average stability of
// Chen et al., Definition 2. A triplet of training images is replaced by fresh images of
// its classes, the run is trained again by the same batches, and the loss of the triplet
// that was taken away, unseen now, is compared with what it was. The mean change is in
// expectation the generalisation gap on random triplets.
type OnAverage struct {
	Schema  string           `json:"schema"`
	Source  Source           `json:"source"` // the set that fresh images are of
	Options OnAverageOptions `json:"options"`
	N       int              `json:"n"` // triplets whose retraining came to its end
	Loss    OnAverageLoss    `json:"loss"`
	Error   OnAverageMeans   `json:"triplet_error"`
	// Gap is what gap.json of the same weights says, nil where there is none.
	Gap *StoredGaps `json:"gap,omitempty"`
	// Reference says what networks are compared with; see StabilityDoc.
	Reference string                 `json:"reference"`
	Replaced  []ReplacedTripleRecord `json:"replaced"`
	Warnings  []string               `json:"warnings,omitempty"`
	Cost      CostRecord             `json:"cost"` // of all retrainings, kept ones too
}

// OnAverageOptions are those of OnAverageDoc.
type OnAverageOptions struct {
	Repeats int    `json:"repeats"`
	Images  []int  `json:"images,omitempty"` // where they were given: three for each triplet
	Seed    uint64 `json:"seed"`
}

// OnAverageMeans are means over triplets: under the network that was trained on them, under
// those that were trained without, and of unseen - seen, with the interval of Student's t
// over the triplets; none where all are equal.
type OnAverageMeans struct {
	Seen   Value `json:"seen"`
	Unseen Value `json:"unseen"`
	Change Value `json:"change"`
}

// OnAverageLoss is that of the run's own loss.
type OnAverageLoss struct {
	Name string `json:"name"`
	Of   string `json:"of"` // see LossGap
	OnAverageMeans
}

// StoredGaps are the gaps of a gap.json, which the mean changes estimate too.
type StoredGaps struct {
	File     string `json:"file"`
	Triplets int    `json:"triplets"`
	Loss     Sides  `json:"loss"`
	Error    Sides  `json:"triplet_error"`
}

// ReplacedTripleRecord is what came of one triplet.
type ReplacedTripleRecord struct {
	ReplacedTriple
	Uses   [3]int `json:"uses"` // rows of batches that the images were in
	Status Status `json:"status"`
	// Change is nil where the retraining collapsed or diverged; Message says how.
	Change  *TripleChange `json:"change,omitempty"`
	Message string        `json:"message,omitempty"`
	Seconds float64       `json:"seconds"`
}

// Took is what the retraining took, in seconds.
func (r ReplacedTripleRecord) Took() float64 { return r.Seconds }

// TripleChange is the loss of a triplet under the network that was trained on it and the
// one that was not, and whether its order was wrong.
type TripleChange struct {
	Seen        float64 `json:"loss_seen"`
	Unseen      float64 `json:"loss_unseen"`
	WrongSeen   bool    `json:"wrong_seen"`
	WrongUnseen bool    `json:"wrong_unseen"`
}

// ReplacedTriple is a triplet of training images and what takes their places: anchor i,
// positive j of its class and negative k of another.
type ReplacedTriple struct {
	Images [3]int    `json:"images"` // items i, j, k of the training set
	By     [3]int    `json:"by"`     // items of Of
	Of     string    `json:"of"`     // test or validation
	Class  [3]string `json:"class"`
}

func (OnAverage) kind() kind {
	return kind{schemas: []string{OnAverageSchema}, made: "eval --stability --replace triple"}
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
