package npy

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/data/fault"
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
		testutil.WantError(t, err, fault.ErrFormat, want)
		if e.read > 4<<20 {
			t.Errorf("%q: %d bytes were read", text, e.read)
		}
	}
}

func TestVectorsOfOtherNumber(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a 32-bit machine refuses files of this size by themselves")
	}
	const n = 20_000_000
	dict := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 200), }", n)
	x := sparse(t, "x.npy", npyFile(dict, nil), n*200*4)
	y := testutil.File(t, "y.csv", []byte(strings.Repeat("1\n2\n", 30)))
	_, _, _, err := ReadLabeled(Labeled{x, LabelFile{Path: y}})
	testutil.WantError(t, err, fault.ErrFormat, "y.csv has 60 labels", "x.npy has 20000000 rows")
	ints := testutil.File(t, "y.npy", npyFile("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", []byte{1, 2, 3}))
	_, _, _, err = ReadLabeled(Labeled{x, LabelFile{Path: ints}})
	testutil.WantError(t, err, fault.ErrFormat, "y.npy has 3 labels", "x.npy has 20000000 rows")
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
		"no character": {"{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", []byte{0, 0, 0, 9}, "label 0: 0x9000000 is not a character"},
		"objects":      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", []byte{0}, "y.astype('U')"},
		"floats":       {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", []byte{0, 0, 0, 0}, "y.astype('U')"},
	} {
		labels, classes, err := ReadLabels(LabelFile{Path: testutil.File(t, "y.npy", npyFile(c.dict, c.body))})
		if c.want != "" {
			testutil.WantError(t, err, fault.ErrFormat, c.want)
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
		_, _, err := ReadLabels(LabelFile{Path: testutil.File(t, c.file, []byte(c.text))})
		testutil.WantError(t, err, fault.ErrFormat, c.want)
	}
	_, err := Read(testutil.File(t, "x.npy", []byte("PK\x03\x04....")))
	testutil.WantError(t, err, fault.ErrFormat, "np.save(")
}

func TestLabelColumn(t *testing.T) {
	y := testutil.File(t, "y.csv", []byte("file,Animal,label\na.png,cat,0\nb.png,dog,1\n"))
	labels, classes, err := ReadLabels(LabelFile{Path: y, Column: "animal"})
	if err != nil || fmt.Sprint(labels, classes) != "[0 1] [cat dog]" {
		t.Errorf("%v %v %v", labels, classes, err)
	}
	_, _, err = ReadLabels(LabelFile{Path: y, Column: "bird"})
	testutil.WantError(t, err, fault.ErrFormat, `no column is named "bird"; columns: ["file" "Animal" "label"]`)
	_, _, err = ReadLabels(LabelFile{Path: filepath.Join("testdata", "y_i8.npy"), Column: "bird"})
	testutil.WantError(t, err, fault.ErrFormat, "npy file, which has no column")
}

// sparse makes a file of the header and n bytes of nothing.
func sparse(t *testing.T, name string, head []byte, n int64) string {
	t.Helper()
	path := testutil.File(t, name, head)
	if err := os.Truncate(path, int64(len(head))+n); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	return path
}

// A file of numbers of items instead of classes is refused before it fills the memory.
func TestTooManyDifferentLabels(t *testing.T) {
	defer func(most int) { maxLabels = most }(maxLabels)
	maxLabels = 3
	for name, content := range map[string][]byte{
		"csv":  []byte("a\nb\nc\na\nd\n"),
		"ints": npyFile("{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }", []byte{1, 2, 3, 4}),
		"text": npyFile("{'descr': '|S1', 'fortran_order': False, 'shape': (4,), }", []byte("abcd")),
	} {
		path := testutil.File(t, name, content)
		_, _, err := ReadLabels(LabelFile{Path: path})
		testutil.WantError(t, err, fault.ErrFormat, name+": more than 3 different labels")
		maxLabels++
		if _, _, err := ReadLabels(LabelFile{Path: path}); err != nil {
			t.Error(err)
		}
		maxLabels--
	}
}
