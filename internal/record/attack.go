package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/text"
)

// AttackOptions is the resolved choice, budget and method of attacks.
type AttackOptions struct {
	Attacks    []string `json:"attacks"`  // CA+, ES, ...; attack.Suite lists those of a suite
	Variants   []string `json:"variants"` // published, fixed
	Norm       string   `json:"norm"`
	Eps        float64  `json:"eps"` // pixels in [0, 1]; 0 crafts nothing: clean scores
	Step       float64  `json:"step"`
	Iterations int      `json:"iterations"`
	Rule       string   `json:"rule"`      // fixed or auto
	Direction  string   `json:"direction"` // sign or normalized
	Start      string   `json:"start"`     // clean or random
	Restarts   int      `json:"restarts"`
	Keep       string   `json:"keep"`    // last or best
	Queries    int      `json:"queries"` // 0: all
	Sample     bool     `json:"sample"`
	Batch      int      `json:"batch"` // of the published means; 0: 128
	Seed       uint64   `json:"seed"`
	Bootstrap  int      `json:"bootstrap"`
	Draws      int      `json:"draws"` // of random targets, 0: 1
	W          int      `json:"w"`     // CA: queries, 0: 1
	M          int      `json:"m"`     // QA, SPQA: candidates, 0: 1
	Near       bool     `json:"near,omitempty"`
	Pure       bool     `json:"pure,omitempty"`
	XiScale    float64  `json:"xi_scale,omitempty"`
	XiWeight   float64  `json:"xi_weight,omitempty"`
	// Pictures is how many queries' images to keep, of PictureAttacks (none given:
	// ES, or the first attack).
	Pictures       int      `json:"-"`
	PictureAttacks []string `json:"-"`
}

// Attack is attack.json, schema tercet.attack/2. Scores are fractions, but for
// TMA (a cosine) and ES:D (a distance); the maps have a key for each variant that
// was asked for, "published" and "fixed".
type Attack struct {
	Schema   string        `json:"schema"`
	Source   Source        `json:"source"`
	Options  AttackOptions `json:"options"`
	Queries  int           `json:"queries"`                    // attacked
	Excluded int           `json:"queries_excluded,omitempty"` // of classes of one
	// Scores under attack, in the order of the papers' tables; ERS last, where all
	// its attacks ran.
	Scores map[string]Scores `json:"scores"`
	// Clean holds the same scores of the images as they are: what eps 0 gives.
	Clean map[string]Scores `json:"clean"`
	// RightWhenClean is there where ES, LTM or GTM ran.
	RightWhenClean map[string]RightWhenClean `json:"right_when_clean,omitempty"`
	Attacks        []AttackRecord            `json:"attacks"`
	Warnings       []string                  `json:"warnings,omitempty"`
	Cost           CostRecord                `json:"cost"`
}

// RightWhenClean are the scores over the queries whose nearest image was of their
// class before the attack.
type RightWhenClean struct {
	Queries int    `json:"queries"`
	Scores  Scores `json:"scores,omitempty"` // none without such queries
}

// AttackRecord says what an attack did, all variants and draws together.
type AttackRecord struct {
	Attack  string   `json:"attack"`
	Scores  []string `json:"scores"`  // keys
	Crafted int      `json:"crafted"` // images
	Shared  int      `json:"shared"`  // of them, those of both variants
	Radius  Radius   `json:"radius"`
	// ZeroGradient is the fraction of gradients that vanished: near 1 it means
	// masked gradients (or a goal that was met), not robustness.
	ZeroGradient float64    `json:"zero_gradient"`
	Cost         CostRecord `json:"cost"`
}

// Curve is curve.json, schema tercet.curve/1: the scores of attacks against
// eps. Options hold the largest eps.
type Curve struct {
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
	Eps     float64           `json:"eps"`
	Step    float64           `json:"step"` // of a fixed step, never larger than eps
	Scores  map[string]Scores `json:"scores"`
	Attacks []AttackRecord    `json:"attacks"`
}

func (Attack) kind() kind { return kind{schemas: []string{AttackSchema}, made: "attack"} }

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

func (Curve) kind() kind { return kind{schemas: []string{CurveSchema}, made: "attack --curve"} }

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
