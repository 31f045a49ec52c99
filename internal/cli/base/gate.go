package base

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/names"
	"tercet/internal/record"
)

// Gate is one --fail-under, a score that must be at least a limit, or --fail-over,
// one that must be at most that.
type Gate struct {
	Key   string
	Limit float64
	Over  bool
}

func (g Gate) flag() string {
	if g.Over {
		return "--fail-over"
	}
	return "--fail-under"
}

// ParseGates reads "r@1=0.9"; r@k is short for recall@k.
func ParseGates(list []string, over bool) ([]Gate, error) {
	var out []Gate
	for _, s := range list {
		at := max(strings.LastIndex(s, "="), 0) // the last: tar@far=0.001=0.9
		key := s[:at]
		limit, err := strconv.ParseFloat(strings.TrimPrefix(s[at:], "="), 64)
		if key == "" || err != nil || math.IsNaN(limit) || math.IsInf(limit, 0) {
			return nil, Usagef("%s %q is not SCORE=LIMIT, such as r@1=0.9", Gate{Over: over}.flag(), s)
		}
		out = append(out, Gate{names.Score(key), limit, over})
	}
	return out, nil
}

// KnownGates refuses, before the work, gates on scores that will not be measured.
func KnownGates(gates []Gate, keys []string) error {
	for _, g := range gates {
		if !slices.Contains(keys, g.Key) {
			hint := ""
			if c := names.Closest(g.Key, keys); c != "" {
				hint = "; did you mean " + c + "?"
			}
			return Usagef("%s: %q will not be measured%s (this command measures: %s)", g.flag(), g.Key, hint, strings.Join(keys, ", "))
		}
	}
	return nil
}

// gateNotMet begins the error about scores beyond their limits.
const gateNotMet = "gate not met"

// CheckGates returns an error with exit code 4 unless every gate is met. A score
// that was not measured is a usage error.
func CheckGates(gates []Gate, scores ...record.Scores) error {
	var failed []string
	for _, g := range gates {
		v, ok := find(g.Key, scores)
		if !ok {
			var names []string
			for _, s := range scores {
				for _, e := range s {
					names = append(names, e.Key)
				}
			}
			return Usagef("%s: %q was not measured; measured: %s", g.flag(), g.Key, strings.Join(names, ", "))
		}
		if g.Over && !(v.Value <= g.Limit) {
			failed = append(failed, fmt.Sprintf("%s is %.4f, must be at most %g", g.Key, v.Value, g.Limit))
		}
		if !g.Over && !(v.Value >= g.Limit) {
			failed = append(failed, fmt.Sprintf("%s is %.4f, must be at least %g", g.Key, v.Value, g.Limit))
		}
	}
	if len(failed) > 0 {
		return &ExitError{ExitGate, fmt.Errorf("%s: %s", gateNotMet, strings.Join(failed, "; "))}
	}
	return nil
}

// find returns the value of a key in the first list that has it.
func find(key string, scores []record.Scores) (record.Value, bool) {
	for _, s := range scores {
		if v, ok := s.Get(key); ok {
			return v, true
		}
	}
	return record.Value{}, false
}
