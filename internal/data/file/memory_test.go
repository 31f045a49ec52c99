package file

import (
	"testing"

	"tercet/internal/data/fault"
	"tercet/internal/testutil"
)

// TestLimitMemory: a set that the machine cannot hold is an error, not the end of the
// program.
func TestLimitMemory(t *testing.T) {
	before := most.Load()
	defer most.Store(before)
	LimitMemory(1 << 20)
	LimitMemory(1 << 30) // a larger limit changes nothing
	if MaxBytes() != 1<<20 {
		t.Errorf("the limit is %d", MaxBytes())
	}
	testutil.WantError(t, CheckTotal(1024, 2048), fault.ErrUnfit, "need 0.0 GiB of memory")
	if err := CheckTotal(1024, 1024); err != nil {
		t.Error(err)
	}
}
