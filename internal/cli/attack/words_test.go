package attack

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/worst"
	"tercet/internal/cli/base"
	"tercet/internal/record"
)

func TestTitleOfAnAttack(t *testing.T) {
	o := record.AttackOptions{Norm: "linf", Eps: 77. / 255, Step: 3. / 255, Iterations: 32, Rule: "fixed", Direction: "sign", Start: "clean", Restarts: 1, Keep: "last"}
	if got := budget(o, true); got != "linf eps 77/255, 32 steps of 3/255" {
		t.Error(got)
	}
	o.Iterations, o.Start, o.Restarts, o.Keep, o.Direction = 1, "random", 3, "best", "normalized"
	if got := budget(o, true); got != "linf eps 77/255, 1 step of 3/255 of the normalized gradient, random start, best of 3 runs, best iterate" {
		t.Error(got)
	}
	d := &record.Attack{Queries: 1, Source: record.Source{Run: "r", Items: 36}, Options: o}
	if got := AttackTable(d).Title; got[:18] != "r: 1 query of 36, " {
		t.Error(got)
	}
}

func TestParseCurve(t *testing.T) {
	got, err := parseCurve("eps=0..77/255:12")
	if err != nil || len(got) != 12 || got[0] != 0 || got[11] != 77./255 {
		t.Fatalf("%v %v", got, err)
	}
	for i, v := range got {
		if math.Abs(255*v-7*float64(i)) > 1e-12 {
			t.Errorf("point %d is %v/255, want %d/255", i, 255*v, 7*i)
		}
	}
	if got, err = parseCurve(" eps = 0.1 .. 0.2 : 2 "); err != nil || !slices.Equal(got, []float64{0.1, 0.2}) {
		t.Errorf("%v %v", got, err)
	}
	for spec, want := range map[string]string{
		"":                  "a curve goes over eps",
		"steps=1..2:3":      "a curve goes over eps",
		"eps=0..77/255":     "the number of points is missing",
		"eps=77/255:12":     "there is no range",
		"eps=0..x:12":       `TO "x" is not a number`,
		"eps=-1..1:12":      `FROM "-1" is not a number`,
		"eps=0..1/0:12":     `TO "1/0" is not a number`,
		"eps=0..1:twelve":   "POINTS is not a whole number",
		"eps=0..1:1":        "POINTS is 1, not 2 to 1000",
		"eps=0..1:1001":     "POINTS is 1001",
		"eps=0.2..0.1:3":    "FROM is not below TO",
		"eps=0.1..0.1:3":    "FROM is not below TO",
		"eps=nan..0.1:3":    `FROM "nan" is not a number`,
		"eps=0..77/255:12:": "POINTS is not a whole number",
	} {
		if _, err := parseCurve(spec); err == nil || base.ExitCode(err) != base.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
}

// Whatever the case and order they are written in, names come as tables have them.
func TestNames(t *testing.T) {
	got, err := listNames("--attack", []string{"gtm", "es", " Ca+", "spqa-"})
	if err != nil || !slices.Equal(got, []string{"CA+", "ES", "GTM", "SPQA-"}) {
		t.Errorf("%v %v", got, err)
	}
	for _, tc := range []struct{ name, want string }{
		{"CTM", "did you mean LTM"}, {"spqa", "did you mean SPQA+"}, {"fgsm-ranking", `unknown attack "fgsm-ranking"; valid: CA+, CA-, QA+`}, {"", "valid: CA+"},
	} {
		if _, err := listNames("--attack", []string{tc.name}); err == nil || base.ExitCode(err) != base.ExitUsage || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v", tc.name, err)
		}
	}
	if _, err := listNames("--attack", []string{"es", "ES"}); err == nil || !strings.Contains(err.Error(), "names ES twice") {
		t.Error(err)
	}
}

func TestWordsOfABudget(t *testing.T) {
	o := record.AttackOptions{Norm: "linf", Eps: 77. / 255, Step: 3. / 255, Iterations: 8, Rule: "fixed", Direction: "sign", Start: "clean", Restarts: 1}
	if w := unreached(o); w != "8 steps of 3/255 reach 24/255 at most: the ball of 77/255 is not used to its end" {
		t.Errorf("%q", w)
	}
	for _, change := range []func(*record.AttackOptions){
		func(o *record.AttackOptions) { o.Iterations = 26 },
		func(o *record.AttackOptions) { o.Eps = 24. / 255 },
		func(o *record.AttackOptions) { o.Rule = "auto" },
		func(o *record.AttackOptions) { o.Start = "random" },
		func(o *record.AttackOptions) { o.Restarts = 2 },
	} {
		c := o
		change(&c)
		if w := unreached(c); w != "" {
			t.Errorf("%+v: %q", c, w)
		}
	}
}

func TestInterruptedWorstCase(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("%w by SIGINT", base.ErrInterrupted))
	part := filepath.Join(t.TempDir(), "worst.part")
	stopped := fmt.Errorf("worst case: %w", &worst.Stopped{Gallery: "full", Attack: "square"})
	if err := interrupted(ctx, stopped, part); err.Error() != "interrupted by SIGINT in gallery full, attack square; no attack was completed" || base.ExitCode(err) != base.ExitInterrupted {
		t.Error(err)
	}
	if err := os.WriteFile(part, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := interrupted(ctx, ctx.Err(), part); err.Error() != "interrupted by SIGINT; "+part+" holds the completed attacks, and the same command continues after them" {
		t.Error(err)
	}
}
