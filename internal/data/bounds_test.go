package data

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// endless repeats a text and counts what was read of it.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.read+i)%len(e.text)]
	}
	e.read += len(p)
	return len(p), nil
}

// TestLabelsEndAtOneTooMany reads labels that never end: reading stops one behind
// those that are wanted.
func TestLabelsEndAtOneTooMany(t *testing.T) {
	for text, want := range map[string]string{
		"3\n":           "y.csv has more than 60 labels, x.npy has 60 rows",
		"a":             "y.csv:1: the line",
		"\"a\n":         "y.csv:2: a quote",
		"1\n\"\n\n\n\n": "y.csv:",
	} {
		e := &endless{text: text}
		_, err := readCSV(e, 1<<40, "y.csv", wish{n: 60, of: "x.npy has 60 rows"})
		testutil.WantError(t, err, ErrFormat, want)
		if e.read > 4<<20 {
			t.Errorf("%q: %d bytes were read", text, e.read)
		}
	}
}

// sparse makes a file of the header and n bytes of nothing.
func sparse(t *testing.T, name string, head []byte, n int64) string {
	t.Helper()
	path := write(t, name, head)
	if err := os.Truncate(path, int64(len(head))+n); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	return path
}

// TestHeadersAreComparedFirst gives large files whose numbers of items do not
// agree: reading their data would take the memory of the machine.
func TestHeadersAreComparedFirst(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a 32-bit machine refuses files of this size by themselves")
	}
	head := idx(8, nil, 1<<30, 4, 4) // 16 GiB
	images := sparse(t, "images", head, 1<<34)
	labels := write(t, "labels", idx(8, make([]byte, 80), 80))
	_, err := readIDXPart(images, labels)
	testutil.WantError(t, err, ErrFormat, "images has 1073741824 images", "labels has 80 labels")
}

func TestVectorsOfOtherNumber(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a 32-bit machine refuses files of this size by themselves")
	}
	const n = 20_000_000
	dict := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 200), }", n)
	x := sparse(t, "x.npy", npyFile(dict, nil), n*200*4)
	y := write(t, "y.csv", []byte(strings.Repeat("1\n2\n", 30)))
	_, _, _, err := ReadLabeled(x, LabelFile{Path: y})
	testutil.WantError(t, err, ErrFormat, "y.csv has 60 labels", "x.npy has 20000000 rows")
	ints := write(t, "y.npy", npyFile("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", []byte{1, 2, 3}))
	_, _, _, err = ReadLabeled(x, LabelFile{Path: ints})
	testutil.WantError(t, err, ErrFormat, "y.npy has 3 labels", "x.npy has 20000000 rows")
}

func TestLabelsOfText(t *testing.T) {
	wide := func(words ...string) (b []byte) {
		for _, w := range words {
			for i := range 3 {
				c := byte(0)
				if i < len(w) {
					c = w[i]
				}
				b = append(b, c, 0, 0, 0)
			}
		}
		return b
	}
	for name, c := range map[string]struct {
		dict string
		body []byte
		want string // an error; "" for none
	}{
		"U":            {"{'descr': '<U3', 'fortran_order': False, 'shape': (3,), }", wide("cat", "a", "cat"), ""},
		"S":            {"{'descr': '|S3', 'fortran_order': False, 'shape': (3,), }", []byte("cata\x00\x00cat"), ""},
		"empty":        {"{'descr': '<U3', 'fortran_order': False, 'shape': (3,), }", wide("cat", "", "cat"), "label 1: empty label"},
		"NUL inside":   {"{'descr': '|S3', 'fortran_order': False, 'shape': (1,), }", []byte("a\x00b"), "NUL"},
		"no character": {"{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", []byte{0, 0, 0, 9}, "label 0: 0x9000000 is no character"},
		"objects":      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", []byte{0}, "y.astype('U')"},
		"floats":       {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", []byte{0, 0, 0, 0}, "y.astype('U')"},
	} {
		labels, classes, err := ReadLabels(LabelFile{Path: write(t, "y.npy", npyFile(c.dict, c.body))})
		if c.want != "" {
			testutil.WantError(t, err, ErrFormat, c.want)
			continue
		}
		if err != nil || fmt.Sprint(labels, classes) != "[1 0 1] [a cat]" {
			t.Errorf("%s: %v %v %v", name, labels, classes, err)
		}
	}
}

func TestLabelFilesOfOtherKinds(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"y.csv", "\xff\xfea\x00\n\x00", "UTF-16; save it as UTF-8"},
		{"y.csv", "\xfe\xff\x00a\x00\n", "UTF-16; save it as UTF-8"},
		{"y.csv", "a\nb\x00c\n", "y.csv:2: the label \"b\\x00c\" holds a NUL character"},
		{"y.csv", "PK\x03\x04....", "np.save("},
		{"y.npy", "PK\x03\x04....", "np.save("},
	} {
		_, _, err := ReadLabels(LabelFile{Path: write(t, c.file, []byte(c.text))})
		testutil.WantError(t, err, ErrFormat, c.want)
	}
	_, err := ReadEmbeddings(write(t, "x.npy", []byte("PK\x03\x04....")))
	testutil.WantError(t, err, ErrFormat, "np.save(")
}

