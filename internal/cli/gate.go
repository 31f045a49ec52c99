package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/metric"
	"tercet/internal/names"
)

// gate is one --fail-under, a score that must be at least a limit, or --fail-over,
// one that must be at most that.
type gate struct {
	key   string
	limit float64
	over  bool
}

func (g gate) flag() string {
	if g.over {
		return "--fail-over"
	}
	return "--fail-under"
}

// parseGates reads "r@1=0.9"; r@k is short for recall@k.
func parseGates(list []string, over bool) ([]gate, error) {
	var out []gate
	for _, s := range list {
		key, value, ok := strings.Cut(s, "=")
		limit, err := strconv.ParseFloat(value, 64)
		if !ok || key == "" || err != nil || math.IsNaN(limit) || math.IsInf(limit, 0) {
			return nil, usagef("%s %q is not SCORE=LIMIT, such as r@1=0.9", gate{over: over}.flag(), s)
		}
		out = append(out, gate{names.Score(key), limit, over})
	}
	return out, nil
}

// knownGates refuses, before the work, gates on scores that will not be measured.
func knownGates(gates []gate, keys []string) error {
	for _, g := range gates {
		if !slices.Contains(keys, g.key) {
			hint := ""
			if c := names.Closest(g.key, keys); c != "" {
				hint = "; did you mean " + c + "?"
			}
			return usagef("%s: %q will not be measured%s (there will be: %s)", g.flag(), g.key, hint, strings.Join(keys, ", "))
		}
	}
	return nil
}

// checkGates returns an error with exit code 4 unless every gate is met. A score
// that was not measured is a usage error.
func checkGates(gates []gate, scores ...metric.Scores) error {
	var failed []string
	for _, g := range gates {
		v, ok := find(g.key, scores)
		if !ok {
			var names []string
			for _, s := range scores {
				for _, e := range s {
					names = append(names, e.Key)
				}
			}
			return usagef("%s: %q was not measured; there are: %s", g.flag(), g.key, strings.Join(names, ", "))
		}
		if g.over && !(v.Value <= g.limit) {
			failed = append(failed, fmt.Sprintf("%s is %.4f, wanted at most %g", g.key, v.Value, g.limit))
		}
		if !g.over && !(v.Value >= g.limit) {
			failed = append(failed, fmt.Sprintf("%s is %.4f, wanted at least %g", g.key, v.Value, g.limit))
		}
	}
	if len(failed) > 0 {
		return &ExitError{ExitGate, fmt.Errorf("gate not met: %s", strings.Join(failed, "; "))}
	}
	return nil
}

// find returns the value of a key in the first list that has it.
func find(key string, scores []metric.Scores) (metric.Value, bool) {
	for _, s := range scores {
		if v, ok := s.Get(key); ok {
			return v, true
		}
	}
	return metric.Value{}, false
}
