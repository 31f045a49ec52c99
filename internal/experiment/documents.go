package experiment

import (
	"tercet/internal/engine/adversary"
	"tercet/internal/metric"
)

// Source says what a result was computed from.
type Source struct {
	Run         string `json:"run,omitempty"`        // run directory
	Checkpoint  string `json:"checkpoint,omitempty"` // "last" or "best"
	Step        int    `json:"step,omitempty"`       // of the checkpoint
	Embeddings  string `json:"embeddings,omitempty"` // npy file, where there is no run
	Labels      string `json:"labels,omitempty"`
	Set         string `json:"set,omitempty"` // test, validation or train
	Items       int    `json:"items"`
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

// EvalDoc is eval.json, schema tercet.eval/1.
type EvalDoc struct {
	Schema  string      `json:"schema"`
	Source  Source      `json:"source"`
	Options EvalOptions `json:"options"`
	Judged
	Baselines map[string]Judged `json:"baselines,omitempty"` // "pixels", "untrained"
	Warnings  []string          `json:"warnings,omitempty"`
	Cost      CostRecord        `json:"cost"`
}

// AttackDoc is attack.json, schema tercet.attack/1.
type AttackDoc struct {
	Schema  string        `json:"schema"`
	Source  Source        `json:"source"`
	Options AttackOptions `json:"options"`
	Queries int           `json:"queries"`
	// Scores holds "published" and "fixed", each a map from score id to value.
	Scores map[string]metric.Scores `json:"scores"`
	Clean  metric.Scores            `json:"clean"`
	Radius adversary.Radius         `json:"radius"`
	// ZeroGradient is the fraction of gradients that vanished: near 1 it means
	// masked gradients, not robustness.
	ZeroGradient float64    `json:"zero_gradient"`
	Warnings     []string   `json:"warnings,omitempty"`
	Cost         CostRecord `json:"cost"`
}

// ClusterDoc is cluster.json, schema tercet.cluster/1. K-means has neither lower
// bound nor threshold: they are null.
type ClusterDoc struct {
	Schema     string         `json:"schema"`
	Source     Source         `json:"source"`
	Options    ClusterOptions `json:"options"`
	Clusters   int            `json:"clusters"`
	Sizes      []int          `json:"sizes"`
	Objective  float64        `json:"objective"` // k-means: inertia
	LowerBound *float64       `json:"lower_bound"`
	Gap        *float64       `json:"gap"`
	Threshold  *float64       `json:"threshold"`
	Clustering metric.Scores  `json:"clustering,omitempty"`
	Iterations int            `json:"iterations"`
	Restart    int            `json:"restart"`
	Warnings   []string       `json:"warnings,omitempty"`
	Cost       CostRecord     `json:"cost"`
	Labels     []int32        `json:"labels"`
}
