package base

import (
	"tercet/internal/names"
	"tercet/internal/option"
)

// The library knows options by their bare names; on a command line they are flags.
func init() { option.Spell(func(name string) string { return "--" + name }) }

// DidYouMean asks after the word of list that is closest to word; "" where none is close.
func DidYouMean(word string, list []string) string {
	if c := names.Closest(word, list); c != "" {
		return "did you mean " + c + "? "
	}
	return ""
}
