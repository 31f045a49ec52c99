package shard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/imaging"
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
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if s.Read(key(9), &got) == nil {
		t.Error("reads what is not there")
	}
}

// Every cut and a change of any byte of header, index or end is refused at once or by
// Check; nothing panics.
func TestDamageIsNoticed(t *testing.T) {
	path, head := write(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(b []byte) error {
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, b, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Open(bad)
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Check()
	}
	for n := 0; n < len(whole); n += 1 + n/7 {
		if err := open(whole[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	for at := int(head.Index) - 70; at < int(head.Index)+head.Images*entry; at += 5 {
		b := bytes.Clone(whole)
		b[at] ^= 0x41
		if err := open(b); !errors.Is(err, ErrFormat) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	huge := bytes.Clone(whole)
	binary.LittleEndian.PutUint64(huge[len(huge)-16:], 1<<62)
	if err := open(huge); !errors.Is(err, ErrFormat) {
		t.Errorf("a header of %d bytes: %v", 1<<62, err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
