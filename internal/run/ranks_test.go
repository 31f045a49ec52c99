package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"tercet/internal/ranks"
	"tercet/internal/ranks/rankstest"
	"tercet/internal/record"
	"tercet/internal/testutil"
	"tercet/internal/train"
)

// inRanks trains r with so many ranks and returns the error of each. Rank who of them is
// stopped after so many steps; who -1: none.
func inRanks(t *testing.T, r *Run, size, who, after int) []error {
	t.Helper()
	return rankstest.Local(size, func(c ranks.Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		team := ranks.NewTeam(&counting{Comm: c, stop: func(calls int) {
			if who == c.Rank() && calls > after {
				cancel()
			}
		}}, fmt.Sprintf("process %d", c.Rank()))
		if c.Rank() > 0 {
			if code := Follow(ctx, team); code != 7 {
				t.Errorf("rank %d ends with %d", c.Rank(), code)
			}
			return nil
		}
		r.Team = team
		_, err := r.Train(ctx, Watch{})
		Dismiss(team, 7)
		return err
	})
}

// counting calls stop with the number of exchanges so far.
type counting struct {
	ranks.Comm
	calls int
	stop  func(calls int)
}

func (c *counting) Alltoall(out, in []byte) {
	c.Comm.Alltoall(out, in)
	c.calls++
	c.stop(c.calls)
}

// rankSets are runs that ranks train in unlike ways: the second crafts images, stops
// early, draws triplets at random and has batch norm.
var rankSets = [][]string{
	{"train.shards=4", "batch={sampler: class-pairs, pairs: 4}"},
	{"train.shards=4", "batch={sampler: class-pairs, pairs: 4}", "model={name: cnn, width: 4}", "miner=random", "data.split.validation=0.5",
		"defense={name: hm, pgd: {steps: 2}}", "train.early_stop={metric: clustering.nmi, patience: 1}", "train.epochs=4"},
}

func TestRanksTrainAsOneProcess(t *testing.T) {
	t.Parallel()
	for i, sets := range rankSets {
		want := trained(t, t.TempDir(), sets...)
		for _, size := range []int{2, 4} {
			r := create(t, t.TempDir(), sets...)
			for rank, err := range inRanks(t, r, size, -1, 0) {
				if err != nil {
					t.Fatalf("run %d, rank %d of %d: %v", i, rank, size, err)
				}
			}
			sameRun(t, want, r)
		}
	}
}

// TestRanksStopTogether: a signal to any rank stops all at one step, with a checkpoint
// from which another number of ranks continues.
func TestRanksStopTogether(t *testing.T) {
	t.Parallel()
	sets := append([]string{"train.epochs=3"}, rankSets[0]...)
	want := trained(t, t.TempDir(), sets...)
	for who := range 2 {
		r := create(t, t.TempDir(), sets...)
		errs := inRanks(t, r, 2, who, 8)
		m := r.Manifest
		if !errors.Is(errs[0], train.ErrInterrupted) || errs[1] != nil || m.Status != record.Interrupted || m.Steps == 0 || m.Steps == m.Of || m.Checkpoint != m.Steps {
			t.Fatalf("rank %d is stopped: %v; the manifest is %+v", who, errs, m)
		}
		again, err := Open(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range inRanks(t, again, 4, -1, 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		sameRun(t, want, again)
	}
}

// sameRun compares the bytes of checkpoints, and the logs without times.
func sameRun(t *testing.T, want, got *Run) {
	t.Helper()
	for _, path := range []string{"checkpoints/last.safetensors", "checkpoints/best.safetensors"} {
		if testutil.Read(t, want.Path(path)) != testutil.Read(t, got.Path(path)) {
			t.Errorf("%s has other bytes than that of one process", got.Path(path))
		}
	}
	if a, b := undated(t, testutil.Read(t, want.Path("events.jsonl"))), undated(t, testutil.Read(t, got.Path("events.jsonl"))); a != b {
		t.Errorf("%s differs from that of one process:\n%s\n%s", got.Path("events.jsonl"), a, b)
	}
}

// TestFailedRanksAreNamed: what one rank cannot do ends all, and rank 0 says which rank.
func TestFailedRanksAreNamed(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), rankSets[0]...)
	errs := rankstest.Local(2, func(c ranks.Comm) error {
		team := ranks.NewTeam(c, fmt.Sprintf("process %d", c.Rank()))
		if c.Rank() == 0 {
			r.Team = team
			_, err := r.Train(context.Background(), Watch{})
			Dismiss(team, 1)
			return err
		}
		ranks.Share(team, nil) // the order
		ranks.Share(team, nil) // the checkpoint
		(&session{Team: team}).end(errors.New("the disk is gone"))
		return dismissed(team)
	})
	var failed *ranks.FailedError
	if !errors.As(errs[0], &failed) || failed.Error() != "rank 1 (process 1): the disk is gone" {
		t.Errorf("rank 0 ends with %v", errs[0])
	}
}

// dismissed follows until the end, whose code is 1.
func dismissed(team *ranks.Team) error {
	if code := Follow(context.Background(), team); code != 1 {
		return fmt.Errorf("code %d", code)
	}
	return nil
}

// TestRankZeroThatCannotWriteEndsAll: the others hear of it at the next step.
func TestRankZeroThatCannotWriteEndsAll(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), rankSets[0]...)
	errs := rankstest.Local(2, func(c ranks.Comm) error {
		team := ranks.NewTeam(c, fmt.Sprintf("process %d", c.Rank()))
		if c.Rank() > 0 {
			return dismissed(team)
		}
		r.Team = team
		_, err := r.Train(context.Background(), Watch{Step: func(s *train.State, _ int, _ float64) {
			if s.Step == 2 { // a checkpoint finds no folder
				os.RemoveAll(r.Path("checkpoints"))
			}
		}})
		Dismiss(team, 1)
		return err
	})
	if errs[0] == nil || errs[1] != nil || !strings.Contains(errs[0].Error(), "checkpoints") {
		t.Errorf("errors %v", errs)
	}
}
