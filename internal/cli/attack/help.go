package attack

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/attack/worst"
)

// help lists the attacks, those of the suite first.
func help() string {
	suite, _ := attack.Suite("ers")
	var b strings.Builder
	for _, a := range attack.All() {
		fmt.Fprintf(&b, "  %-6s %s", a.Name, a.Doc)
		if !slices.Contains(suite, a.Name) {
			b.WriteString(" (not part of ERS)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// worstHelp lists the attacks of the suite worst, or those that plus adds.
func worstHelp(plus bool) string {
	var b strings.Builder
	for _, m := range worst.Members() {
		if m.Plus == plus {
			fmt.Fprintf(&b, "  %-11s %s\n", m.Name, m.Doc)
		}
	}
	return b.String()
}

// usedBy ends the help of a flag with the attacks on which it has an effect.
func usedBy(o attack.Option) string { return " (" + strings.Join(attack.Users(o), ", ") + ")" }

// lowerScores lists the scores of which a lower value means a more robust model.
func lowerScores() []string {
	return attack.KeysWhere(func(s attack.Score) bool { return s.Robust == attack.Lower })
}
