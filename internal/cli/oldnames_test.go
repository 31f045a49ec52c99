package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
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
		{"eval --set-name test", "set-name", "split"}, {"gap --repeats 3", "repeats", "samples"}, {"influence --repeats 3", "repeats", "replacements"},
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

// Flags of eval that are commands now run the command, wherever they stand, and say so.
func TestMovedCommands(t *testing.T) {
	for flag, command := range map[string]string{"noise-rate": "noise", "gap": "gap", "stability": "stability", "influence": "influence"} {
		for _, line := range []string{"eval --" + flag + " --run none", "--threads 2 eval -r none --" + flag, "eval --" + flag + "=true --run none"} {
			code, _, stderr := clitest.Run(strings.Fields(line)...)
			want := "--" + flag + " is now a command: tercet " + command + " --run RUN\n"
			if code != base.ExitData || !strings.HasPrefix(stderr, want) || !strings.Contains(stderr, "no usable run: none") {
				t.Errorf("%s: exit %d, %s", line, code, stderr)
			}
			if _, _, now := clitest.Run(command, "--run", "none"); want+now != stderr {
				t.Errorf("%s: %q, but tercet %s: %q", line, stderr, command, now)
			}
		}
	}
}

// A flag of eval that belongs to a measurement names the commands that have it.
func TestFlagsOfOtherCommands(t *testing.T) {
	for line, want := range map[string]string{
		"eval --run none --triplets 200": "unknown flag: --triplets; it is a flag of tercet gap, tercet influence and tercet stability (flags: tercet eval --help)",
		"gap --run none --pgd-steps 3":   "it is a flag of tercet attack (",
		"gap --run none --zzz":           "unknown flag: --zzz (flags: tercet gap --help)",
	} {
		if code, _, stderr := clitest.Run(strings.Fields(line)...); code != base.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", line, code, stderr)
		}
	}
}

// A claim that was a flag of stability is its command.
func TestMovedClaim(t *testing.T) {
	for _, line := range []string{"stability --run none --claim T3 --circle --repeats 2", "stability --claim=T3 --circle --repeats 2 -r none", "eval --stability --run none --circle --repeats 2 --claim T3"} {
		code, _, stderr := clitest.Run(strings.Fields(line)...)
		want := "--claim is now a command: tercet stability claim T3 --run RUN\n--repeats is an old name: write --samples\n"
		if code != base.ExitData || !strings.HasPrefix(stderr, want) || !strings.Contains(stderr, "no usable run: none") {
			t.Errorf("%s: exit %d, %s", line, code, stderr)
		}
	}
}
