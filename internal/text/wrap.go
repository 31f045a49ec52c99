package text

import "strings"

// Wrap breaks words into lines of at most width columns, which end in a newline; each line
// but the first begins with indent. A word that is wider has a line of its own.
func Wrap(words string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(words) {
		n := len([]rune(word))
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len([]rune(indent))
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}
