package attack

import (
	"fmt"
	"strings"
)

// Suite returns the attacks of a suite: "ers", the nine whose ten scores make the
// empirical robustness score.
func Suite(name string) ([]string, error) {
	if name != "ers" {
		return nil, fmt.Errorf("attack: unknown suite %q (valid: ers)", name)
	}
	return []string{"CA+", "CA-", "QA+", "QA-", "TMA", "ES", "LTM", "GTM", "GTT"}, nil
}

// Variants lists the variants in the order of tables.
func Variants() []Variant { return []Variant{Published, Fixed} }

// ScoreKeys returns the keys of an attack's scores; see Method.
func ScoreKeys(attack string) []string {
	switch {
	case attack == "ES":
		return []string{"ES:D", "ES:R"}
	case strings.HasPrefix(attack, "SPQA"):
		return []string{attack, attack + ":GT"}
	}
	return []string{attack}
}

// Keys returns the keys of the scores of attacks, in their order, and ERS at the
// end where all of its scores are among them.
func Keys(attacks []string) []string {
	var out []string
	for _, a := range attacks {
		out = append(out, ScoreKeys(a)...)
	}
	if _, ok := ersColumns(out); ok {
		out = append(out, ERS)
	}
	return out
}

// drawn says whether an attack's targets are random, so that repeated draws tell
// something.
func drawn(attack string) bool {
	return attack == "TMA" || strings.Contains(attack, "CA") || strings.Contains(attack, "QA")
}
