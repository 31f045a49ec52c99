package record

import (
	"fmt"
	"slices"
	"strings"
)

// StabilityDoc is stability.json, schema tercet.stability/1: how far networks that were
// trained with one image replaced are from the run's.
type Stability struct {
	Schema  string           `json:"schema"`
	Source  Source           `json:"source"` // the images that are judged on
	Options StabilityOptions `json:"options"`
	Loss    string           `json:"loss"`
	Of      string           `json:"of"` // see LossGap
	// Gamma is the largest change of a loss: a lower estimate of the uniform stability
	// of Definition 1, whose supremum is over all samples, replacements and triplets.
	Gamma float64 `json:"gamma"`
	// Reference says what networks are compared with: "run", whose weights retraining
	// without a replacement has given bit by bit, or "retrained", where it has not.
	Reference string        `json:"reference"`
	Replaced  []Replaced    `json:"replaced"`
	Kinds     []KindSummary `json:"kinds"`
	Warnings  []string      `json:"warnings,omitempty"`
	Cost      CostRecord    `json:"cost"` // of all retrainings, kept ones too
}

// StabilityOptions are those of StabilityDoc.
type StabilityOptions struct {
	Repeats  int      `json:"repeats"`
	Replace  []string `json:"replace"`
	Images   []int    `json:"images"`
	Triplets int      `json:"triplets"`
	Seed     uint64   `json:"seed"`
	Limit    int      `json:"limit,omitempty"`
}

// Replaced is what came of one replacement.
type Replaced struct {
	Replacement
	Uses   int    `json:"uses"` // rows of batches that the image was in
	Status Status `json:"status"`
	// Movement is nil where the retraining collapsed or diverged; Message says how.
	Movement *Movement `json:"movement,omitempty"`
	Message  string    `json:"message,omitempty"`
	Seconds  float64   `json:"seconds"`
}

// Took is what the retraining took, in seconds.
func (r Replaced) Took() float64 { return r.Seconds }

// KindSummary sums up the replacements of one kind.
type KindSummary struct {
	Kind       string  `json:"kind"`
	N          int     `json:"n"`
	Gamma      float64 `json:"gamma"`     // largest change of a loss
	LossMean   float64 `json:"loss_mean"` // means over the replacements, from here on
	LossP50    float64 `json:"loss_p50"`
	LossP90    float64 `json:"loss_p90"`
	LossP99    float64 `json:"loss_p99"`
	CosineMean float64 `json:"cosine_mean"`
	Recall     float64 `json:"recall@1_change"`
	Neighbours float64 `json:"neighbours_changed"`
	Weights    float64 `json:"weights_share"`
}

// Movement is how far a network is from another one on images that neither was trained
// on, and how far its weights are.
type Movement struct {
	LossMax  float64 `json:"loss_max"`  // largest |l - l'| over the triplets
	LossMean float64 `json:"loss_mean"` // mean
	// LossP50, LossP90 and LossP99 are the least |l - l'| that 50, 90 and 99 % of the
	// triplets are not above.
	LossP50 float64 `json:"loss_p50"`
	LossP90 float64 `json:"loss_p90"`
	LossP99 float64 `json:"loss_p99"`
	Turned  float64 `json:"turned"` // share of the triplets whose order became right or wrong
	// CosineMean and CosineMax are of 1 - cos(z, z'), DistanceMean of |z - z'|.
	CosineMean   float64 `json:"cosine_mean"`
	CosineMax    float64 `json:"cosine_max"`
	DistanceMean float64 `json:"distance_mean"`
	Recall       float64 `json:"recall@1_change"`
	Neighbours   float64 `json:"neighbours_changed"` // share of the images with another nearest one
	// Weights is |w' - w| over all trained weights, WeightsShare that over |w|.
	Weights      float64 `json:"weights"`
	WeightsShare float64 `json:"weights_share"`
	// Most are the images that moved farthest, by cosine.
	Most []Moved `json:"most,omitempty"`
}

// Moved is an image and how far it moved.
type Moved struct {
	Item   int     `json:"item"` // of the set that is judged on
	Cosine float64 `json:"cosine"`
}

// Replacement is one training image and what takes its place.
type Replacement struct {
	Image int    `json:"image"` // item of the training set
	Kind  string `json:"kind"`
	By    int    `json:"by"` // item of Of
	Of    string `json:"of"` // test, validation or train
	// Class is the image's, Other that of what replaces it.
	Class string `json:"class"`
	Other string `json:"replaced_by_class"`
}

func (Stability) kind() kind {
	return kind{schemas: []string{StabilitySchema}, made: "eval --stability"}
}

// From is the images that networks are compared on.
func (d Stability) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not; nil if
// nothing. The options of d, the items of its source and its replacements are enough.
func (d Stability) Covers(there Stability) []string {
	plans := func(list []Replaced) []Replacement {
		var out []Replacement
		for _, v := range list {
			out = append(out, v.Replacement)
		}
		return out
	}
	return fewerReplaced(there.Source, d.Source, there.Options.Triplets, d.Options.Triplets, there.Options.Seed, d.Options.Seed, plans(there.Replaced), plans(d.Replaced))
}

// fewerReplaced says what a study of replaced images has less of. Another seed has other
// replacements, which need not be named one by one.
func fewerReplaced(there, now Source, hadTriplets, triplets int, hadSeed, seed uint64, had, plan []Replacement) []string {
	out := lessOf(hadTriplets, triplets, "triplets")
	out = append(out, lessOf(there.Items, now.Items, there.Set+" images")...)
	if other := otherThan(hadSeed, seed, "seed"); other != nil {
		return append(out, other...)
	}
	return append(out, missed(had, plan)...)
}

// missed names the replacements that are there and in no new plan.
func missed(there, plan []Replacement) []string {
	var kinds, images []string
	lost := 0
	for _, p := range there {
		if !slices.ContainsFunc(plan, func(q Replacement) bool { return q.Kind == p.Kind }) {
			if k := "replacements by " + p.Kind; !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
			continue
		}
		if !slices.Contains(plan, p) {
			lost++
			if i := fmt.Sprint(p.Image); !slices.Contains(images, i) {
				images = append(images, i)
			}
		}
	}
	switch {
	case len(images) > 5:
		kinds = append(kinds, fmt.Sprintf("%d of its %d replacements", lost, len(there)))
	case len(images) > 0:
		kinds = append(kinds, "replaced images "+strings.Join(images, ", "))
	}
	return kinds
}
