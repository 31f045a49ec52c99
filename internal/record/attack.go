package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/option"
	"tercet/internal/text"
)

// AttackOptions is the resolved choice, budget and method of attacks.
type AttackOptions struct {
	Attacks    []string `json:"attacks" doc:"attacks, such as CA+ and ES"`
	Variants   []string `json:"variants" doc:"'published' (as the authors' code computes) or 'fixed' (as the papers describe)"`
	Norm       string   `json:"norm" doc:"norm of the budget: 'linf' or 'l2'"`
	Eps        float64  `json:"eps" doc:"budget, pixels in [0, 1]; at 0 nothing is crafted"`
	Step       float64  `json:"step" doc:"step size, pixels in [0, 1]"`
	Iterations int      `json:"iterations" doc:"number of gradient steps"`
	Rule       string   `json:"rule" doc:"step rule: 'fixed' or 'auto'"`
	Direction  string   `json:"direction" doc:"direction of a step: 'sign' or 'normalized'"`
	Start      string   `json:"start" doc:"first iterate: 'clean' or 'random'"`
	Restarts   int      `json:"restarts" doc:"number of starts; the best is kept"`
	Keep       string   `json:"keep" doc:"iterate that is kept: 'last' or 'best'"`
	Queries    int      `json:"queries" doc:"number of queries attacked; 0 is all"`
	Sample     bool     `json:"sample" doc:"whether the queries are a random sample"`
	Batch      int      `json:"batch" doc:"number of queries that a published score averages first"`
	Seed       uint64   `json:"seed" doc:"random seed"`
	Bootstrap  int      `json:"bootstrap" doc:"resamples of the confidence intervals; 0 gives none"`
	Draws      int      `json:"draws" doc:"number of random target draws"`
	W          int      `json:"w" doc:"w, number of queries for each candidate of CA"`
	M          int      `json:"m" doc:"m, number of candidates for each query of QA and SPQA"`
	Near       bool     `json:"near,omitempty" doc:"whether the targets of CA+ and QA+ are drawn from the nearest items"`
	Pure       bool     `json:"pure,omitempty" doc:"whether CA and QA optimize the distance itself instead of hinges"`
	XiScale    float64  `json:"xi_scale,omitempty" doc:"k of the SPQA weight min(exp(k loss), 1e9)"`
	XiWeight   float64  `json:"xi_weight,omitempty" doc:"fixed SPQA weight of the images whose rank is to stay"`
	PerQuery   bool     `json:"per_query,omitempty" doc:"whether the values of each query are stored"`
	// Pictures is how many queries' images to keep, of PictureAttacks (none given:
	// ES, or the first attack).
	Pictures       int      `json:"-"`
	PictureAttacks []string `json:"-"`
}

// Attack is attack.json, schema tercet.attack/2. Scores are fractions, but for
// TMA (a cosine) and ES:D (a distance); the maps have a key for each variant that
// was asked for, "published" and "fixed".
type Attack struct {
	Schema         string                    `json:"schema" doc:"the name and number of the schema"`
	Source         Source                    `json:"source" doc:"what the result was computed from"`
	Options        AttackOptions             `json:"options" doc:"the options of the command, with defaults filled in"`
	Queries        int                       `json:"queries" doc:"number of queries attacked"`
	Excluded       int                       `json:"queries_excluded,omitempty" doc:"queries not attacked because no other image has their label"`
	Gallery        int                       `json:"gallery,omitempty" doc:"number of gallery images, if queries and gallery are separate"`
	Scores         map[string]Scores         `json:"scores" doc:"scores under attack, by variant"`
	Clean          map[string]Scores         `json:"clean" doc:"the same scores of clean images, by variant"`
	RightWhenClean map[string]RightWhenClean `json:"right_when_clean,omitempty" doc:"by variant, scores of only those queries whose nearest clean image has their class; for attacks that score recall"`
	Attacks        []AttackRecord            `json:"attacks" doc:"cost and perturbation size of each attack"`
	Candidates     Packed                    `json:"candidates,omitempty" doc:"index of each image that CA perturbs, if queries and gallery are separate, packed as 'values' are"`
	Items          Packed                    `json:"items,omitempty" doc:"index of each query among the images, packed as 'values' are"`
	Values         map[string]PackedScores   `json:"values,omitempty" doc:"by variant, the value of each query under attack: float32, little-endian, zlib, base64"`
	Warnings       []string                  `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost           CostRecord                `json:"cost" doc:"passes through the network, and the time"`
}

// PackedScores are values of queries by score.
type PackedScores map[string]Packed

// RightWhenClean are the scores over the queries whose nearest image was of their
// class before the attack.
type RightWhenClean struct {
	Queries int    `json:"queries" doc:"number of these queries"`
	Scores  Scores `json:"scores,omitempty" doc:"their scores under attack"`
}

// AttackRecord says what an attack did, all variants and draws together.
type AttackRecord struct {
	Attack       string     `json:"attack" doc:"name of the attack"`
	Scores       []string   `json:"scores" doc:"keys of its scores"`
	Crafted      int        `json:"crafted" doc:"images crafted, over all variants and draws"`
	Shared       int        `json:"shared" doc:"number of crafted images that both variants use"`
	Radius       Radius     `json:"radius" doc:"size of the perturbations"`
	ZeroGradient float64    `json:"zero_gradient" doc:"fraction of vanished gradients; near 1 it means masked gradients or a goal already met"`
	Cost         CostRecord `json:"cost" doc:"passes through the network, and the time"`
}

// Curve is curve.json, schema tercet.curve/1: the scores of attacks against
// eps. Options hold the largest eps.
type Curve struct {
	Schema   string        `json:"schema" doc:"the name and number of the schema"`
	Source   Source        `json:"source" doc:"what the result was computed from"`
	Options  AttackOptions `json:"options" doc:"the options of the command, with defaults filled in"`
	Queries  int           `json:"queries" doc:"number of queries attacked"`
	Excluded int           `json:"queries_excluded,omitempty" doc:"queries not attacked because no other image has their label"`
	Gallery  int           `json:"gallery,omitempty" doc:"number of gallery images, if queries and gallery are separate"`
	Points   []CurvePoint  `json:"points" doc:"scores by ascending eps"`
	Warnings []string      `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost     CostRecord    `json:"cost" doc:"passes through the network, and the time"`
}

