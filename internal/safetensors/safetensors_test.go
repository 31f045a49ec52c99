package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *File {
	return &File{
		Meta: map[string]string{"step": "12", "b": "x\"y"},
		Tensors: []Tensor{
			{Name: "w", Shape: []int{2, 3}, Data: []float32{1, -2, 3.5, 0, float32(math.Inf(1)), 1e-40}},
			{Name: "empty", Shape: []int{0, 4}, Data: []float32{}},
			{Name: "scalar", Shape: []int{}, Data: []float32{7}},
		},
	}
}

func encode(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Bytes written down by hand from the format's description.
func TestGoldenBytes(t *testing.T) {
	head := `{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	head += strings.Repeat(" ", (8-len(head)%8)%8)
	want := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	want = append(want, head...)
	want = append(want, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0) // 1, -2
	got := encode(t, &File{Meta: map[string]string{"k": "v"}, Tensors: []Tensor{{Name: "a", Shape: []int{2}, Data: []float32{1, -2}}}})
	if !bytes.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	b := encode(t, sample())
	f, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sample(), f); d != "" {
		t.Fatal(d)
	}
	if !bytes.Equal(encode(t, f), b) {
		t.Fatal("writing again gives other bytes")
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	b := encode(t, sample())
	for n := range b {
		if _, err := Parse(b[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("%d of %d bytes: error %v", n, len(b), err)
		}
	}
	if _, err := Parse(append(b, 0)); !errors.Is(err, ErrFormat) {
		t.Fatal("trailing byte accepted")
	}
}

func TestBadHeaders(t *testing.T) {
	for name, head := range map[string]string{
		"not json":    `{"a"`,
		"array":       `[]`,
		"twice":       `{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`,
		"overlap":     `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`,
		"gap":         `{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`,
		"overflow":    `{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`,
		"negative":    `{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`,
		"type":        `{"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}`,
		"behind":      `{} x`,
		"meta type":   `{"__metadata__":{"a":1}}`,
		"wrong count": `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`,
	} {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
		b = append(append(b, head...), 0, 0, 0, 0)
		if _, err := Parse(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	if _, err := Parse(huge); !errors.Is(err, ErrFormat) {
		t.Error("huge header accepted")
	}
}

func TestWriteRefusesNonsense(t *testing.T) {
	for _, f := range []*File{
		{Tensors: []Tensor{{Name: "a", Shape: []int{2}, Data: []float32{1}}}},
		{Tensors: []Tensor{{Name: "", Shape: []int{1}, Data: []float32{1}}}},
		{Tensors: []Tensor{{Name: "a", Shape: []int{1}, Data: []float32{1}}, {Name: "a", Shape: []int{1}, Data: []float32{1}}}},
	} {
		if err := Write(new(bytes.Buffer), f); err == nil {
			t.Errorf("%+v accepted", f)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(encode(f, sample()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(encode(t, got))
		if err != nil || len(again.Tensors) != len(got.Tensors) {
			t.Fatalf("a parsed file does not survive a round trip: %v", err)
		}
	})
}