func TestLabelColumn(t *testing.T) {
	y := write(t, "y.csv", []byte("file,Animal,label\na.png,cat,0\nb.png,dog,1\n"))
	labels, classes, err := ReadLabels(LabelFile{Path: y, Column: "animal"})
	if err != nil || fmt.Sprint(labels, classes) != "[0 1] [cat dog]" {
		t.Errorf("%v %v %v", labels, classes, err)
	}
	_, _, err = ReadLabels(LabelFile{Path: y, Column: "bird"})
	testutil.WantError(t, err, ErrFormat, `no column is named "bird"; there are: ["file" "Animal" "label"]`)
	_, _, err = ReadLabels(LabelFile{Path: filepath.Join("testdata", "y_i8.npy"), Column: "bird"})
	testutil.WantError(t, err, ErrFormat, "npy file, which has no column")
}

// TestFolderNamesAllBadFiles: one bad file of many used to stop the reading, the next
// one the next reading.
func TestFolderNamesAllBadFiles(t *testing.T) {
	px := encodePNG(t, gray(40, 40, func(y, x int) uint8 { return uint8(y*x*7 ^ y) }))
	half := px[:len(px)/2]
	root := tree(t, map[string][]byte{"train/a/1.png": px, "train/a/2.png": nil, "train/b/1.png": px, "train/b/2.jpg": []byte("x"), "test/a/1.png": nil, "test/a/2.png": px})
	_, _, err := openFolder(root, "", "", ImageOptions{})
	testutil.WantError(t, err, ErrFormat, "3 of 6 images cannot be read: ", "train/a/2.png: ", "; "+filepath.Join(root, "train/b/2.jpg"), "test/a/1.png")
	root = tree(t, map[string][]byte{"a/1.png": half, "a/2.png": px, "a/3.png": half})
	_, _, err = openFolder(root, "", "", ImageOptions{})
	testutil.WantError(t, err, ErrFormat, "2 of 3 images cannot be read: ", "a/1.png", "a/3.png")
	// Bad headers were named in a first round, truncated files of both folders in a second and third.
	root = tree(t, map[string][]byte{"train/a/1.png": px, "train/a/2.png": nil, "train/b/1.png": half, "train/b/2.png": px, "test/a/1.png": half, "test/a/2.png": px})
	_, _, err = openFolder(root, "", "", ImageOptions{})
	testutil.WantError(t, err, ErrFormat, "3 of 6 images cannot be read: ", "train/a/2.png: ", "train/b/1.png: ", "test/a/1.png: ")
	root = tree(t, map[string][]byte{"train/a/1.png": px, "train/a/2.png": half, "test/a/1.png": half, "test/a/2.png": px})
	_, _, err = openFolder(root, "", "", ImageOptions{})
	testutil.WantError(t, err, ErrFormat, "2 of 4 images cannot be read: ", "train/a/2.png: ", "test/a/1.png: ")
	files := map[string][]byte{}
	for i := range 30 {
		files[fmt.Sprintf("a/%02d.png", i)] = nil
	}
	_, _, err = openFolder(tree(t, files), "", "", ImageOptions{})
	testutil.WantError(t, err, ErrFormat, "30 of 30 images", "19.png", "and 10 more")
	if strings.Contains(err.Error(), "20.png") {
		t.Errorf("more than %d files are named: %v", maxListed, err)
	}
}

// TestLeftOut counts images of formats that are not read; files that are no images are
// nobody's loss.
func TestLeftOut(t *testing.T) {
	px := encodePNG(t, flat(2, 2, 9))
	root := tree(t, map[string][]byte{
		"a/1.png": px, "a/1.gif": nil, "a/2.GIF": nil, "a/3.webp": nil, "a/4": px, "a/5.dat": []byte("GIF89a...."),
		"a/.DS_Store": px, "a/Thumbs.db": px, "a/notes.txt": []byte("text"), "b/1.png": px, "b/2.jfif": nil,
	})
	o := FolderOptions{Root: root}
	const want = "6 files are neither PNG nor JPEG and were left out: .gif 2, .dat 1, .jfif 1, .webp 1, without extension 1"
	if got := LeftOut(Options{Source: o}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o.Root = tree(t, map[string][]byte{"train/a/1.png": px, "test/a/1.png": px, "test/a/2.bmp": nil})
	o.Train, o.Test = "train", "test"
	if got := LeftOut(Options{Source: o}); got != "1 file is neither PNG nor JPEG and was left out: .bmp 1" {
		t.Error(got)
	}
	if got := LeftOut(Options{Source: FolderOptions{Root: tree(t, map[string][]byte{"a/1.png": px, "a/x.xml": []byte("<a/>")})}}); got != "" {
		t.Error(got)
	}
}

// TestLimitMemory: a set that the machine cannot hold is an error, not the end of the
// program.
func TestLimitMemory(t *testing.T) {
	before := most.Load()
	defer most.Store(before)
	LimitMemory(1 << 20)
	LimitMemory(1 << 30) // a larger limit changes nothing
	testutil.WantError(t, checkTotal(1024, 2048), ErrUnfit, "need 0.0 GiB of memory")
	_, err := newIDXReader(bytes.NewReader(idx(8, nil, 1024, 32, 64)), 3<<20, "images", 3)
	testutil.WantError(t, err, ErrFormat, "at most 1048576 are read")
}
