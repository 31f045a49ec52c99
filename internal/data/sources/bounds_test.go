package sources

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"tercet/internal/data"
	"tercet/internal/data/file"
	"tercet/internal/testutil"
	"testing"
)

// sparse makes a file of the header and n bytes of nothing.
func sparse(t *testing.T, name string, head []byte, n int64) string {
	t.Helper()
	path := testutil.File(t, name, head)
	if err := os.Truncate(path, int64(len(head))+n); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	return path
}

// TestHeadersAreComparedFirst gives large files whose numbers of items do not
// agree: reading their data would take the memory of the machine.
func TestHeadersAreComparedFirst(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a 32-bit machine refuses files of this size by themselves")
	}
	head := idx(8, nil, 1<<30, 4, 4) // 16 GiB
	images := sparse(t, "images", head, 1<<34)
	labels := testutil.File(t, "labels", idx(8, make([]byte, 80), 80))
	_, err := readIDXPart(images, labels)
	testutil.WantError(t, err, data.ErrFormat, "images has 1073741824 images", "labels has 80 labels")
}

// A header that announces more than a machine can hold is refused.
func TestIDXHasABound(t *testing.T) {
	_, err := newIDXReader(bytes.NewReader(idx(8, nil, 1<<31, 1<<14, 1<<14)), math.MaxInt64, "images", 3)
	testutil.WantError(t, err, data.ErrFormat, fmt.Sprintf("at most %d are read", file.MaxBytes()))
}