// CurvePoint holds the scores at one eps, by variant. At eps 0 nothing is
// crafted: they are those of clean images.
type CurvePoint struct {
	Eps     float64           `json:"eps" doc:"budget, pixels in [0, 1]"`
	Step    float64           `json:"step" doc:"step size, at most eps"`
	Scores  map[string]Scores `json:"scores" doc:"scores by variant; at eps 0 those of clean images"`
	Attacks []AttackRecord    `json:"attacks" doc:"cost and perturbation size of each attack"`
}

func (Attack) kind() kind {
	return kind{schemas: []string{AttackSchema}, made: "attack", beyond: []string{"candidates", "items", "values"}}
}

// From is what was attacked.
func (d Attack) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not: variants,
// scores, queries, draws, intervals, settings; nil if nothing. The options of d and the
// keys of its scores are enough.
func (d Attack) Covers(there Attack) []string {
	out := missing(there.Scores, there.Options, d.Scores)
	out = append(out, fewer(there.Queries, there.Options, d.Options)...)
	return append(out, unlike(there.Options, d.Options, attackSettings)...)
}

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with more attacks, variants or intervals, or the values of each query.
func (d Attack) Holds(o AttackOptions) bool {
	had := d.Options
	widen(&o.Attacks, had.Attacks)
	widen(&o.Variants, had.Variants)
	o.PerQuery = o.PerQuery || had.PerQuery
	if o.Bootstrap == 0 {
		o.Bootstrap = had.Bootstrap
	}
	return SameJSON(had, o)
}

func (Curve) kind() kind {
	return kind{schemas: []string{CurveSchema}, made: "attack " + option.Name("curve")}
}

// From is what was attacked.
func (d Curve) From() Source { return d.Source }

// Covers is that of Attack. The options of d, its points' eps and the keys of the first
// one's scores are enough.
func (d Curve) Covers(there Curve) []string {
	var out, points []string
	for i, p := range there.Points {
		if i == 0 && len(d.Points) > 0 {
			out = missing(p.Scores, there.Options, d.Points[0].Scores)
		}
		if !slices.ContainsFunc(d.Points, func(q CurvePoint) bool { return math.Abs(q.Eps-p.Eps) < 1e-9 }) {
			points = append(points, text.EpsExact(d.Options.Norm, p.Eps))
		}
	}
	switch n := len(points); {
	case n > 3:
		out = append(out, fmt.Sprintf("%d of its %d points of eps", n, len(there.Points)))
	case n > 0:
		out = append(out, "the scores at eps "+strings.Join(points, ", "))
	}
	out = append(out, fewer(there.Queries, there.Options, d.Options)...)
	return append(out, unlike(there.Options, d.Options, attackSettings[1:])...)
}

// AttackPart is what a task of an attack has found, schema tercet.attack-part/1: a share of
// the queries, for the merge of all.
type AttackPart struct {
	Schema  string        `json:"schema" doc:"the name and number of the schema"`
	Source  Source        `json:"source" doc:"what the result will be computed from"`
	Options AttackOptions `json:"options" doc:"the options of the command, with defaults filled in"`
	Program string        `json:"program" doc:"version of the program"`
	Kernel  string        `json:"kernel" doc:"kernel level, and the device of the network if it is not the processor"`
	Task    int           `json:"task" doc:"number of the task, from 1"`
	Tasks   int           `json:"tasks" doc:"number of tasks"`
	First   int           `json:"first" doc:"position of the share's first query among all queries"`
	Queries int           `json:"queries" doc:"number of queries of the share"`
	// Adversarial and Clean are by variant and score.
	Adversarial [][][]float64 `json:"adversarial,omitempty" doc:"score of each query under attack, by variant and score"`
	Clean       [][][]float64 `json:"clean,omitempty" doc:"the same scores of the clean images"`
	Attacks     []AttackShare `json:"attacks,omitempty" doc:"cost and perturbation size of each attack"`
}

// AttackShare is what an attack did to some of the queries.
type AttackShare struct {
	Attack  string        `json:"attack" doc:"name of the attack"`
	Seconds float64       `json:"seconds" doc:"wall time in seconds"`
	Batches []AttackBatch `json:"batches" doc:"images that were crafted together"`
}

// AttackBatch are images that were crafted together.
type AttackBatch struct {
	Draw    int       `json:"draw" doc:"number of the random target draw, from 0"`
	First   int       `json:"first" doc:"position of the first query"`
	Crafted int       `json:"crafted" doc:"number of crafted images"`
	Shared  int       `json:"shared" doc:"number of crafted images that both variants use"`
	Linf    []float64 `json:"linf" doc:"largest change of a pixel of each image"`
	L2      []float64 `json:"l2" doc:"Euclidean norm of the perturbation of each image"`
	Zero    []float64 `json:"zero" doc:"for each run of gradient descent, the number of images times the fraction of vanished gradients"`
	Cost    Cost      `json:"cost" doc:"passes through the network"`
}

func (AttackPart) kind() kind {
	return kind{schemas: []string{AttackPartSchema}, made: "attack", max: 1 << 30}
}
