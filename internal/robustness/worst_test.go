package robustness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/attack/worst"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// same is a document without times.
func same(d *record.Worst) *record.Worst {
	c := *d
	c.Cost.Seconds, c.Galleries = 0, nil
	for _, g := range d.Galleries {
		g.Members = append([]record.WorstMember(nil), g.Members...)
		for k := range g.Members {
			g.Members[k].Cost.Seconds = 0
		}
		c.Galleries = append(c.Galleries, g)
	}
	return &c
}

// Where no query is right when clean, there is no share of those that are.
func TestWorstScores(t *testing.T) {
	t.Parallel()
	for right, want := range map[int]bool{0: true, 1: false} { // the member that broke the query
		_, ok := worstScores(&worst.State{By: []int{right}, Eight: []bool{false}}, 0).Get(worstRight)
		if ok != want {
			t.Errorf("broken by member %d: there is a share is %v", right, ok)
		}
	}
}

// Work that ends in any member continues to the same document, and only as the same work.
func TestWorstResumes(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	part := filepath.Join(t.TempDir(), "worst.part")
	plan := WorstPlan{Checkpoint: "last", Set: "test", Part: part, Program: "v1", Options: record.WorstOptions{
		Version: worst.Standard, Norm: "linf", Eps: 2. / 255, Galleries: worst.Galleries(), Queries: 6,
	}}
	want, _, err := Worst(context.Background(), r, plan, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if !HoldsWorst(want, plan.Options) || (record.Worst{Options: plan.Options}).Covers(*want) != nil {
		t.Errorf("%+v is not of its own options", want.Options)
	}
	os.Remove(part)
	for _, calls := range []int{1, 2, 3} { // of progress, then the work ends
		ctx, stop := context.WithCancel(context.Background())
		n := 0
		_, _, err := Worst(ctx, r, plan, func(stage string, _, _ int) {
			if stage != "attack" {
				return
			}
			if n++; n > calls {
				stop()
			}
		})
		stop()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped: %v", err)
		}
	}
	if _, err := os.Stat(part); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(p *WorstPlan){
		"eps: ":                    func(p *WorstPlan) { p.Options.Eps = 1. / 255 },
		"version of the program: ": func(p *WorstPlan) { p.Program = "v2" },
		"galleries: ":              func(p *WorstPlan) { p.Options.Galleries = []string{worst.Full} },
		"other options":            func(p *WorstPlan) { p.Options.Sample = true },
	} {
		other := plan
		change(&other)
		if _, _, err := Worst(context.Background(), r, other, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), "another worst case ("+what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	got, _, err := Worst(context.Background(), r, plan, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if !record.SameJSON(same(got), same(want)) {
		t.Errorf("resumed: %+v, want %+v", same(got), same(want))
	}
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut": b[:len(b)/2], "changed": append(append([]byte(nil), b[:len(b)-1]...), b[len(b)-1]^1), "empty": nil} {
		if err := os.WriteFile(part, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Worst(context.Background(), r, plan, tinytest.Quiet); err == nil || !errors.As(err, new(*record.FormatError)) || !strings.Contains(err.Error(), "remove it to begin again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	plan.Replace = true
	if _, _, err := Worst(context.Background(), r, plan, tinytest.Quiet); err != nil {
		t.Error(err)
	}
}

// Without a radius the worst case is the recall that other attacks measure, for the same
// queries.
func TestWorstWithoutRadiusIsRecall(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	d, _, err := Worst(context.Background(), r, WorstPlan{Checkpoint: "last", Set: "test", Options: record.WorstOptions{Version: worst.Standard, Norm: "linf", Galleries: []string{worst.Full}}}, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	o := record.AttackOptions{Attacks: []string{"ES"}, Variants: []string{string(attack.Fixed)}}
	if err := Profile(&o, "rob28", 16); err != nil {
		t.Fatal(err)
	}
	o.Eps = 0
	a, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := a.Doc.Scores["fixed"].Get("ES:R")
	for _, key := range []string{Recall, WorstCase, worstEight} {
		if got, _ := d.Galleries[0].Scores.Get(key); got.Value != want.Value || got.CI95 == nil {
			t.Errorf("%s is %v, recall without an attack %v", key, got, want.Value)
		}
	}
}
