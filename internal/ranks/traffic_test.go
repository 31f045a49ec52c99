package ranks_test

import (
	"fmt"
	"testing"

	"tercet/internal/ranks"
	"tercet/internal/ranks/rankstest"
)

func TestMeteredCountsWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 4} {
		for r, err := range rankstest.Local(size, func(c ranks.Comm) error {
			var got ranks.Traffic
			c = ranks.Metered(c, &got)
			c.Allgather(make([]byte, 3), make([]byte, 3*size))
			c.Alltoall(make([]byte, 5*size), make([]byte, 5*size))
			if got.Wait != got.Time {
				return fmt.Errorf("brief calls count as exchange: %+v", got)
			}
			c.Alltoall(make([]byte, ranks.Brief*size), make([]byte, ranks.Brief*size))
			if size > 1 && got.Wait == got.Time {
				return fmt.Errorf("long calls count as waiting: %+v", got)
			}
			got.Calls, got.Sent = got.Calls-1, got.Sent-int64(ranks.Brief*(size-1))
			if got.Calls != 2 || got.Sent != int64(8*(size-1)) || got.Time < 0 {
				return fmt.Errorf("%+v", got)
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", r, size, err)
			}
		}
	}
}
