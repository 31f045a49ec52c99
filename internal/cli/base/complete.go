package base

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/config"
	"tercet/internal/lists"
)

// Files completes an argument by files with these endings.
func Files(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Begins keeps the words that begin with what was typed.
func Begins(values []string, word string) []string {
	return lists.Filter(values, func(v string) bool { return strings.HasPrefix(v, word) })
}

// ConfigKeys completes a config key.
func ConfigKeys() []string {
	var out []string
	for _, k := range config.Keys() {
		out = lists.AppendNew(out, k.Key)
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
