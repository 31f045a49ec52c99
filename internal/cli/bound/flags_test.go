package bound

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"tercet/internal/cli/base"
)

// Complete has a command line for each bound, of all that it needs.
var Complete = map[string]string{
	"Theorem 1":   "--theorem 1 --n-pos 1000 --n-neg 1000 --delta 0.01 --gamma 0.001 --M 1",
	"Theorem 2":   "--theorem 2 --n-pos 1000 --n-neg 1000 --delta 0.01 --M 1 --c 0.03125 --steps 1000 --radius 1",
	"Theorem 3":   "--theorem 3 --n-pos 1000 --n-neg 1000 --delta 0.01 --sigma 1 --b 2 --tau 0.5 --lipschitz 4 --constants tight",
	"Theorem 4":   "--theorem 4 --n-pos 1000 --n-neg 1000 --sigma 1 --risk 0.1 --smoothness 4",
	"Lemma 1":     "--lemma 1 --gamma 0.25",
	"Lemma 2":     "--lemma 2 --step 0.25 --uses 7 --lipschitz 3 --smoothness 5",
	"Lemma 3":     "--lemma 3 --n-pos 1000 --n-neg 1000 --delta 0.01 --b 2 --tau 0.5",
	"Lemma 4":     "--lemma 4 --n-pos 10 --n-neg 1000 --sigma 1 --radius 1",
	"Lemma 5":     "--lemma 5 --n-pos 10 --n-neg 1000 --sigma 1 --radius 1",
	"Lemma 6":     "--lemma 6 --n-pos 11 --risk 0.1 --moved-pos 0.02 --moved-neg 0.01 --smoothness 4 --eps 2",
	"Lemma 10":    "--lemma 10 --mu 2 --delta 1e-6",
	"Corollary 1": "--corollary 1 --n-pos 1000 --n-neg 1000 --delta 0.01 --M 1 --c 0.5 --steps 1000 --radius 1 --constants tight",
	"Corollary 2": "--corollary 2 --n-pos 1000 --n-neg 1000 --delta 0.01 --sigma 1 --b 2 --tau 0.5 --norm 2 --radius 1",
	"Corollary 3": "--corollary 3 --n-pos 1000 --n-neg 1000 --risk 0.03 --norm 1 --smoothness 4",
}

// alone runs the command without the rest of the tree.
func alone(args []string) error {
	cmd := newStability(base.NewStreams(nil, io.Discard, io.Discard))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return cmd.Execute()
}

// A number that a bound does not need is refused, one that it needs is asked for.
func TestStabilityFlags(t *testing.T) {
	for name, line := range Complete {
		words := strings.Fields(line)
		for i := 2; i < len(words); i += 2 {
			flag := words[i]
			if flag == "--constants" || flag == "--eps" {
				continue
			}
			short := append(append([]string{}, words[:i]...), words[i+2:]...)
			missing := flag
			if one := strings.Contains(line, "--lipschitz") != strings.Contains(line, "--smoothness"); one && (flag == "--lipschitz" || flag == "--smoothness") {
				missing = "--radius" // either would do: the one that does without constants is named
			}
			if err, want := alone(short), name+" needs "+missing+" too; in all "; err == nil || base.ExitCode(err) != base.ExitUsage || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s\ngot  %v\nwant %s", name, flag, err, want)
			}
		}
		for _, b := range stabilityBounds {
			if b.name() != name {
				continue
			}
			for _, extra := range []string{"n-pos", "n-neg", "delta", "gamma", "M", "sigma", "b", "tau", "c", "steps", "step", "uses", "risk", "eps", "moved-pos", "moved-neg", "norm", "mu", "sup"} {
				takes := strings.Contains(" "+b.needs+" ", " "+extra+" ") || extra == "eps" && b.eps || extra == "sup" && !b.counts
				if takes {
					continue
				}
				err := alone(append(strings.Fields(line), "--"+extra, "1"))
				if want := name + " does not use --" + extra + "; it needs --"; err == nil || base.ExitCode(err) != base.ExitUsage || !strings.Contains(err.Error(), want) {
					t.Errorf("%s with %s: %v", name, extra, err)
				}
			}
		}
	}
	if len(Complete) != len(stabilityBounds) {
		t.Errorf("%d bounds, %d lines", len(stabilityBounds), len(Complete))
	}
}

func TestDIBSInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(base.ErrInterrupted)
	var out, stderr bytes.Buffer
	o := dibsOptions{classes: 3, noise: 0.1, perClass: 5, simulate: 3, negatives: "same-index", changed: func(flag string) bool { return flag == "simulate" }}
	if err := runBoundDIBS(ctx, base.NewStreams(nil, &out, &stderr), o); !errors.Is(err, base.ErrInterrupted) || base.ExitCode(err) != base.ExitInterrupted || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}
