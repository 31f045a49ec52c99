package base

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/config"
)

// Files completes an argument by files with these endings.
func Files(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Begins keeps the words that begin with what was typed.
func Begins(values []string, word string) []string {
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, word) {
			out = append(out, v)
		}
	}
	return out
}

// ConfigKeys completes a config key.
func ConfigKeys() []string {
	var out []string
	for _, k := range config.Keys() {
		if !slices.Contains(out, k.Key) {
			out = append(out, k.Key)
		}
	}
	return out
}
