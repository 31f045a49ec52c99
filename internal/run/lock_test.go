package run

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// A lock names its holder while it is held, and the last one where that was killed.
func TestLocked(t *testing.T) {
	t.Parallel()
	r := &Run{Dir: t.TempDir()}
	check := func(when string, held, named bool) {
		t.Helper()
		h, by, err := Locked(r.Dir)
		if h != held || (by != "") != named || err != nil {
			t.Errorf("%s: held %v by %q, error %v", when, h, by, err)
		}
	}
	check("before the first", false, false)
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	check("held", true, true)
	if _, by, _ := Locked(r.Dir); !strings.HasPrefix(by, "process ") {
		t.Errorf("held by %q", by)
	}
	r.Close()
	check("given up", false, false)
	testutil.Write(t, r.Path("lock"), "process 1 on b, Slurm job 17, task 3") // what a killed one leaves
	check("killed", false, true)
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	os.Remove(r.Path("lock"))
	r.Close() // writes into the file that it holds, and makes none
	if _, err := os.Stat(r.Path("lock")); !os.IsNotExist(err) {
		t.Errorf("a lock that was removed: %v", err)
	}
}
