package names

import (
	"slices"
	"strings"
)

// Unknown describes a word that is none of the valid ones: the closest of them, if one
// is near, and the list.
func Unknown(word string, valid []string) string {
	msg := ""
	if c := Closest(word, valid); c != "" {
		msg = "did you mean " + c + "? "
	}
	return msg + "valid: " + strings.Join(slices.Sorted(slices.Values(valid)), ", ")
}
