package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/config"
)

func load(t *testing.T, search string) *config.Config {
	t.Helper()
	cfg, err := config.LoadBytes([]byte("name: x\ndata: {split: {validation: 0.2}}\ntrain: {epochs: 27}\nsearch:\n"+search), "x.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

const space = "  space:\n    optimizer.lr: [log-uniform, 1e-4, 1e-1]\n    loss.margin: [uniform, 0.1, 0.5]\n    batch.pairs: [integer, 4, 6]\n    miner.name: [choice, semihard, softhard]\n"

// Draws are within their ranges, spread as their laws say, and begin with the same ones
// where there are more of them.
func TestTrials(t *testing.T) {
	t.Parallel()
	all, err := Trials(load(t, "  trials: 2000\n"+space))
	if err != nil {
		t.Fatal(err)
	}
	few, err := Trials(load(t, "  trials: 5\n"+space))
	if err != nil {
		t.Fatal(err)
	}
	other, err := Trials(load(t, "  trials: 5\n  seed: 1\n"+space))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(few, all[:5], func(a, b Trial) bool { return slices.Equal(a.Sets, b.Sets) }) || slices.Equal(few[0].Sets, other[0].Sets) {
		t.Errorf("%v, %v, seed 1 %v", few, all[:5], other)
	}
	counts, low := map[string]int{}, 0
	for _, x := range all {
		value := map[string]string{}
		for _, set := range x.Sets {
			key, v, _ := strings.Cut(set, "=")
			value[key] = v
		}
		lr, _ := strconv.ParseFloat(value["optimizer.lr"], 64)
		margin, _ := strconv.ParseFloat(value["loss.margin"], 64)
		if lr < 1e-4 || lr > 1e-1 || margin < 0.1 || margin > 0.5 {
			t.Fatal(x)
		}
		if lr < 1e-3 {
			low++
		}
		counts[value["batch.pairs"]]++
		counts[value["miner.name"]]++
	}
	near := func(n, want int) bool { return math.Abs(float64(n-want)) < 5*math.Sqrt(float64(want)) }
	if len(counts) != 5 || !near(counts["4"], 667) || !near(counts["6"], 667) || !near(counts["softhard"], 1000) || !near(low, 667) {
		t.Errorf("%v, %d below 1e-3", counts, low)
	}
}

// 27 trials with eta 3 are 27, 9, 3 and 1, for 1, 3, 9 and 27 epochs.
func TestRungs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ search, want string }{
		{"  trials: 27\n", "[{27 train.epochs 27}]"},
		{"  trials: 27\n  method: halving\n", "[{27 train.epochs 1} {9 train.epochs 3} {3 train.epochs 9} {1 train.epochs 27}]"},
		{"  trials: 10\n  method: halving\n  eta: 2\n", "[{10 train.epochs 3} {5 train.epochs 6} {2 train.epochs 13} {1 train.epochs 27}]"},
		{"  trials: 1\n  method: halving\n", "[{1 train.epochs 27}]"},
	} {
		if got := fmt.Sprint(Rungs(load(t, c.search+space))); got != c.want {
			t.Errorf("%s%s, want %s", c.search, got, c.want)
		}
	}
}

// The best come first, equal ones as they were drawn, those without a score not at all.
func TestBest(t *testing.T) {
	t.Parallel()
	all := []Scored{{Trial{Number: 0}, 0.5, false}, {Trial{Number: 1}, 0.9, true}, {Trial{Number: 2}, 0.7, false}, {Trial{Number: 3}, 0.7, false}}
	var got []int
	for _, s := range Best(all, 9) {
		got = append(got, s.Trial.Number)
	}
	if !slices.Equal(got, []int{2, 3, 0}) || len(Best(all, 1)) != 1 {
		t.Error(got)
	}
}
