package sources

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/testutil"
)

// cifarRow makes a CIFAR-10 record whose pixels are functions of plane and place.
func cifarRow(label byte, seed int) []byte {
	b := []byte{label}
	for plane := range 3 {
		for p := range 1024 {
			b = append(b, byte(seed+31*plane+p))
		}
	}
	return b
}

const tenRecord = 1 + cifarPixels

func openTen(root string) (train, test data.Dataset, err error) {
	return CIFAR10Options{Root: root}.Open(context.Background(), data.Options{Name: "cifar10"})
}

func cifarDir(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a[b]*") // a name that is a pattern, too
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCIFAR(t *testing.T) {
	dir := cifarDir(t, map[string][]byte{
		"data_batch_2.bin": cifarRow(9, 7),
		"data_batch_1.bin": append(cifarRow(3, 1), cifarRow(0, 2)...),
		"test_batch.bin":   cifarRow(5, 4),
	})
	train, test, err := openTen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Labels(), []int32{3, 0, 9}) || !slices.Equal(test.Labels(), []int32{5}) {
		t.Errorf("labels %v and %v", train.Labels(), test.Labels())
	}
	px := make([]float32, 3072)
	for i, seed := range []int{1, 2, 7} {
		if err := train.Read(i, px); err != nil {
			t.Fatal(err)
		}
		for y := range 32 {
			for x := range 32 {
				for c := range 3 {
					if got, want := px[(y*32+x)*3+c], float32(byte(seed+31*c+32*y+x))/255; got != want {
						t.Fatalf("item %d at %d,%d,%d: %v, want %v", i, y, x, c, got, want)
					}
				}
			}
		}
	}
	if train.Classes()[3] != "cat" {
		t.Errorf("class 3 is %s", train.Classes()[3])
	}
	names := []byte("n0\nn1\nn2\nn3\nn4\nn5\nn6\nn7\nn8\nn9\n\n")
	if err := os.WriteFile(filepath.Join(dir, "batches.meta.txt"), names, 0o644); err != nil {
		t.Fatal(err)
	}
	if train, _, err = openTen(dir); err != nil || train.Classes()[3] != "n3" {
		t.Errorf("batches.meta.txt: %v", err)
	}
}

func TestCIFARErrors(t *testing.T) {
	two := append(cifarRow(3, 1), cifarRow(0, 2)...)
	label := bytes.Clone(two)
	label[3073] = 10
	for name, c := range map[string]struct {
		files map[string][]byte
		kind  error
		say   []string
	}{
		"nothing":        {nil, data.ErrMissing, []string{"no data_batch_*.bin", "data.root"}},
		"no test":        {map[string][]byte{"data_batch_1.bin": two}, data.ErrMissing, []string{"test_batch.bin", "no such file"}},
		"truncated":      {map[string][]byte{"data_batch_1.bin": two[:5000]}, data.ErrFormat, []string{"data_batch_1.bin", "record 1 at offset 3073", "1927 of 3073"}},
		"empty":          {map[string][]byte{"data_batch_1.bin": {}}, data.ErrFormat, []string{"empty"}},
		"label":          {map[string][]byte{"data_batch_1.bin": label}, data.ErrFormat, []string{"record 1 at offset 3073", "label 10", "10 classes"}},
		"too few names":  {map[string][]byte{"data_batch_1.bin": two, "batches.meta.txt": []byte("a\nb\n")}, data.ErrFormat, []string{"batches.meta.txt", "2 class names"}},
		"name twice":     {map[string][]byte{"data_batch_1.bin": two, "batches.meta.txt": []byte("a\na\n")}, data.ErrFormat, []string{`"a" is listed twice`}},
		"names too long": {map[string][]byte{"data_batch_1.bin": two, "batches.meta.txt": make([]byte, 1<<17)}, data.ErrFormat, []string{"131072 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := openTen(cifarDir(t, c.files))
			testutil.WantError(t, err, c.kind, c.say...)
		})
	}
	_, _, err := openTen(filepath.Join(t.TempDir(), "gone"))
	testutil.WantError(t, err, data.ErrMissing, "gone", "data.root")
	_, _, err = cifar10.read(bytes.NewReader(two[:4000]), int64(len(two)), "x", 10, nil, nil) // shrinks while read
	testutil.WantError(t, err, data.ErrFormat, "record 1 at offset 4000", "unexpected end")
}

func TestRealCIFAR(t *testing.T) {
	train, test, err := openTen(testutil.RealData(t, "cifar10-jpeg"))
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 20000 || test.Len() != 5000 {
		t.Fatalf("%d and %d items", train.Len(), test.Len())
	}
	for k, m := range data.ByClass(train) {
		if n := len(data.ByClass(test)[k]); len(m) != 2000 || n != 500 {
			t.Errorf("class %s: %d and %d items", train.Classes()[k], len(m), n)
		}
	}
	// Natural images: mean and deviation of CIFAR-10 are known, 0.473 and 0.251
	// over all channels; wrong planes or offsets would not give them per channel.
	var mean [3]float64
	px := make([]float32, 3072)
	for i := range 2000 {
		if err := train.Read(i, px); err != nil {
			t.Fatal(err)
		}
		for j, v := range px {
			mean[j%3] += float64(v) / 1024 / 2000
		}
	}
	for c, want := range []float64{0.4914, 0.4822, 0.4465} {
		if d := mean[c] - want; d > 0.02 || d < -0.02 {
			t.Errorf("channel %d has mean %.4f, CIFAR-10's is %.4f", c, mean[c], want)
		}
	}
}

// The fuzzer chooses the labels and where the file ends; the test writes the 3072
// pixels of each record. A fuzzer that has to find records of 3073 bytes by itself
// spends its time making them shorter, at 4 runs a second.
func FuzzCIFAR(f *testing.F) {
	f.Add([]byte{3}, 0)
	f.Add([]byte{3, 12}, 0)
	f.Add([]byte{9, 0}, -1)
	f.Add([]byte{1}, 1)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, labels []byte, more int) {
		if len(labels) > 20 || more > tenRecord || more < -tenRecord {
			return
		}
		var b []byte
		for i, y := range labels {
			b = append(b, cifarRow(y, i)...)
		}
		b = append(b, make([]byte, max(more, 0))...)
		b = b[:max(0, len(b)+min(more, 0))]
		px, got, err := cifar10.read(bytes.NewReader(b), int64(len(b)), "x", 10, nil, nil)
		if err != nil {
			if !errors.Is(err, data.ErrFormat) {
				t.Fatalf("%v is not ErrFormat", err)
			}
			return
		}
		if len(got) == 0 || len(got)*tenRecord != len(b) || len(px) != len(got)*cifarPixels {
			t.Fatalf("%d bytes give %d labels and %d pixels", len(b), len(got), len(px))
		}
		for i, y := range got {
			if y > 9 || (i < len(labels) && int(labels[i]) != int(y)) {
				t.Fatalf("record %d has label %d", i, y)
			}
		}
	})
}
