package pages

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// The memory of a large array carries the mark, from its first byte to its last; that of one
// below 1 MiB need not.
func TestLargeArraysAreMarked(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this kernel has no transparent huge pages")
	}
	for _, n := range []int{least / 4, 3<<20 + 1, 40 << 20} {
		x := Make[float32](n)
		for _, i := range []int{0, n / 2, n - 1} {
			if x[i] != 0 {
				t.Fatalf("x[%d] is %v", i, x[i])
			}
			if flags := flagsAt(t, uintptr(unsafe.Pointer(&x[i]))); !slices.Contains(flags, "hg") {
				t.Errorf("number %d of %d: flags %v, want hg", i, n, flags)
			}
		}
	}
}

// Any length, any type, and zeros.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, least - 1, least, least + 1} {
		if x := Make[uint16](n); len(x) != n || slices.Max(append(x, 0)) != 0 {
			t.Errorf("%d numbers of 16 bits: %d", n, len(x))
		}
		if x := Make[float64](n); len(x) != n || slices.Max(append(x, 0)) != 0 {
			t.Errorf("%d numbers: %d", n, len(x))
		}
	}
}

// flagsAt are the flags of the mapping that holds an address.
func flagsAt(t *testing.T, address uintptr) []string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, end uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &from, &end); n == 2 {
			inside = from <= address && address < end
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && inside {
			return strings.Fields(flags)
		}
	}
	t.Fatalf("no mapping holds %x", address)
	return nil
}
