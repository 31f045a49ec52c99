package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
)

// Every old name of a flag sets the flag of today, is not in the help, and is noticed.
func TestOldNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, old, now string }{
		{"attack --save-examples 3", "save-examples", "examples"}, {"attack --examples-of ES", "examples-of", "example-attacks"},
		{"attack --steps 3", "steps", "pgd-steps"}, {"attack --keep best", "keep", "iterate"}, {"attack --draws 3", "draws", "target-draws"},
		{"attack --w 3", "w", "ca-queries"}, {"attack --m 3", "m", "qa-candidates"}, {"attack --near", "near", "near-targets"},
		{"attack --pure", "pure", "distance-objective"}, {"attack --xi 3", "xi", "spqa-weight"}, {"attack --xi-scale 3", "xi-scale", "spqa-weight-scale"},
		{"attack --out x", "out", "out-dir"}, {"cluster --out x", "out", "out-dir"}, {"cluster --graph-neighbours 3", "graph-neighbours", "graph-neighbors"},
		{"cluster assign --out x", "out", "out-dir"}, {"train --out x", "out", "runs-dir"}, {"report --out x.md", "out", "page"},
		{"eval --set-name test", "set-name", "split"},
	} {
		root := cli.NewRoot(&base.Streams{}, &cli.Profiles{})
		cmd, rest, err := root.Find(strings.Fields(tc.line))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(cmd.UsageString(), "--"+tc.old+" ") {
			t.Errorf("%s: help shows --%s", tc.line, tc.old)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", tc.line, err)
			continue
		}
		var given *pflag.Flag
		cmd.Flags().Visit(func(f *pflag.Flag) { given = f })
		if given == nil || given.Name != tc.now || len(given.Annotations[base.OldNameKey]) != 1 || given.Annotations[base.OldNameKey][0] != tc.old {
			t.Errorf("%s: sets %+v, want --%s", tc.line, given, tc.now)
		}
	}
}
