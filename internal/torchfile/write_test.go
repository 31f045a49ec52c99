package torchfile

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/safetensors"
)

// testdata/scripts/check_export.py has PyTorch read what Write writes; here the reader
// of this package does.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	want, err := parse(file(t, "zip"))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range want.Tensors {
		want.Tensors[i].Integers = x.Name == "bn.num_batches_tracked"
	}
	var b, again bytes.Buffer
	if Write(&b, want.Tensors) != nil || Write(&again, want.Tensors) != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Fatal("not written, or not twice the same")
	}
	got, err := parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Tensors {
		want.Tensors[i].Integers = false
	}
	if d := cmp.Diff(want.Tensors, got.Tensors); d != "" {
		t.Error(d)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if at, err := f.DataOffset(); err != nil || at%64 != 0 || f.Method != zip.Store {
			t.Errorf("%s begins at byte %d, method %d: %v", f.Name, at, f.Method, err)
		}
	}
	if err := Write(&b, []safetensors.Tensor{{Name: "empty", Shape: []int{0, 3}}}); err != nil {
		t.Error(err)
	}
}
