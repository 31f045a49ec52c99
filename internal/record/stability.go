package record

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
)

// Stability is stability.json, schema tercet.stability/1: how far networks that were
// trained with one image replaced are from the network of the run.
type Stability struct {
	Schema    string           `json:"schema" doc:"the name and number of the schema"`
	Source    Source           `json:"source" doc:"the images on which networks are compared"`
	Options   StabilityOptions `json:"options" doc:"the options of the command, with defaults filled in"`
	Loss      string           `json:"loss" doc:"name of the loss"`
	Of        string           `json:"of" doc:"'triplets' or 'pairs'"`
	Gamma     float64          `json:"gamma" doc:"largest change of a triplet's loss: a lower estimate of uniform stability"`
	Reference string           `json:"reference" doc:"network that others are compared with: 'run', or 'retrained' if retraining did not reproduce the run's bits"`
	Replaced  []Replaced       `json:"replaced" doc:"each replaced image with its effect"`
	Kinds     []KindSummary    `json:"kinds" doc:"means for each kind of replacement"`
	Controls  []ControlRatio   `json:"controls,omitempty" doc:"comparison of each kind of replacement with the control"`
	Warnings  []string         `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost      CostRecord       `json:"cost" doc:"passes through the network, and the time"`
}

// StabilityOptions are those of Stability.
type StabilityOptions struct {
	Repeats  int      `json:"repeats" doc:"number of replaced images"`
	Replace  []string `json:"replace" doc:"kinds of replacement"`
	Images   []int    `json:"images" doc:"indices of the replaced images in the training set"`
	Triplets int      `json:"triplets" doc:"number of triplets on which networks are compared"`
	Seed     uint64   `json:"seed" doc:"random seed"`
	Limit    int      `json:"limit,omitempty" doc:"largest number of images on which networks are compared; 0 is all"`
}

// Replaced is what came of one replacement.
type Replaced struct {
	Replacement
	Uses     int       `json:"uses" doc:"how often a batch contained the image"`
	Status   Status    `json:"status" doc:"status of the retraining"`
	Movement *Movement `json:"movement,omitempty" doc:"how far the network is from the reference; absent if the retraining collapsed or diverged"`
	Message  string    `json:"message,omitempty" doc:"how the retraining collapsed or diverged"`
	Seconds  float64   `json:"seconds" doc:"wall time in seconds"`
}

// Took is what the retraining took, in seconds.
func (r Replaced) Took() float64 { return r.Seconds }

// KindSummary sums up the replacements of one kind.
type KindSummary struct {
	Kind       string  `json:"kind" doc:"kind of replacement"`
	N          int     `json:"n" doc:"number of replacements"`
	Gamma      float64 `json:"gamma" doc:"largest change of a loss"`
	LossMean   float64 `json:"loss_mean" doc:"mean change of the loss"`
	LossP50    float64 `json:"loss_p50" doc:"mean over replacements of 'loss_p50'"`
	LossP90    float64 `json:"loss_p90" doc:"mean over replacements of 'loss_p90'"`
	LossP99    float64 `json:"loss_p99" doc:"mean over replacements of 'loss_p99'"`
	CosineMean float64 `json:"cosine_mean" doc:"mean over replacements of 'cosine_mean'"`
	Recall     float64 `json:"recall@1_change" doc:"mean change of recall@1"`
	Neighbors  float64 `json:"neighbours_changed" doc:"mean fraction of images with another nearest neighbor"`
	Weights    float64 `json:"weights_share" doc:"mean relative change of the weights"`
}

// ControlRatio compares what replaced images change with what one ulp of a weight does.
type ControlRatio struct {
	Kind    string      `json:"kind" doc:"kind of replacement"`
	Ratio   float64     `json:"ratio" doc:"geometric mean of 'loss_mean' over its retrainings, divided by that over the controls"`
	CI95    *[2]float64 `json:"ci95,omitempty" doc:"95 % interval of the ratio, Student's t on logarithms"`
	Still   int         `json:"still,omitempty" doc:"number of controls that changed no loss; the ratio leaves them out"`
	Verdict string      `json:"verdict" doc:"verdict on the claim that a replacement changes as much as the control: supported if the interval lies within 0.8 to 1.25"`
}

// Movement is how far a network is from another one on images that neither was trained
// on, and how far its weights are.
type Movement struct {
	LossMax      float64 `json:"loss_max" doc:"largest |l - l'| over the triplets"`
	LossMean     float64 `json:"loss_mean" doc:"mean |l - l'|"`
	LossShift    float64 `json:"loss_shift" doc:"mean of l' - l, the quantity that error stability bounds"`
	LossP50      float64 `json:"loss_p50" doc:"median of |l - l'|"`
	LossP90      float64 `json:"loss_p90" doc:"90th percentile of |l - l'|"`
	LossP99      float64 `json:"loss_p99" doc:"99th percentile of |l - l'|"`
	Turned       float64 `json:"turned" doc:"fraction of triplets whose order changed between correct and wrong"`
	CosineMean   float64 `json:"cosine_mean" doc:"mean of 1 - cos(z, z')"`
	CosineMax    float64 `json:"cosine_max" doc:"largest 1 - cos(z, z')"`
	DistanceMean float64 `json:"distance_mean" doc:"mean of |z - z'|"`
	Recall       float64 `json:"recall@1_change" doc:"change of recall@1"`
	Neighbors    float64 `json:"neighbours_changed" doc:"fraction of images with another nearest neighbor"`
	Weights      float64 `json:"weights" doc:"|w' - w| over all trained weights"`
	WeightsShare float64 `json:"weights_share" doc:"|w' - w| / |w|"`
	Most         []Moved `json:"most,omitempty" doc:"images whose embeddings moved farthest, by cosine"`
}

// Moved is an image and how far it moved.
type Moved struct {
	Item   int     `json:"item" doc:"index of the image in its set"`
	Cosine float64 `json:"cosine" doc:"1 - cos(z, z')"`
}

// Replacement is one training image and what takes its place.
type Replacement struct {
	Image int    `json:"image" doc:"item of the training set; -1 for none"`
	Kind  string `json:"kind" doc:"'fresh', 'far' or 'twin'; or 'one-ulp', the control, which replaces no image"`
	By    int    `json:"by" doc:"item that replaces it; for 'one-ulp', the weight that starts one float32 higher"`
	Of    string `json:"of" doc:"split of that item: 'test', 'validation' or 'train'; for 'one-ulp', 'weights'"`
	Class string `json:"class" doc:"class of the image"`
	Other string `json:"replaced_by_class" doc:"class of its replacement"`
}

func (Stability) kind() kind {
	return kind{schemas: []string{StabilitySchema}, made: "stability"}
}

// From is the images that networks are compared on.
func (d Stability) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not; nil if
// nothing. The options of d, the items of its source and its replacements are enough.
func (d Stability) Covers(there Stability) []string {
	plans := func(list []Replaced) []Replacement {
		return lists.Map(list, func(v Replaced) Replacement { return v.Replacement })
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
			kinds = lists.AppendNew(kinds, "replacements by "+p.Kind)
			continue
		}
		if !slices.Contains(plan, p) {
			lost++
			name := fmt.Sprint(p.Image)
			if p.Image < 0 {
				name = fmt.Sprint("weight ", p.By)
			}
			images = lists.AppendNew(images, name)
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
