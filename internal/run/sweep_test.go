package run

import (
	"context"
	"errors"
	"slices"
	"testing"

	"tercet/internal/config"
	"tercet/internal/run/tinytest"
	"tercet/internal/scheduler"
	"tercet/internal/train"
)

func runNames(list []*config.Config) (out []string) {
	for _, c := range list {
		out = append(out, c.Name)
	}
	return out
}

func TestTheSharesOfASweepAreItsParts(t *testing.T) {
	all, err := Variants(tinytest.Config(t, "sweep={seed: [0, 1, 2], loss.margin: [0.1, 0.2]}"))
	if err != nil || len(all) != 6 {
		t.Fatalf("%d variants, error %v", len(all), err)
	}
	for n := 1; n <= 8; n++ {
		var got []string
		for i := 1; i <= n; i++ {
			got = append(got, runNames(Share(all, scheduler.Task{Index: i, Of: n}))...)
		}
		slices.Sort(got)
		want := runNames(all)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(slices.Compact(got)) != 6 {
			t.Errorf("%d shares: %v", n, got)
		}
	}
	if one, err := Variants(tinytest.Config(t)); err != nil || len(one) != 1 || one[0].Name != "tiny" {
		t.Errorf("a config without a sweep: %v, %v", runNames(one), err)
	}
}

func TestASweepGoesOnAfterARunThatIsLost(t *testing.T) {
	root := t.TempDir()
	all, err := Variants(tinytest.Config(t, "sweep={optimizer.lr: [1e30, 1e-3]}", "train.epochs=1"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 { // the second finds both ended
		var ends []string
		err = Sweep(context.Background(), root, all, SweepOptions{}, func(e Ended) error {
			var finite *train.NonFiniteError
			var lost *LostError
			switch {
			case errors.As(e.Err, &finite):
				ends = append(ends, "diverged")
			case errors.As(e.Err, &lost):
				ends = append(ends, "lost")
			case e.Err != nil:
				return e.Err
			case e.Done:
				ends = append(ends, "done")
			default:
				ends = append(ends, "trained")
			}
			return nil
		})
		want := []string{"diverged", "trained"}
		if round == 1 {
			want = []string{"lost", "done"}
		}
		if err != nil || !slices.Equal(ends, want) {
			t.Errorf("round %d: %v, error %v", round, ends, err)
		}
	}
}
