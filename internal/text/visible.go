package text

import (
	"strconv"
	"strings"
	"unicode"
)

// Visible shows the control characters of a name as Go writes them, such as \n, so that it
// stays in its line and commands no terminal.
func Visible(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
