package glyphs

import "unicode"

// The repertoire (repertoire_table.go) is the list of characters that may become
// classes. Its rule is in repertoire_test.go, which derives it again.

// hides reports whether the face draws r with another character's shape.
func (f *face) hides(r rune) bool { return f.smallCaps && unicode.IsLower(r) }
