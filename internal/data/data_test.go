package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/testutil"
)

func TestMemoryChecksItsArguments(t *testing.T) {
	if _, err := NewMemory(make([]uint8, 11), 3, 2, 1, []int32{0, 0}, []string{"a"}); err == nil {
		t.Error("11 pixels for two images of 6 accepted")
	}
	if _, err := NewMemory(nil, 0, 2, 1, nil, nil); err == nil {
		t.Error("images without rows accepted")
	}
	_, err := NewMemory(make([]uint8, 12), 3, 2, 1, []int32{0, 1}, []string{"a"})
	testutil.WantError(t, err, ErrFormat, "item 1", "label 1", "1 classes")
	m := toy(t, 2, 2, 1, 3)
	if err := m.Read(3, make([]float32, 4)); err == nil {
		t.Error("item 3 of 3 read")
	}
	if err := m.Read(-1, make([]float32, 4)); err == nil {
		t.Error("item -1 read")
	}
	testutil.WantError(t, m.Read(0, make([]float32, 5)), array.ErrShape, "2x2x1", "5")
}

func TestVectors(t *testing.T) {
	x, err := array.Of([]float32{1, -2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVectors(x, []int32{1, 0}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 3)
	if err := v.Read(0, got); err != nil || !slices.Equal(got, []float32{1, -2, 3}) {
		t.Errorf("%v %v", got, err)
	}
	if h, w, c := v.Shape(); h != 1 || w != 1 || c != 3 {
		t.Errorf("shape %d %d %d", h, w, c)
	}
	if _, err := NewVectors(x, []int32{0}, []string{"a"}); err == nil {
		t.Error("one label for two vectors accepted")
	}
}

// The fingerprint against its definition, for any number of threads.
func TestFingerprint(t *testing.T) {
	defer par.SetThreads(0)
	ds := toy(t, 3, 2, 1, 90, 60)
	le := binary.LittleEndian
	all := []byte("tercet.data/1")
	for _, v := range []uint64{150, 3, 2, 1} {
		all = le.AppendUint64(all, v)
	}
	for i := range 150 {
		var item []byte
		for _, p := range ds.pixels[i*6 : i*6+6] {
			item = le.AppendUint32(item, math.Float32bits(float32(p)/255))
		}
		h := sha256.Sum256(item)
		all = append(all, h[:]...)
		all = le.AppendUint32(all, uint32(ds.labels[i]))
	}
	sum := sha256.Sum256(all)
	want := hex.EncodeToString(sum[:])
	for _, threads := range []int{1, 2} {
		par.SetThreads(threads)
		got, err := Digest(t.Context(), ds)
		if err != nil || got != want {
			t.Errorf("%d threads: %s, want %s (%v)", threads, got, want, err)
		}
	}
	if testutil.Fingerprint(t, ds) != want {
		t.Error("Fingerprint is not Digest")
	}
	for what, change := range map[string]func(*Memory){
		"pixel": func(m *Memory) { m.pixels[77] ^= 1 },
		"label": func(m *Memory) { m.labels[7] ^= 1 },
		"shape": func(m *Memory) { m.h, m.w = m.w, m.h },
	} {
		m := toy(t, 3, 2, 1, 90, 60)
		change(m)
		if testutil.Fingerprint(t, m) == want {
			t.Errorf("a changed %s leaves the fingerprint", what)
		}
	}
}

func TestGather(t *testing.T) {
	ds := toy(t, 2, 3, 2, 30, 30)
	ids := []int{7, 0, 59, 7}
	dst := array.New(4, 2, 3, 2)
	if err := Gather(t.Context(), ds, ids, dst); err != nil {
		t.Fatal(err)
	}
	for r, i := range ids {
		for j, v := range dst.Row(r) {
			if v != float32(ds.pixels[i*12+j])/255 {
				t.Fatalf("row %d pixel %d is %v", r, j, v)
			}
		}
	}
	testutil.WantError(t, Gather(t.Context(), ds, ids, array.New(3, 2, 3, 2)), array.ErrShape)
	testutil.WantError(t, Gather(t.Context(), ds, []int{0, 60}, array.New(2, 2, 3, 2)), nil, "item 60 of a dataset of 60")
	testutil.WantError(t, Gather(t.Context(), broken{ds, 5}, []int{0, 5, 5}, array.New(3, 2, 3, 2)), errDisk, "item 5", "x/5.png")
	if err := Gather(t.Context(), ds, nil, array.New(0, 2, 3, 2)); err != nil {
		t.Error(err)
	}
}
