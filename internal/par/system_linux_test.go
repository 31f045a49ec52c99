package par

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A goroutine that is kept on a processor leaves all others of the program where they were.
func TestKeepOn(t *testing.T) {
	allowed := func() (set unix.CPUSet) {
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			t.Error(err)
		}
		return set
	}
	before := allowed()
	last := -1
	for p := range 1 << 10 {
		if before.IsSet(p) {
			last = p
		}
	}
	done := make(chan struct{})
	go func() { // its thread ends with it
		defer close(done)
		keepOn([]int{last})
		if own := allowed(); own.Count() != 1 || !own.IsSet(last) {
			t.Errorf("%d processors, want number %d alone", own.Count(), last)
		}
	}()
	<-done
	if after := allowed(); after != before {
		t.Errorf("another goroutine has %d processors, before %d", after.Count(), before.Count())
	}
}

// Without a processor that exists, a goroutine stays as it is.
func TestKeepOnNothing(t *testing.T) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	keepOn(nil)
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("%d processors, before %d (%v)", after.Count(), before.Count(), err)
	}
}
