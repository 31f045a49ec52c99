package shard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/imaging"
	"tercet/internal/record"
	"tercet/internal/rng"
)

func images() []imaging.Image {
	r := rng.New(1, "shard")
	var out []imaging.Image
	for _, size := range [][2]int{{3, 5}, {1, 1}, {40, 2}, {7, 64}} {
		img := imaging.New(size[0], size[1])
		for i := range img.Pix {
			img.Pix[i] = uint8(r.Uint32())
		}
		out = append(out, img)
	}
	whole := imaging.New(9, 9)
	copy(whole.Pix, bytes.Repeat([]byte{1, 2, 3, 4, 5}, 40))
	return append(out, whole.Crop(2, 3, 4, 5)) // rows with gaps
}

func key(i int) Key { return Key{byte(i), 7} }

func write(t *testing.T) (path string, head Header) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.tshard")
	w, err := Create(path, Params{Fit: "short", Size: 256, Interpolation: "bilinear"})
	if err != nil {
		t.Fatal(err)
	}
	for i, img := range images() {
		if err := w.Add(key(i), img); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("the file is there before it is whole")
	}
	if head, err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, head
}

func TestRoundTrip(t *testing.T) {
	path, head := write(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Header != head || s.Images != 5 || s.Params.String() != "short 256" || len(s.SHA256) != 64 || s.Has(key(9)) {
		t.Errorf("%+v", s.Header)
	}
	var got imaging.Image
	for i, want := range images() {
		if err := s.Read(key(i), &got); err != nil || !s.Has(key(i)) {
			t.Fatal(err)
		}
		for y := range want.H {
			if got.H != want.H || got.W != want.W || !bytes.Equal(got.Row(y), want.Row(y)) {
				t.Fatalf("image %d, row %d: other bytes", i, y)
			}
		}
	}
	if s.Read(key(9), &got) == nil {
		t.Error("reads what is not there")
	}
}

// readAll opens a file with these bytes and reads all of its images.
func readAll(t *testing.T, b []byte) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	var img imaging.Image
	for i := range images() {
		if err := s.Read(key(i), &img); err != nil {
			return err
		}
	}
	return nil
}

// Every cut and a change of any byte of images, index, header or end is refused, of an
// image where it is read; nothing panics.
func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	path, head := write(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, whole); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + n/7 {
		if err := readAll(t, whole[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	var places []int // first lines, images, and all from the index on
	for at := range len(record.ShardFormat) + 1 {
		places = append(places, at)
	}
	at := 4096
	for _, img := range images() {
		for i := range 3 * img.H * img.W {
			places = append(places, at+i)
		}
		at = (at + 3*img.H*img.W + 63) / 64 * 64
	}
	for at := int(head.Index); at < len(whole); at++ {
		places = append(places, at)
	}
	for n, at := range places {
		if at < int(head.Index) && n%11 != 0 {
			continue
		}
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := readAll(t, b); !errors.Is(err, ErrFormat) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A file of the first version of the format, without checksums, is read.
func TestFirstFormat(t *testing.T) {
	t.Parallel()
	img := images()[0]
	b := make([]byte, 4096)
	copy(b, "tercet.shard/1\n")
	b = append(b, img.Pix[:45]...)
	index := len(b)
	k := key(0)
	b = append(b, k[:]...)
	b = binary.LittleEndian.AppendUint64(b, 4096)
	b = binary.LittleEndian.AppendUint32(b, 3)
	b = binary.LittleEndian.AppendUint32(b, 5)
	head := fmt.Sprintf(`{"schema":"tercet.shard/1","images":1,"index_offset":%d}`, index)
	b = append(b, head...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(head)))
	b = append(b, "tshard1\n"...)
	path := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got imaging.Image
	if err := s.Read(k, &got); err != nil || !bytes.Equal(got.Pix, img.Pix[:45]) {
		t.Errorf("%v, %v", got, err)
	}
}
