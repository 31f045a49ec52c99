package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// TestFlagsThatCountHaveLimits finds a flag of whole numbers without a limit: one that
// somebody sets to 10^15 must end in a line, not in all the memory.
func TestFlagsThatCountHaveLimits(t *testing.T) {
	seen := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "tercet ")
		check := func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "int", "int64", "uint", "uint64", "intSlice":
			default:
				return
			}
			seen[f.Name] = true
			if base.FlagLimits[f.Name] == 0 && !base.Unlimited[f.Name] && !strings.HasPrefix(path, "bound stability") {
				t.Errorf("%s --%s has no limit: give it one in limits, or say in unlimited that it allocates nothing", path, f.Name)
			}
		}
		c.NonInheritedFlags().VisitAll(check)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cli.NewRoot(&base.Streams{}, new(cli.Profiles)))
	if len(seen) < 25 {
		t.Errorf("only %d flags were looked at", len(seen))
	}
}

// TestLimitsOfFlags: each of these took the memory of the machine, ended in a Go trace,
// or was cut in silence.
func TestLimitsOfFlags(t *testing.T) {
	for line, want := range map[string]string{
		"bound dibs --classes 10 --noise 0.1 --per-class 30 --simulate 1000000000": "--simulate is 1000000000; give at most 1000000",
		"gap --run x --triplets 1000000000000000":                                  "--triplets is 1000000000000000; give at most 10000000",
		"stability --run x --replacements 100000000":                               "--replacements is 100000000; give at most 1000000",
		"eval --run x --bootstrap 1000000000000":                                   "--bootstrap is 1000000000000; give at most",
		"eval --run x --k 1,1000000000":                                            "--k is 1000000000; give at most",
		"attack --run x --target-draws 1000000000":                                 "--target-draws is 1000000000; give at most",
		"attack --run x --restarts 1000000000":                                     "--restarts is 1000000000; give at most",
		"cluster --run x --n-init 1000000000":                                      "--n-init is 1000000000; give at most",
		"cluster --run x -k 1000000000":                                            "--clusters is 1000000000; give at most",
		"doctor --threads 1000000000":                                              "--threads is 1000000000; give at most 4096",
		"train --jobs 1000000000":                                                  "--jobs is 1000000000; give at most 4096",
	} {
		code, _, msg := clitest.Run(strings.Fields(line)...)
		if code != base.ExitUsage || !strings.Contains(msg, want) || strings.Count(msg, "\n") > 1 {
			t.Errorf("%s: exit %d, %s", line, code, msg)
		}
	}
}

// TestFlagsSayNoGoWords: "strconv.ParseInt: parsing "x": invalid syntax" does not help
// to a user.
func TestFlagsSayNoGoWords(t *testing.T) {
	for line, want := range map[string]string{
		"gap --run x --triplets many":                   `--triplets is "many"; want a whole number`,
		"eval --run x --bootstrap 99999999999999999999": `--bootstrap is "99999999999999999999"; want a whole number that is not so large`,
		"eval --run x --k 1,b":                          `--k is "1,b"; want whole numbers, separated by commas`,
		"eval --run x --seed -1":                        `--seed is "-1"; want a whole number from 0 on`,
		"cluster --run x --theta x":                     `--theta is "x"; want a number`,
		"eval --run x --force=maybe":                    `--force is "maybe"; want true or false`,
		"bound stability --theorem 1 --n-pos x":         `--n-pos is "x"`,
		"bound dibs --noise 0.1 --per-class 3.5":        `--per-class is "3.5"; want a whole number`,
	} {
		code, _, msg := clitest.Run(strings.Fields(line)...)
		if code != base.ExitUsage || !strings.Contains(msg, want) || strings.Contains(msg, "strconv") || strings.Contains(msg, "invalid argument") {
			t.Errorf("%s: exit %d, %s", line, code, msg)
		}
	}
}

// Runs of more steps than a measurement takes can be lengthened.
func TestExtendTakesLongRuns(t *testing.T) {
	if _, _, stderr := clitest.Run("runs", "extend", t.TempDir()+"/none", "--steps", "2000000"); !strings.Contains(stderr, "no usable run") {
		t.Error(stderr)
	}
}
