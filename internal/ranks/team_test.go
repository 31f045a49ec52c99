package ranks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tercet/internal/ranks"
	"tercet/internal/ranks/rankstest"
)

func TestMeetingsAgree(t *testing.T) {
	t.Parallel()
	gone := errors.New("the disk is gone")
	for _, c := range []struct {
		says [3]error
		want [3]string
	}{
		{[3]error{}, [3]string{"<nil>", "<nil>", "<nil>"}},
		{[3]error{nil, context.Canceled, nil}, [3]string{"context canceled", "context canceled", "context canceled"}},
		{[3]error{nil, context.Canceled, gone}, [3]string{"rank 2 (process 2): the disk is gone", "rank 2 (process 2): the disk is gone", "the disk is gone"}},
		{[3]error{gone, nil, gone}, [3]string{"the disk is gone", "rank 0 (process 0): the disk is gone", "the disk is gone"}},
	} {
		for r, err := range rankstest.Local(3, func(comm ranks.Comm) error {
			return ranks.NewTeam(comm, fmt.Sprintf("process %d", comm.Rank())).Meet(c.says[comm.Rank()])
		}) {
			if got := fmt.Sprint(err); got != c.want[r] {
				t.Errorf("ranks say %v: rank %d hears %s, want %s", c.says, r, got, c.want[r])
			}
		}
	}
}

func TestMixedRanksAreNamed(t *testing.T) {
	t.Parallel()
	for r, err := range rankstest.Local(3, func(comm ranks.Comm) error {
		level := "avx512"
		if comm.Rank() == 2 {
			level = "avx2"
		}
		return ranks.NewTeam(comm, fmt.Sprintf("process %d", comm.Rank())).Same(ranks.Fact{Name: "version", Value: "1"}, ranks.Fact{Name: "kernel level", Value: level})
	}) {
		const want = "the ranks do not have the same kernel level: rank 0 (process 0) has avx512, rank 2 (process 2) has avx2"
		if got := fmt.Sprint(err); got != want {
			t.Errorf("rank %d hears %s, want %s", r, got, want)
		}
	}
}
