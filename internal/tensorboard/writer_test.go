package tensorboard

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"math"
	"strings"
	"testing"
)

// unhex reads bytes as the tests of TensorFlow and TensorBoard print them.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The checksums are those of tests of TensorFlow (crc32c_test.cc) and of TensorBoard's reader.
func TestMaskedChecksums(t *testing.T) {
	if c := crc32.Checksum(make([]byte, 32), castagnoli); c != 0x8a9136aa {
		t.Errorf("%08x", c)
	}
	if c := masked([]byte("\x1a\x11CRC test, one two")); c != 0x5794d08a {
		t.Errorf("%08x", c)
	}
}

// The first record of a file, as TensorBoard's writer makes it.
func TestFirstRecord(t *testing.T) {
	var b bytes.Buffer
	if w := NewWriter(&b, math.Float64frombits(0x41d7d69938800000)); w.Err() != nil {
		t.Fatal(w.Err())
	}
	want := unhex(t, "18 00 00 00 00 00 00 00 a3 7f 4b 22 09 00 00 80 38 99 d6 d7 41 1a 0d 62 72 61 69 6e 2e 45 76 65 6e 74 3a 32 12 4b 36 ab")
	if got := b.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("%x", got)
	}
}

// A scalar as TensorBoard's writer makes it: accuracy 0.99 at step 77.
func TestScalarGolden(t *testing.T) {
	var b bytes.Buffer
	w := &Writer{w: &b}
	w.Scalar(math.Float64frombits(0x41d7d6993db705c4), 77, "accuracy", 0.99)
	want := unhex(t, "09 c4 05 b7 3d 99 d6 d7 41 10 4d 2a 25 0a 23 0a 08 61 63 63 75 72 61 63 79 42 0a 08 01 12 00 22 04 a4 70 7d 3f 4a 0b 0a 09 0a 07 73 63 61 6c 61 72 73")
	if got := b.Bytes(); len(got) < 16 || !bytes.Equal(got[12:len(got)-4], want) {
		t.Errorf("%x", got)
	}
}

func TestFullDisk(t *testing.T) {
	w := NewWriter(full{}, 0)
	w.Scalar(0, 0, "x", 1)
	if w.Err() == nil {
		t.Error("no error")
	}
	ok := NewWriter(&bytes.Buffer{}, 0)
	ok.Histogram(0, 0, "h", Histogram{Limits: []float64{1}})
	if ok.Err() == nil || !strings.Contains(ok.Err().Error(), "1 limits and 0 counts") {
		t.Error(ok.Err())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }
