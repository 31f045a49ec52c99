package experiment

import (
	"tercet/internal/engine/adversary"
	"tercet/internal/metric"
)

// Source says what a result was computed from.
type Source struct {
	Run         string `json:"run,omitempty"`         // run directory
	Config      string `json:"config_hash,omitempty"` // of the run, as its manifest has it
	Checkpoint  string `json:"checkpoint,omitempty"`  // "last" or "best"
	Step        int    `json:"step,omitempty"`        // of the checkpoint
	Embeddings  string `json:"embeddings,omitempty"`  // npy file, where there is no run
	Graph       string `json:"graph,omitempty"`       // MULTICUT text file, where there are no points
	Labels      string `json:"labels,omitempty"`
	Set         string `json:"set,omitempty"` // test, validation or train
	Items       int    `json:"items"`
	Whole       int    `json:"set_items,omitempty"` // of the set, where Items is a part of it
	Classes     int    `json:"classes,omitempty"`
	Dim         int    `json:"dim"`
	Fingerprint string `json:"fingerprint"`
}

// CostRecord is what a result took.
type CostRecord struct {
	adversary.Cost
	Seconds float64 `json:"seconds"`
}

// Judged are the two groups of numbers that judge embeddings.
type Judged struct {
	Retrieval  metric.Scores `json:"retrieval,omitempty"`
	Clustering metric.Scores `json:"clustering,omitempty"`
	// Excluded counts queries whose class has no other sample.
	Excluded int `json:"queries_excluded,omitempty"`
}

// Schemas of results that are read again.
const (
	evalSchema   = "tercet.eval/1"
	attackSchema = "tercet.attack/2"
	curveSchema  = "tercet.curve/1"
)

// EvalDoc is eval.json, schema tercet.eval/1.
type EvalDoc struct {
	Schema  string      `json:"schema"`
	Source  Source      `json:"source"`
	Options EvalOptions `json:"options"`
	Judged
	// Pairs judge the embeddings by all pairs of items, PairCounts says of how many;
	// both where there is a threshold or they were asked for.
	Pairs      metric.Scores     `json:"pairs,omitempty"`
	PairCounts *PairRecord       `json:"pair_counts,omitempty"`
	Baselines  map[string]Judged `json:"baselines,omitempty"`       // "pixels", "untrained"
	Metric     *MetricDoc        `json:"metric_learning,omitempty"` // of model mahalanobis
	Warnings   []string          `json:"warnings,omitempty"`
	Cost       CostRecord        `json:"cost"`
}

// PairRecord counts unordered pairs of items. Distances are Euclidean.
type PairRecord struct {
	Same         int64            `json:"same"` // of one class
	Different    int64            `json:"different"`
	EERThreshold float64          `json:"eer_threshold"` // the distance of the equal error rate
	AUCSlack     float64          `json:"auc_slack"`     // auc is exact to this
	At           *ThresholdRecord `json:"at_threshold,omitempty"`
}

// ThresholdRecord is the threshold that pairs were told by, and what it took for the
// same.
type ThresholdRecord struct {
	Threshold float64 `json:"threshold"`
	// Cosine is set where a loss parts pairs by it: Threshold then is the distance of
	// embeddings scaled to length 1.
	Cosine   *float64 `json:"cosine,omitempty"`
	From     string   `json:"from"`     // "loss": the checkpoint's; "option": given
	Accepted int64    `json:"accepted"` // pairs at or below
	Wrong    int64    `json:"wrong"`    // of them, those of two classes
}

// AttackDoc is attack.json, schema tercet.attack/2. Scores are fractions, but for
// TMA (a cosine) and ES:D (a distance); the maps have a key for each variant that
// was asked for, "published" and "fixed".
type AttackDoc struct {
	Schema   string        `json:"schema"`
	Source   Source        `json:"source"`
	Options  AttackOptions `json:"options"`
	Queries  int           `json:"queries"`                    // attacked
	Excluded int           `json:"queries_excluded,omitempty"` // of classes of one
	// Scores under attack, in the order of the papers' tables; ERS last, where all
	// its attacks ran.
	Scores map[string]metric.Scores `json:"scores"`
	// Clean holds the same scores of the images as they are: what eps 0 gives.
	Clean map[string]metric.Scores `json:"clean"`
	// RightWhenClean is there where ES, LTM or GTM ran.
	RightWhenClean map[string]RightWhenClean `json:"right_when_clean,omitempty"`
	Attacks        []AttackRecord            `json:"attacks"`
	Warnings       []string                  `json:"warnings,omitempty"`
	Cost           CostRecord                `json:"cost"`
}

// RightWhenClean are the scores over the queries whose nearest image was of their
// class before the attack.
type RightWhenClean struct {
	Queries int           `json:"queries"`
	Scores  metric.Scores `json:"scores,omitempty"` // none without such queries
}

// AttackRecord says what an attack did, all variants and draws together.
type AttackRecord struct {
	Attack  string           `json:"attack"`
	Scores  []string         `json:"scores"`  // keys
	Crafted int              `json:"crafted"` // images
	Shared  int              `json:"shared"`  // of them, those of both variants
	Radius  adversary.Radius `json:"radius"`
	// ZeroGradient is the fraction of gradients that vanished: near 1 it means
	// masked gradients (or a goal that was met), not robustness.
	ZeroGradient float64    `json:"zero_gradient"`
	Cost         CostRecord `json:"cost"`
}

// CurveDoc is curve.json, schema tercet.curve/1: the scores of attacks against
// eps. Options hold the largest eps.
type CurveDoc struct {
	Schema   string        `json:"schema"`
	Source   Source        `json:"source"`
	Options  AttackOptions `json:"options"`
	Queries  int           `json:"queries"`
	Excluded int           `json:"queries_excluded,omitempty"`
	Points   []CurvePoint  `json:"points"` // by ascending eps
	Warnings []string      `json:"warnings,omitempty"`
	Cost     CostRecord    `json:"cost"`
}

// CurvePoint holds the scores at one eps, by variant. At eps 0 nothing is
// crafted: they are those of clean images.
type CurvePoint struct {
	Eps     float64                  `json:"eps"`
	Step    float64                  `json:"step"` // of a fixed step, never larger than eps
	Scores  map[string]metric.Scores `json:"scores"`
	Attacks []AttackRecord           `json:"attacks"`
}
