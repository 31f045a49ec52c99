package vectors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
)

func put(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func refused(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one of kind %v", err, kind)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// readAll reads a whole file: n rows of d numbers.
func readAll(path string) (x []float32, n, d int, err error) {
	v, err := Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer v.Close()
	x, err = v.All()
	return x, v.Len(), v.Dim(), err
}

// le are numbers as the formats store them.
func le(v ...any) []byte {
	var b bytes.Buffer
	for _, x := range v {
		if i, ok := x.(int); ok {
			x = int32(i)
		}
		_ = binary.Write(&b, binary.LittleEndian, x)
	}
	return b.Bytes()
}

// What is written is read again, the same to the bit, whole and in ranges of any place;
// the bytes of a small file are those of the format's description.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	const n, d = 700, 3 // several reads of a row's length below
	floats, whole := make([]float32, n*d), make([]float32, n*d)
	for i := range floats {
		floats[i] = float32(math.Sin(float64(i))) * float32(math.Pow(10, float64(i%30-15)))
		whole[i] = float32(i * 7 % 256)
	}
	for _, name := range Written() {
		x := floats
		if name == "u8bin" || name == "bvecs" {
			x = whole
		}
		var b bytes.Buffer
		scale, err := Write(&b, name, x, n, d)
		if err != nil {
			t.Fatal(err)
		}
		if scale != nil && *scale != (Bytes{0, 1}) {
			t.Errorf("%s: scale %v of bytes", name, *scale)
		}
		path := put(t, "x."+name, b.Bytes())
		got, gn, gd, err := readAll(path)
		if err != nil || gn != n || gd != d || !slices.Equal(got, x) {
			t.Errorf("%s: (%d, %d), error %v, or other numbers", name, gn, gd, err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range [][2]int{{0, 1}, {699, 1}, {350, 3}, {17, 600}} {
			part := make([]float32, r[1]*d)
			if err := f.Read(r[0], part); err != nil || !slices.Equal(part, x[r[0]*d:(r[0]+r[1])*d]) {
				t.Errorf("%s: rows %v differ, error %v", name, r, err)
			}
		}
		f.Close()
	}
	small := []float32{1, 2, 3, 250, 0, 7}
	for name, want := range map[string][]byte{
		"fbin":  le(2, 3, small),
		"fvecs": le(3, small[:3], 3, small[3:]),
		"u8bin": le(2, 3, []byte{1, 2, 3, 250, 0, 7}),
		"bvecs": le(3, []byte{1, 2, 3}, 3, []byte{250, 0, 7}),
	} {
		var b bytes.Buffer
		if _, err := Write(&b, name, small, 2, 3); err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: %v, error %v, want %v", name, b.Bytes(), err, want)
		}
	}
}

// Bytes of numbers that are none are off by half a step at most.
func TestBytesOfFloats(t *testing.T) {
	t.Parallel()
	x := []float32{-1, 0.5, 0.123, 3, 2.9999, -0.25}
	var b bytes.Buffer
	s, err := Write(&b, "u8bin", x, 3, 2)
	if err != nil || s.Offset != -1 || math.Abs(s.Step-4.0/255) > 1e-15 {
		t.Fatalf("scale %v, error %v", s, err)
	}
	for i, v := range b.Bytes()[8:] {
		if off := math.Abs(s.Offset + s.Step*float64(v) - float64(x[i])); off > s.Step/2*1.0001 {
			t.Errorf("number %d is off by %v", i, off)
		}
	}
	b.Reset()
	if s, err = Write(&b, "bvecs", []float32{0.5, 0.5}, 1, 2); err != nil || *s != (Bytes{0.5, 1}) || !bytes.Equal(b.Bytes()[4:], []byte{0, 0}) {
		t.Errorf("equal numbers: scale %v, error %v", s, err)
	}
}

// npy of numpy in its other forms; what package data reads is the oracle.
func TestNPYForms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"c_f4", "big_f4", "v3_f8"} {
		path := filepath.Join("..", "data", "npy", "testdata", name+".npy")
		want, err := npy.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		got, n, d, err := readAll(path)
		if err != nil || n != want.Rows() || d != want.Cols() || !slices.Equal(got, want.Data) {
			t.Errorf("%s: (%d, %d), error %v", name, n, d, err)
		}
	}
	_, err := Open(filepath.Join("..", "data", "npy", "testdata", "f_f8.npy"))
	refused(t, err, fault.ErrUnfit, "stored by columns", "ascontiguousarray")
	var b bytes.Buffer
	_ = npy.WriteHeader(&b, "<f2", 1, 3)
	b.Write(le(uint16(0x3c00), uint16(0xc000), uint16(0x3555)))
	if x, _, _, err := readAll(put(t, "h.npy", b.Bytes())); err != nil || !slices.Equal(x, []float32{1, -2, 0.333251953125}) {
		t.Errorf("float16: %v, error %v", x, err)
	}
}

