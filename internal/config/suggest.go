package config

import (
	"sort"
	"strings"

	"tercet/internal/names"
)

// unknown describes a word that is none of the valid ones.
func unknown(word string, valid []string) string {
	msg := ""
	if c := names.Closest(word, valid); c != "" {
		msg = "did you mean " + c + "? "
	}
	list := append([]string(nil), valid...)
	sort.Strings(list)
	return msg + "valid: " + strings.Join(list, ", ")
}
