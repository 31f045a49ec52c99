package attack

import (
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/cli/base"
	"tercet/internal/record"
)

// attackGates reads --fail-under and --fail-over, and refuses a score that will not
// be measured and a gate that the worst model passes.
func (o *options) attackGates() ([]base.Gate, error) {
	gates, err := o.Gates()
	if err != nil {
		return nil, err
	}
	over, err := base.ParseGates(o.failOver, true)
	if err != nil {
		return nil, err
	}
	gates = append(gates, over...)
	if err := base.KnownGates(gates, gateKeys(attack.Keys(o.ask.Attacks), o.variants())); err != nil {
		return nil, err
	}
	for _, g := range gates {
		key, _, _ := strings.Cut(g.Key, "(")
		score, _ := attack.ScoreNamed(key)
		switch {
		case score.Robust == attack.Lower && !g.Over:
			return nil, base.Usagef("--fail-under: a lower %s is more robust; write --fail-over %s=%g", g.Key, g.Key, g.Limit)
		case score.Robust == attack.Higher && g.Over:
			return nil, base.Usagef("--fail-over: a higher %s is more robust; write --fail-under %s=%g", g.Key, g.Key, g.Limit)
		}
	}
	return gates, nil
}

// gateKeys are the names of scores in gates, as in tercet report: those of
// the fixed variant by themselves, published ones as "ES:R(published)".
func gateKeys(keys, variants []string) []string {
	var out []string
	for _, v := range slices.Backward(variants) {
		for _, k := range keys {
			out = append(out, gateKey(k, v))
		}
	}
	return out
}

func gateKey(key, variant string) string {
	if variant == string(attack.Fixed) {
		return key
	}
	return key + "(" + variant + ")"
}

func gateScores(byVariant map[string]record.Scores) []record.Scores {
	var out []record.Scores
	for _, v := range attack.Variants() {
		var s record.Scores
		for _, sc := range byVariant[string(v)] {
			s = append(s, record.Score{Key: gateKey(sc.Key, string(v)), Value: sc.Value})
		}
		out = append(out, s)
	}
	return out
}
