package theory

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/rng"
)

// partitions calls f with every partition of n nodes, as labels.
func partitions(n int, f func(labels []int)) {
	labels := make([]int, n)
	var place func(i, used int)
	place = func(i, used int) {
		if i == n {
			f(labels)
			return
		}
		for l := range used + 1 {
			labels[i] = l
			place(i+1, max(used, l+1))
		}
	}
	place(0, 0)
}

// leastErrors tries every partition.
func leastErrors(n int, pairs []batch.Pair) int {
	best := len(pairs)
	partitions(n, func(labels []int) {
		errors := 0
		for _, p := range pairs {
			if (labels[p.I] == labels[p.J]) != p.Similar {
				errors++
			}
		}
		best = min(best, errors)
	})
	return best
}

// bothWays counts the rarer label of each node pair.
func bothWays(n int, pairs []batch.Pair) int {
	errors := 0
	for i := range int32(n) {
		for j := range i {
			similar, different := 0, 0
			for _, p := range pairs {
				if p == (batch.Pair{I: i, J: j, Similar: true}) || p == (batch.Pair{I: j, J: i, Similar: true}) {
					similar++
				}
				if p == (batch.Pair{I: i, J: j}) || p == (batch.Pair{I: j, J: i}) {
					different++
				}
			}
			errors += min(similar, different)
		}
	}
	return errors
}

func TestFloorAgreesWithAllPartitions(t *testing.T) {
	duplicates, optima := 0, 0
	for seed := range uint64(60) {
		s := rng.New(seed, "theory/floor")
		n := 4 + s.IntN(5)
		pairs := make([]batch.Pair, 6+s.IntN(20))
		for k := range pairs {
			i := s.IntN(n)
			j := (i + 1 + s.IntN(n-1)) % n
			pairs[k] = batch.Pair{I: int32(i), J: int32(j), Similar: s.IntN(2) == 0}
		}
		want, both := leastErrors(n, pairs), bothWays(n, pairs)
		// Items need not be numbered without gaps.
		spread := make([]batch.Pair, len(pairs))
		for k, p := range pairs {
			spread[k] = batch.Pair{I: 1000 - 7*p.I, J: 1000 - 7*p.J, Similar: p.Similar}
		}
		f, err := Floor(context.Background(), spread, FloorLimits{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Errors != want || f.Lower != want || !f.Proven || f.Duplicates != both {
			t.Errorf("seed %d: %+v, all partitions give %d, duplicates %d", seed, f, want, both)
		}
		duplicates += both
		optima += want
	}
	if duplicates == 0 || optima <= duplicates {
		t.Errorf("the graphs show nothing: %d duplicates, %d errors", duplicates, optima)
	}
}

// Optima proven by an independent integer program.
func TestFloorOfTheFixtures(t *testing.T) {
	for _, name := range []string{"dibs_3x6_P20.json", "dibs_5x10_P10.json", "dibs_10x20_P10.json"} {
		raw, err := os.ReadFile(filepath.Join("../cluster/multicut/exact/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Pairs      [][3]int32 `json:"pairs"`
			Duplicates int        `json:"contradictory_duplicates"`
			MinErrors  int        `json:"min_errors"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		pairs := make([]batch.Pair, len(doc.Pairs))
		for k, p := range doc.Pairs {
			pairs[k] = batch.Pair{I: p[0], J: p[1], Similar: p[2] == 1}
		}
		f, err := Floor(context.Background(), pairs, FloorLimits{})
		if err != nil || f.Errors != doc.MinErrors || f.Lower != doc.MinErrors || !f.Proven || f.Duplicates != doc.Duplicates {
			t.Errorf("%s: %+v, %v; want %d errors, %d duplicates", name, f, err, doc.MinErrors, doc.Duplicates)
		}
	}
}

func TestFloorRefuses(t *testing.T) {
	self := []batch.Pair{{I: 0, J: 1}, {I: 4, J: 4, Similar: true}}
	for want, pairs := range map[string][]batch.Pair{"there are no pairs": nil, "pair 1 is item 4 with itself": self} {
		if _, err := Floor(context.Background(), pairs, FloorLimits{}); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Floor(context.Background(), self[:1], FloorLimits{Work: -1}); err == nil {
		t.Error("a negative limit")
	}
}
