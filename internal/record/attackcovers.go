package record

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/text"
)

// missing names the variants and scores that had has and is has not, in the order of the
// options of had.
func missing(had map[string]Scores, o AttackOptions, is map[string]Scores) []string {
	var out, scores []string
	var now Scores // all variants have the same
	for _, list := range is {
		now = list
	}
	for _, v := range o.Variants {
		list, ok := had[v]
		if _, stays := is[v]; ok && !stays {
			out = append(out, "the variant "+v)
		}
		for _, s := range list {
			if _, stays := now.Get(s.Key); !stays && !slices.Contains(scores, s.Key) {
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
func fewer(queries int, there, o AttackOptions) []string {
	var out losses
	out.add(o.Queries > 0 && queries > o.Queries, "%d queries instead of %d", queries, o.Queries)
	out.add(there.Draws > o.Draws, "%d draws instead of %d", there.Draws, o.Draws)
	out.add(there.PerQuery && !o.PerQuery, "the values of each query")
	out.add(there.Bootstrap > 0 && o.Bootstrap == 0, "intervals")
	return out
}

// attackSetting is what makes scores those of another attack, none of which has more
// than the other, by its flag.
type attackSetting struct {
	flag string
	of   func(AttackOptions) string
}

// attackSettings begin with eps, which a curve goes over.
var attackSettings = []attackSetting{
	{"eps", func(o AttackOptions) string { return text.EpsExact(o.Norm, o.Eps) }},
	{"step", func(o AttackOptions) string {
		if o.Rule == "auto" || o.Eps == 0 {
			return "" // there is none
		}
		return text.EpsExact(o.Norm, o.Step)
	}},
	{"steps", func(o AttackOptions) string { return fmt.Sprint(o.Iterations) }},
	{"norm", func(o AttackOptions) string { return o.Norm }},
	{"direction", func(o AttackOptions) string { return o.Direction }},
	{"rule", func(o AttackOptions) string { return o.Rule }},
	{"start", func(o AttackOptions) string { return o.Start }},
	{"restarts", func(o AttackOptions) string { return fmt.Sprint(o.Restarts) }},
	{"keep", func(o AttackOptions) string { return o.Keep }},
	{"sample", func(o AttackOptions) string { return fmt.Sprint(o.Sample) }},
	{"batch", func(o AttackOptions) string { return fmt.Sprint(o.Batch) }},
	{"seed", func(o AttackOptions) string { return fmt.Sprint(o.Seed) }},
	{"w", func(o AttackOptions) string { return fmt.Sprint(o.W) }},
	{"m", func(o AttackOptions) string { return fmt.Sprint(o.M) }},
	{"near", func(o AttackOptions) string { return fmt.Sprint(o.Near) }},
	{"pure", func(o AttackOptions) string { return fmt.Sprint(o.Pure) }},
	{"xi", func(o AttackOptions) string { return fmt.Sprint(o.XiWeight) }},
	{"xi-scale", func(o AttackOptions) string { return fmt.Sprint(o.XiScale) }},
}

// unlike says which settings differ, such as "eps 77/255 instead of 8/255".
func unlike(there, o AttackOptions, settings []attackSetting) []string {
	var out losses
	for _, s := range settings {
		a, b := s.of(there), s.of(o)
		out.add(a != "" && b != "" && a != b, "%s %s instead of %s", s.flag, a, b)
	}
	return out
}