// Files that end too early, are too long, or whose headers lie are refused before numbers
// are read; rows of other lengths and numbers that are none when they are.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	two := []float32{1, 2}
	for name, c := range map[string]struct {
		file  string
		bytes []byte
		say   string
	}{
		"empty":              {"x.fbin", nil, "ends inside the header"},
		"half a header":      {"x.fbin", le(2), "ends inside the header"},
		"truncated":          {"x.fbin", le(2, 2, two), "truncated: its header says 2 rows of 2 columns, which take 24 bytes, and it has 16"},
		"too long":           {"x.fbin", le(1, 1, two), "too long"},
		"bytes as floats":    {"x.u8bin", le(1, 2, two), "too long"},
		"no rows":            {"x.fbin", le(0, 2), "want at least 1"},
		"no columns":         {"x.fbin", le(2, 0), "want at least 1"},
		"rows that overflow": {"x.fbin", le(-1, 2, two), "4294967295 rows"},
		"columns that lie":   {"x.fbin", le(1, -1, two), "4294967295 columns"},
		"NaN":                {"x.fbin", le(1, 2, []float32{1, float32(math.NaN())}), "row 0, column 1 is NaN"},
		"infinity":           {"x.fvecs", le(2, two, 2, []float32{1, float32(math.Inf(-1))}), "row 1, column 1 is -Inf"},
		"empty vecs":         {"x.fvecs", nil, "ends inside the length"},
		"truncated vecs":     {"x.fvecs", le(2, two, 2, two[:1]), "not a multiple"},
		"negative length":    {"x.bvecs", le(-2, two), "want at least 1"},
		"another length":     {"x.fvecs", le(2, two, 1, two), "row 1 has 1 columns"},
		"no npy":             {"x.npy", le(2, 2, two, two), "not an npy file"},
	} {
		_, _, _, err := readAll(put(t, c.file, c.bytes))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		refused(t, err, fault.ErrFormat, c.say, c.file)
	}
	_, err := Open("gone.fbin")
	refused(t, err, fault.ErrMissing, "gone.fbin: no such file")
	_, err = Open(put(t, "x.bin", nil))
	refused(t, err, fault.ErrUnfit, "ends in one of npy, fbin, u8bin, i8bin, fvecs, bvecs")
	_, err = Open(put(t, "x.ibin", le(1, 1, 1)))
	refused(t, err, fault.ErrUnfit, "how vectors are stored")
}

// A file that shrinks while it is read is an error, not zeros.
func TestFileThatShrinks(t *testing.T) {
	t.Parallel()
	path := put(t, "x.fbin", le(2, 2, make([]float32, 4)))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 20); err != nil {
		t.Fatal(err)
	}
	refused(t, f.Read(0, make([]float32, 4)), fault.ErrFormat, "cannot be read")
}

func TestNeighbors(t *testing.T) {
	t.Parallel()
	want := []int32{1, 2, -1, 0, 2, 1}
	var eight bytes.Buffer
	_ = npy.WriteInts64(&eight, want, 2, 3)
	for file, b := range map[string][]byte{
		"i.ibin":  le(2, 3, want),
		"i.ivecs": le(3, want[:3], 3, want[3:]),
		"i.npy":   eight.Bytes(),
	} {
		l, err := ReadNeighbors(put(t, file, b), 3)
		if err != nil || l.N != 2 || l.K != 3 || !slices.Equal(l.Index, want) {
			t.Errorf("%s: %v, error %v", file, l, err)
		}
	}
	for say, b := range map[string][]byte{
		"list 1, place 0: item 3 is not in a gallery of 3 items": le(2, 1, 0, 3),
		"list 0, place 1: item -2":                               le(1, 2, 0, -2),
		"truncated":                                              le(2, 2, 0),
	} {
		_, err := ReadNeighbors(put(t, "i.ibin", b), 3)
		refused(t, err, fault.ErrFormat, say)
	}
	_, err := ReadNeighbors(put(t, "i.fbin", le(1, 1, 0)), 3)
	refused(t, err, fault.ErrUnfit, "lists of neighbors", "npy, ibin, ivecs")
	var floats bytes.Buffer
	_, _ = Write(&floats, "npy", []float32{1, 2}, 1, 2)
	_, err = ReadNeighbors(put(t, "i.npy", floats.Bytes()), 3)
	refused(t, err, fault.ErrFormat, "integers")
}

func FuzzOpen(f *testing.F) {
	for i, b := range [][]byte{le(2, 2, make([]float32, 4)), le(2, 1.5, 2.5), le(1, 2, []byte{1, 2})} {
		f.Add(uint8(i), b)
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		format := formats[int(which)%len(formats)]
		path := put(t, "x."+format.name, b)
		if format.integer {
			if _, err := ReadNeighbors(path, 10); err != nil && !errors.Is(err, fault.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		x, n, d, err := readAll(path)
		if err == nil && len(x) != n*d {
			t.Fatalf("%d numbers for (%d, %d)", len(x), n, d)
		}
		if err != nil && !errors.Is(err, fault.ErrFormat) && !errors.Is(err, fault.ErrUnfit) {
			t.Fatal(err)
		}
	})
}
