package emit

import (
	"errors"
	"strings"
	"testing"

	"tercet/internal/option"
	"tercet/internal/testutil"
)

// plain is a sweep of eight runs.
var plain = Script{
	Name: "margins", Command: []string{"tercet", "train", "--config", "sweep.yaml", "--runs-dir", "runs"},
	Config: []string{"--config", "sweep.yaml"}, Out: "runs",
	Runs: 8, Tasks: 8, Ranks: 4, Threads: 4, Seconds: 5400, Memory: 700 << 20, Step: 0.4,
}

// odd has words that a shell, make, YAML, Python or Snakemake would change.
var odd = Script{
	Name: "Größe & a'b $HOME {x}", Command: []string{"tercet", "train", "--config", "my sweeps/a'b.yaml", "--set", `sweep={seed: [0, 1]}`, "--set", `name=$HOME $(x) "q" \n %d`, "--runs-dir", "all runs/{x}"},
	Config: []string{"--config", "my sweeps/a'b.yaml", "--set", `sweep={seed: [0, 1]}`}, Out: "all runs/{x}",
	Runs: 1000, Tasks: 50, Ranks: 16, Threads: 1, Seconds: 86400 * 2, Memory: 9 << 30, Step: 70,
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		for name, s := range map[string]Script{"plain": plain, "odd": odd} {
			out, err := Write(f, s)
			if err != nil {
				t.Fatal(err)
			}
			testutil.Golden(t, "testdata/"+f+"-"+name+".txt", []byte(out))
		}
	}
	home := plain
	home.Out = "$HOME"
	if out, _ := Write("make", home); !strings.Contains(out, "--tasks 8 '$HOME'\n") {
		t.Errorf("a line to copy, in a comment, is not the shell's:\n%s", out)
	}
	var mistake *option.Error
	if _, err := Write("make", Script{Command: []string{"tercet", "a\nb"}}); !errors.As(err, &mistake) {
		t.Errorf("a line break: %v", err)
	}
	one := plain
	one.Ranks = 1
	if _, err := Write("mpijob", one); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "train.shards is 1") {
		t.Errorf("one rank: %v", err)
	}
	if _, err := Write("slrm", plain); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "kubernetes") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		s                   Script
		minutes, gib, grace int
	}{
		{Script{}, 10, 1, 60},
		{Script{Seconds: 1, Memory: 1, Step: 0.01}, 15, 2, 61},
		{Script{Seconds: 3600, Memory: 1 << 30, Step: 3}, 100, 3, 66},
		{Script{Seconds: 2 * 86400}, 4330, 1, 60},
	} {
		if m, g, w := tc.s.minutes(), tc.s.gib(), tc.s.grace(); m != tc.minutes || g != tc.gib || w != tc.grace {
			t.Errorf("%+v: %d minutes, %d GiB, %d s", tc.s, m, g, w)
		}
	}
	long := label(strings.Repeat("x", 100))
	if len(long) != maxLabel || label("A_b.") != "tercet-a-b" {
		t.Errorf("labels %q, %q", long, label("A_b."))
	}
}
