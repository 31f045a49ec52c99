package sources

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/file"
	"tercet/internal/testutil"
)

// idx makes an IDX file of the given element type.
func idx(kind byte, body []byte, dims ...uint32) []byte {
	b := []byte{0, 0, kind, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, body...)
}

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestIDX(t *testing.T) {
	body := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}
	file := idx(8, body, 2, 3, 2)
	for name, b := range map[string][]byte{"plain": file, "gzip": gz(t, file)} {
		dims, got, err := readIDX(bytes.NewReader(b), int64(len(b)), "x", 3)
		if err != nil || !reflect.DeepEqual(dims, []int{2, 3, 2}) || !bytes.Equal(got, body) {
			t.Errorf("%s: %v %v %v", name, dims, got, err)
		}
	}
}

func TestIDXErrors(t *testing.T) {
	body := make([]byte, 12)
	good := idx(8, body, 2, 3, 2)
	zipped := gz(t, good)
	flipped := bytes.Clone(zipped)
	flipped[len(flipped)-6] ^= 1 // checksum
	bomb := gz(t, idx(8, make([]byte, 100), 4_000_000_000, 16384, 16384))
	for name, c := range map[string]struct {
		file []byte
		say  []string
	}{
		"empty":                 {nil, []string{"byte 0", "magic", "unexpected end"}},
		"short magic":           {good[:3], []string{"byte 3", "magic"}},
		"not IDX":               {[]byte("hello world"), []string{"not an IDX file", "0x68656c6c"}},
		"unknown type":          {idx(7, body, 2, 3, 2), []string{"not an IDX file"}},
		"float elements":        {idx(13, body, 2, 3, 2), []string{"float32", "offset 2"}},
		"int32 elements":        {idx(12, body, 2, 3, 2), []string{"int32"}},
		"labels for images":     {idx(8, body, 12), []string{"1 dimensions", "swapped"}},
		"header cut":            {good[:9], []string{"byte 9", "dimension 1"}},
		"no items":              {idx(8, nil, 0, 3, 2), []string{"dimension 0", "is 0"}},
		"no width":              {idx(8, nil, 2, 3, 0), []string{"dimension 2", "offset 12"}},
		"huge side":             {idx(8, body, 2, 1<<20, 2), []string{"dimension 1", "16384"}},
		"truncated":             {good[:20], []string{"truncated", "[2 3 2] = 12 bytes", "28 with the header", "the file has 20"}},
		"huge count":            {idx(8, body, 4_000_000_000, 28, 28), []string{"truncated", "the file has 28"}},
		"trailing":              {append(bytes.Clone(good), 9), []string{"after the end", "offset 28"}},
		"gzip header":           {[]byte{0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []string{"gzip header"}},
		"gzip cut":              {zipped[:len(zipped)-12], []string{"unexpected end"}},
		"gzip without trailer":  {zipped[:len(zipped)-4], []string{"corrupt after unpacked byte 28", "unexpected end"}},
		"gzip checksum":         {flipped, []string{"checksum"}},
		"gzip of truncated":     {gz(t, good[:20]), []string{"unpacked byte 20 of 28"}},
		"gzip trailing":         {gz(t, append(bytes.Clone(good), 9)), []string{"after the end"}},
		"gzip announces a bomb": {bomb, []string{"truncated", "announces"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readIDX(bytes.NewReader(c.file), int64(len(c.file)), "some/file", 3)
			testutil.WantError(t, err, data.ErrFormat, append(c.say, "some/file")...)
		})
	}
}

// A header cannot make the reader take memory that the file does not fill.
func TestIDXHeaderTakesNoMemory(t *testing.T) {
	got, err := readGrowing(bytes.NewReader(make([]byte, 3<<20)), 1<<50)
	if err == nil || len(got) != 3<<20 || cap(got) > 64<<20 {
		t.Errorf("%d bytes read, %d taken, %v", len(got), cap(got), err)
	}
}

// mnistDir writes a tiny set in the MNIST layout.
func mnistDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	px := func(n int) []byte {
		b := make([]byte, n*6)
		for i := range b {
			b[i] = byte(i)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"train-images-idx3-ubyte":    idx(8, px(4), 4, 3, 2),
		"train-labels-idx1-ubyte.gz": gz(t, idx(8, []byte{7, 2, 2, 7}, 4)),
		"t10k-images.idx3-ubyte":     idx(8, px(2), 2, 3, 2),
		"t10k-labels-idx1-ubyte":     idx(8, []byte{9, 2}, 2),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMNISTLayout(t *testing.T) {
	train, test, err := openMNIST(mnistDir(t))
	if err != nil {
		t.Fatal(err)
	}
	if h, w, c := train.Shape(); h != 3 || w != 2 || c != 1 || train.Len() != 4 || test.Len() != 2 {
		t.Errorf("%d %d %d, %d and %d items", h, w, c, train.Len(), test.Len())
	}
	// Both share the classes, though 7 is not in the test set nor 9 in the other.
	if want := []string{"2", "7", "9"}; !reflect.DeepEqual(train.Classes(), want) || !reflect.DeepEqual(test.Classes(), want) {
		t.Errorf("classes %v and %v", train.Classes(), test.Classes())
	}
	if !reflect.DeepEqual(train.Labels(), []int32{1, 0, 0, 1}) || !reflect.DeepEqual(test.Labels(), []int32{2, 0}) {
		t.Errorf("labels %v and %v", train.Labels(), test.Labels())
	}
}

func TestMNISTErrors(t *testing.T) {
	dir := mnistDir(t)
	_, _, err := openMNIST(filepath.Join(dir, "nowhere"))
	testutil.WantError(t, err, data.ErrMissing, "nowhere", "train-images-idx3-ubyte, train-labels-idx1-ubyte", "data.root")
	if err := os.Rename(filepath.Join(dir, "t10k-labels-idx1-ubyte"), filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	_, _, err = openMNIST(dir)
	testutil.WantError(t, err, data.ErrMissing, "lacks t10k-labels-idx1-ubyte (")
	if err := os.WriteFile(filepath.Join(dir, "t10k-labels-idx1-ubyte"), idx(8, []byte{1, 2, 3}, 3), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err = openMNIST(dir)
	testutil.WantError(t, err, data.ErrFormat, "t10k-images.idx3-ubyte has 2 images", "3 labels")
}

func TestOpenFileErrors(t *testing.T) {
	dir := t.TempDir()
	_, _, err := file.Open(filepath.Join(dir, "gone"), "do this")
	testutil.WantError(t, err, data.ErrMissing, "gone", "no such file", "do this")
	_, _, err = file.Open(dir, "do this")
	testutil.WantError(t, err, data.ErrMissing, dir, "give a regular file")
}

func TestRealMNIST(t *testing.T) {
	train, test, err := openMNIST(testutil.RealData(t, "mnist"))
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 60000 || test.Len() != 10000 || len(train.Classes()) != 10 {
		t.Fatalf("%d and %d items of %d classes", train.Len(), test.Len(), len(train.Classes()))
	}
	if got := train.Labels()[:5]; !reflect.DeepEqual(got, []int32{5, 0, 4, 1, 9}) {
		t.Errorf("first labels %v", got)
	}
	// The counts that LeCun's page and every table of MNIST give.
	for _, c := range []struct {
		ds   *data.Memory
		want []int
	}{
		{train, []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}},
		{test, []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}},
	} {
		for k, m := range data.ByClass(c.ds) {
			if len(m) != c.want[k] {
				t.Errorf("class %d has %d items, want %d", k, len(m), c.want[k])
			}
		}
	}
}

func FuzzIDX(f *testing.F) {
	good := idx(8, make([]byte, 12), 2, 3, 2)
	for _, b := range [][]byte{good, good[:20], gz(f, good), idx(8, []byte{1, 2, 3}, 3), idx(8, nil, 1<<31, 9, 9), {0x1f, 0x8b}} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dims, body, err := readIDX(bytes.NewReader(b), int64(len(b)), "x", 1, 3, 4)
		if err != nil {
			if !errors.Is(err, data.ErrFormat) {
				t.Fatalf("%v is not ErrFormat", err)
			}
			return
		}
		n := 1
		for _, d := range dims {
			n *= d
		}
		if n != len(body) || n == 0 {
			t.Fatalf("dimensions %v, %d bytes", dims, len(body))
		}
	})
}

// readIDX returns the extents and the bytes of an IDX file; see newIDXReader.
func readIDX(r io.Reader, size int64, path string, rank ...int) ([]int, []byte, error) {
	x, err := newIDXReader(r, size, path, rank...)
	if err != nil {
		return nil, nil, err
	}
	body, err := x.body()
	return x.dims, body, err
}
