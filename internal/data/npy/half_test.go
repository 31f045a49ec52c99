package npy

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/safetensors"
)

// Every half is itself, and of other numbers none is nearer than the one that is taken.
func TestHalfIsTheNearest(t *testing.T) {
	t.Parallel()
	_, value := safetensors.Number("F16")
	of := func(h uint16) float64 { return float64(value([]byte{byte(h), byte(h >> 8)})) }
	for h := range 1 << 16 {
		v := of(uint16(h))
		if got := Half(float32(v)); got != uint16(h) && !math.IsNaN(v) {
			t.Fatalf("%#x is %v, whose half is %#x", h, v, got)
		}
	}
	r := rand.New(rand.NewPCG(16, 16))
	for range 200_000 {
		v := float32(r.NormFloat64() * math.Exp2(float64(r.IntN(42)-26)))
		if math.Abs(float64(v)) >= 65504 {
			continue
		}
		h := Half(v)
		d := math.Abs(of(h) - float64(v))
		for _, o := range []uint16{h - 1, h + 1} {
			if e := math.Abs(of(o) - float64(v)); e < d || e == d && h&1 == 1 {
				t.Fatalf("%v becomes %v, and %v is as near", v, of(h), of(o))
			}
		}
	}
	for v, want := range map[float32]uint16{65519: 0x7bff, 65520: 0x7c00, -1e9: 0xfc00, float32(math.Inf(1)): 0x7c00, float32(math.NaN()): 0x7e00} {
		if got := Half(v); got != want {
			t.Errorf("%v: %#x, want %#x", v, got, want)
		}
	}
}

// numpy.save of np.array([[1, -2.5], [65504, 2**-24]], '<f2') and of its '>f2'.
func TestReadHalfNPY(t *testing.T) {
	t.Parallel()
	for descr, body := range map[string]string{"<f2": "\x00\x3c\x00\xc1\xff\x7b\x01\x00", ">f2": "\x3c\x00\xc1\x00\x7b\xff\x00\x01"} {
		var b bytes.Buffer
		if err := WriteHeader(&b, descr, 2, 2); err != nil {
			t.Fatal(err)
		}
		b.WriteString(body)
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float32{1, -2.5, 65504, 0x1p-24} {
			if x.Data[i] != want {
				t.Errorf("%s: %v, want %v", descr, x.Data, want)
			}
		}
	}
}
