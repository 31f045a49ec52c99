package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/text"
)

// LacksAttack says what d has and a result of the options o on the same weights and images
// would not: variants, scores, queries, draws, intervals, settings; nil if nothing.
func LacksAttack(d *record.Attack, o record.AttackOptions) []string {
	resolveAttack(&o)
	out := missing(d.Scores, o)
	out = append(out, fewer(d.Queries, d.Options, o)...)
	return append(out, unlike(d.Options, o, attackSettings)...)
}

// LacksCurve is that of an attack for a curve over the given eps.
func LacksCurve(d *record.Curve, o record.AttackOptions, eps []float64) []string {
	resolveAttack(&o)
	var out, points []string
	for i, p := range d.Points {
		if i == 0 {
			out = missing(p.Scores, o)
		}
		if !slices.ContainsFunc(eps, func(v float64) bool { return math.Abs(v-p.Eps) < 1e-9 }) {
			points = append(points, text.EpsExact(o.Norm, p.Eps))
		}
	}
	switch n := len(points); {
	case n > 3:
		out = append(out, fmt.Sprintf("%d of its %d points of eps", n, len(d.Points)))
	case n > 0:
		out = append(out, "the scores at eps "+strings.Join(points, ", "))
	}
	out = append(out, fewer(d.Queries, d.Options, o)...)
	return append(out, unlike(d.Options, o, attackSettings[1:])...)
}

// missing names the variants and scores that are there and that o does not give.
func missing(has map[string]metric.Scores, o record.AttackOptions) []string {
	var out, scores []string
	keys := attack.Keys(o.Attacks)
	for _, v := range attack.Variants() {
		list, ok := has[string(v)]
		if ok && !slices.Contains(o.Variants, string(v)) {
			out = append(out, "the variant "+string(v))
		}
		for _, s := range list {
			if !slices.Contains(keys, s.Key) && !slices.Contains(scores, s.Key) {
				scores = append(scores, s.Key)
			}
		}
	}
	if scores != nil {
		out = append(out, "the scores "+strings.Join(scores, ", "))
	}
	return out
}

// fewer says what o measures less of.
func fewer(queries int, there, o record.AttackOptions) []string {
	var out []string
	if o.Queries > 0 && queries > o.Queries {
		out = append(out, fmt.Sprintf("%d queries instead of %d", queries, o.Queries))
	}
	if there.Draws > o.Draws {
		out = append(out, fmt.Sprintf("%d draws instead of %d", there.Draws, o.Draws))
	}
	if there.Bootstrap > 0 && o.Bootstrap == 0 {
		out = append(out, "intervals")
	}
	return out
}

// attackSetting is what makes scores those of another attack, none of which has more
// than the other, by its flag.
type attackSetting struct {
	flag string
	of   func(record.AttackOptions) string
}

// attackSettings begin with eps, which a curve goes over.
var attackSettings = []attackSetting{
	{"eps", func(o record.AttackOptions) string { return text.EpsExact(o.Norm, o.Eps) }},
	{"step", func(o record.AttackOptions) string {
		if o.Rule == "auto" || o.Eps == 0 {
			return "" // there is none
		}
		return text.EpsExact(o.Norm, o.Step)
	}},
	{"steps", func(o record.AttackOptions) string { return fmt.Sprint(o.Iterations) }},
	{"norm", func(o record.AttackOptions) string { return o.Norm }},
	{"direction", func(o record.AttackOptions) string { return o.Direction }},
	{"rule", func(o record.AttackOptions) string { return o.Rule }},
	{"start", func(o record.AttackOptions) string { return o.Start }},
	{"restarts", func(o record.AttackOptions) string { return fmt.Sprint(o.Restarts) }},
	{"keep", func(o record.AttackOptions) string { return o.Keep }},
	{"sample", func(o record.AttackOptions) string { return fmt.Sprint(o.Sample) }},
	{"batch", func(o record.AttackOptions) string { return fmt.Sprint(o.Batch) }},
	{"seed", func(o record.AttackOptions) string { return fmt.Sprint(o.Seed) }},
	{"w", func(o record.AttackOptions) string { return fmt.Sprint(o.W) }},
	{"m", func(o record.AttackOptions) string { return fmt.Sprint(o.M) }},
	{"near", func(o record.AttackOptions) string { return fmt.Sprint(o.Near) }},
	{"pure", func(o record.AttackOptions) string { return fmt.Sprint(o.Pure) }},
	{"xi", func(o record.AttackOptions) string { return fmt.Sprint(o.XiWeight) }},
	{"xi-scale", func(o record.AttackOptions) string { return fmt.Sprint(o.XiScale) }},
}

// unlike says which settings differ, such as "eps 77/255 instead of 8/255".
func unlike(there, o record.AttackOptions, settings []attackSetting) []string {
	var out []string
	for _, s := range settings {
		if a, b := s.of(there), s.of(o); a != "" && b != "" && a != b {
			out = append(out, fmt.Sprintf("%s %s instead of %s", s.flag, a, b))
		}
	}
	return out
}
