package torchfile

import (
	"bytes"
	"runtime"
	"testing"

	"tercet/internal/safetensors"
)

// Reading allocates at most twice the file, counting what is freed again. The margin is for
// buffers.
func TestMemoryIsBoundedByTheFile(t *testing.T) {
	data := make([]float32, 1<<20)
	var tensors []safetensors.Tensor
	for _, name := range []string{"a", "b", "c"} {
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: []int{1 << 20}, Data: data})
	}
	var b bytes.Buffer
	if err := Write(&b, tensors); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := parse(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(2*b.Len()+1<<20); got > most {
		t.Errorf("a file of %d bytes took %d, at most %d are allowed", b.Len(), got, most)
	}
}
