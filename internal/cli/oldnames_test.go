package cli_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// Every old name and every old word of a flag, on every command: the command does what it
// does with today's spelling, with the same exit code and stdout, after one notice.
func TestOldSpellings(t *testing.T) {
	names, words := 0, 0
	var visit func(cmd *cobra.Command)
	same := func(old, now []string, notice string) {
		t.Helper()
		oldCode, oldOut, oldErr := clitest.Run(old...)
		code, out, stderr := clitest.Run(now...)
		if oldCode != code || oldOut != out || oldErr != notice+"\n"+stderr {
			t.Errorf("%s: exit %d\n%s%s\n%s: exit %d\n%s%s", strings.Join(old, " "), oldCode, oldOut, oldErr, strings.Join(now, " "), code, out, stderr)
		}
		if code == 0 {
			t.Errorf("%s did something: let it fail at its input", strings.Join(now, " "))
		}
	}
	visit = func(cmd *cobra.Command) {
		line := strings.Fields(cmd.CommandPath())[1:]
		switch cmd.Name() { // arguments that a command needs to get as far as its flags
		case "claim":
			line = append(line, "S1")
		case "compare", "diff":
			line = append(line, "none", "none-2")
		case "embeddings":
			line = append(line, "none", "--out", "none.npy")
		}
		switch {
		case cmd.Flags().Lookup("run") != nil:
			line = append(line, "--run", "none")
		case cmd.Flags().Lookup("config") != nil:
			line = append(line, "--config", "none.yaml")
		}
		line = slices.Clip(line)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			old, changed := f.Annotations[base.OldNamesKey], f.Annotations[base.OldWordsKey]
			value := map[string]string{"int": "3", "float64": "3", "bool": "true"}[f.Value.Type()]
			for _, name := range old {
				names++
				v := cmp.Or(append(base.WordsOf(f), value, "x")...)
				same(append(line, "--"+name+"="+v), append(line, "--"+f.Name+"="+v), "--"+name+" is an old name: write --"+f.Name)
			}
			for i := 0; i < len(changed); i += 2 {
				words++
				same(append(line, "--"+f.Name+"="+changed[i]), append(line, "--"+f.Name+"="+changed[i+1]),
					"--"+f.Name+" "+changed[i]+" is now --"+f.Name+" "+changed[i+1])
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(cli.NewRoot(&base.Streams{}, &cli.Profiles{}))
	if names < 25 || words < 6 {
		t.Errorf("found %d old names and %d old words: the search is broken", names, words)
	}
}

// A config key with an old name is read as today's, after one notice that says where it is;
// what a command prints, and its exit code, are the same.
func TestOldKeys(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		clitest.WriteFile(t, path, text)
		return path
	}
	old := file("x.yaml", "defense: {name: est, variant: published}\n")
	plain := file("y.yaml", "defense: {name: est, implementation: robrank}\n")
	swept := file("z.yaml", "defense: {name: est}\nsweep: {defense.variant: [paper, published]}\n")
	const now = "defense.variant is an old name: write defense.implementation, and robrank instead of published\n"
	for _, command := range []string{"config check", "config show --json", "train --list --json --config"} {
		args := func(more ...string) []string { return append(strings.Fields(command), more...) }
		code, want, stderr := clitest.Run(args(plain)...)
		want, stderr = strings.ReplaceAll(want, plain, old), strings.ReplaceAll(stderr, plain, old)
		if code != 0 {
			t.Fatalf("%s: exit %d, %s", command, code, stderr)
		}
		if code, out, notice := clitest.Run(args(old)...); code != 0 || out != want || notice != old+":1: "+now+stderr {
			t.Errorf("%s: exit %d\n%s%s\nwant\n%s%s", command, code, out, notice, want, stderr)
		}
		if code, _, notice := clitest.Run(args(old, "--set", "defense.variant=published")...); code != 0 || notice != "--set: "+now+stderr {
			t.Errorf("%s --set: exit %d, %s", command, code, notice)
		}
		if code, _, notice := clitest.Run(args(swept)...); code != 0 || !strings.HasPrefix(notice, swept+":2: sweep.defense.variant is an old name: write sweep.defense.implementation, and robrank instead of published\n") {
			t.Errorf("%s of a sweep: exit %d, %s", command, code, notice)
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
