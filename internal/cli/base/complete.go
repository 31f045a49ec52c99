package base

import (
	"os"
	"path/filepath"
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

// CompleteRuns proposes run directories: those in the folder that word names so far,
// or in runs/ where it names none.
func CompleteRuns(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	dir, _ := filepath.Split(word)
	var out []string
	for _, in := range []string{dir, filepath.Join(dir, "runs") + "/"} {
		entries, _ := os.ReadDir(filepath.Clean("./" + in)) // where none can be listed, none is proposed
		if filepath.IsAbs(in) {
			entries, _ = os.ReadDir(in)
		}
		for _, e := range entries {
			if path := in + e.Name(); HoldsRun(path) && strings.HasPrefix(path, word) {
				out = append(out, path)
			}
		}
	}
	if len(out) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
