package ranks_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"tercet/internal/ranks"
	"tercet/internal/ranks/rankstest"
)

func TestLocalMovesBytes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 5} {
		for r, err := range rankstest.Local(size, func(c ranks.Comm) error {
			all := make([]float32, 2*c.Size())
			c.Allgather(ranks.Bytes([]float32{float32(c.Rank()), -1}), ranks.Bytes(all))
			out, in := make([]int64, c.Size()), make([]int64, c.Size())
			for i := range out {
				out[i] = int64(10*c.Rank() + i)
			}
			c.Alltoall(ranks.Bytes(out), ranks.Bytes(in))
			for i := range c.Size() {
				if all[2*i] != float32(i) || all[2*i+1] != -1 || in[i] != int64(10*i+c.Rank()) {
					return fmt.Errorf("all %v, in %v", all, in)
				}
			}
			var text []byte
			if c.Rank() == 0 {
				text = []byte("what rank 0 says")
			}
			if got := string(ranks.Share(c, text)); got != "what rank 0 says" {
				return fmt.Errorf("shared %q", got)
			}
			mine := fmt.Sprint("rank ", c.Rank(), slices.Repeat([]string{"."}, c.Rank()))
			if got := ranks.Strings(c, mine); got[c.Rank()] != mine || got[0] != "rank 0 []" {
				return fmt.Errorf("strings %q", got)
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", r, size, err)
			}
		}
	}
}

func TestLostRankIsNamed(t *testing.T) {
	t.Parallel()
	own := errors.New("own")
	errs := rankstest.Local(4, func(c ranks.Comm) error {
		c.Allgather([]byte{1}, make([]byte, 4))
		if c.Rank() == 2 {
			return own
		}
		c.Allgather([]byte{1}, make([]byte, 4))
		return nil
	})
	for r, err := range errs {
		var lost *ranks.LostError
		if r == 2 && !errors.Is(err, own) || r != 2 && (!errors.As(err, &lost) || lost.Rank != 2) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
