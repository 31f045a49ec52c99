package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/fault"
	"tercet/internal/engine/array"
	"tercet/internal/testutil"
)

// npyFile makes an npy file of version 1 with the given dictionary.
func npyFile(dict string, body []byte) []byte {
	b := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(dict)+1))
	return append(append(append(b, dict...), '\n'), body...)
}

func f64(v ...float64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// Files that numpy wrote; see testdata/README.md.
func TestNPYFromNumpy(t *testing.T) {
	var want []float32
	for k := range 15 {
		want = append(want, float32(k-7)/4)
	}
	for _, name := range []string{"c_f4", "f_f8", "big_f4", "v3_f8"} {
		x, err := Read(filepath.Join("testdata", name+".npy"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(x.Shape, []int{5, 3}) || !slices.Equal(x.Data, want) {
			t.Errorf("%s: %v %v", name, x.Shape, x.Data)
		}
	}
	for name, want := range map[string]struct {
		labels  []int32
		classes []string
	}{
		"y_i8": {[]int32{1, 0, 1, 2, 0}, []string{"-1", "3", "7"}},
		"y_i1": {[]int32{1, 0, 1, 2, 0}, []string{"-1", "3", "7"}},
		"y_u2": {[]int32{1, 0, 1, 2, 0}, []string{"1", "3", "7"}},
	} {
		labels, classes, err := ReadLabels(LabelFile{Path: filepath.Join("testdata", name+".npy")})
		if err != nil || !slices.Equal(labels, want.labels) || !slices.Equal(classes, want.classes) {
			t.Errorf("%s: %v %v %v", name, labels, classes, err)
		}
	}
}

// The header is what numpy writes, byte by byte.
func TestWriteNPYIsNumpys(t *testing.T) {
	x, err := Read("testdata/c_f4.npy")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/c_f4.npy")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, x); err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, b.Bytes(), want)
	}
	b.Reset()
	big := array.New(300, 300) // more than one buffer
	for i := range big.Data {
		big.Data[i] = float32(i)
	}
	if err := Write(&b, big); err != nil {
		t.Fatal(err)
	}
	back, err := readEmbeddings(&b, int64(b.Len()), "x")
	if err != nil || !slices.Equal(back.Data, big.Data) {
		t.Errorf("90000 elements do not come back: %v", err)
	}
	b.Reset()
	if err := WriteLabels(&b, []int32{5, -2, 7}); err != nil {
		t.Fatal(err)
	}
	if (b.Len()-12)%64 != 0 {
		t.Errorf("header of %d bytes is not aligned to 64", b.Len()-12)
	}
	got, err := readArrayLabels(&b, int64(b.Len()), "x", wish{})
	if err != nil || !slices.Equal(got.ints, []int64{5, -2, 7}) || !slices.Equal(got.ids, []int32{0, 1, 2}) {
		t.Errorf("%v %v", got, err)
	}
	b.Reset()
	if err := WriteInts(&b, []int32{1, 2, 3, 4, 5, 6}, 3, 2); err != nil || !strings.Contains(b.String(), "'<i4', 'fortran_order': False, 'shape': (3, 2), ") {
		t.Errorf("%v %q", err, b.String())
	}
	if err := WriteInts(&b, []int32{1, 2, 3}, 2, 2); !errors.Is(err, array.ErrShape) {
		t.Errorf("3 integers for 2x2: %v", err)
	}
	if err := Write(failing{}, x); err == nil {
		t.Error("a failing writer goes unnoticed")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestNPYHeadersThatAreFine(t *testing.T) {
	for _, dict := range []string{
		`{"descr": '<f8', 'shape': (1, 2)}`,
		`{'shape': (1, 2), 'fortran_order': False, 'descr': '<f8'}`,
		`{'descr':'<f8','fortran_order':True,'shape':(1L,2L,),}     `,
	} {
		b := npyFile(dict, f64(1, 2))
		x, err := readEmbeddings(bytes.NewReader(b), int64(len(b)), "x")
		if dict[1] == '"' { // a key in double quotes, and one missing
			testutil.WantError(t, err, fault.ErrFormat, "dictionary")
			continue
		}
		if err != nil || !slices.Equal(x.Data, []float32{1, 2}) {
			t.Errorf("%s: %v", dict, err)
		}
	}
}

func TestEmbeddingErrors(t *testing.T) {
	const d8 = `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }`
	good := npyFile(d8, f64(1, 2, 3, 4))
	huge := npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }`, f64(1))
	for name, c := range map[string]struct {
		file []byte
		say  []string
	}{
		"empty":            {nil, []string{"byte 0", "magic"}},
		"not npy":          {[]byte("1,2,3\n4,5,6\n"), []string{"not an npy file"}},
		"version":          {[]byte("\x93NUMPY\x09\x00\x00\x00\x00\x00"), []string{"version 9.0"}},
		"cut in length":    {good[:9], []string{"length of the header"}},
		"cut in header":    {good[:30], []string{"header of 60 bytes in a file of 30"}},
		"truncated":        {good[:len(good)-3], []string{"truncated", "needs 32 bytes", "has 29"}},
		"trailing":         {append(bytes.Clone(good), 1), []string{"too long", "has 33"}},
		"huge shape":       {huge, []string{"overflows"}},
		"big shape":        {npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (4000000, 4000), }`, f64(1)), []string{"truncated", "128000000000"}},
		"huge header":      {append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), good...), []string{"header of 4294967295 bytes"}},
		"negative":         {npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 2), }`, nil), []string{"dictionary"}},
		"no shape":         {npyFile(`{'descr': '<f8', 'fortran_order': False, }`, nil), []string{"dictionary"}},
		"structured":       {npyFile(`{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 2), }`, nil), []string{"one plain type"}},
		"key too many":     {npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'x': 1}`, f64(1, 2, 3, 4)), []string{"dictionary"}},
		"order":            {npyFile(`{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 2), }`, nil), []string{"dictionary"}},
		"text elements":    {npyFile(`{'descr': '<U5', 'fortran_order': False, 'shape': (2, 2), }`, nil), []string{"<U5"}},
		"int elements":     {npyFile(`{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }`, f64(0)), []string{"<i8", "float32"}},
		"complex elements": {npyFile(`{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }`, f64(0)), []string{"<c8", "astype"}},
		"one dimension":    {npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }`, f64(1, 2)), []string{"shape [2]", "(N, D)"}},
		"scalar":           {npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (), }`, f64(1)), []string{"shape []"}},
		"no rows":          {npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }`, nil), []string{"at least 1"}},
		"NaN":              {npyFile(d8, f64(1, 2, 3, math.NaN())), []string{"row 1, column 1 is NaN"}},
		"Inf":              {npyFile(d8, f64(1, math.Inf(-1), 3, 4)), []string{"row 0, column 1 is -Inf"}},
		"beyond float32":   {npyFile(d8, f64(1, 2, 1e300, 4)), []string{"row 1, column 0 is 1e+300", "float32"}},
		"NaN, by columns":  {npyFile(`{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }`, f64(1, math.NaN(), 3, 4)), []string{"row 1, column 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readEmbeddings(bytes.NewReader(c.file), int64(len(c.file)), "e.npy")
			testutil.WantError(t, err, fault.ErrFormat, append(c.say, "e.npy")...)
		})
	}
	_, err := Read(filepath.Join(t.TempDir(), "gone.npy"))
	testutil.WantError(t, err, fault.ErrMissing, "gone.npy")
}

// The size that the caller states is not trusted either: a file that shrinks
// while it is read is an error, not zeros.
func TestNPYThatShrinks(t *testing.T) {
	b := npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }`, f64(1, 2, 3, 4))
	for _, cut := range []int{8, 16, 32, 3} {
		_, err := readEmbeddings(bytes.NewReader(b[:len(b)-cut]), int64(len(b)), "x")
		testutil.WantError(t, err, fault.ErrFormat, "unexpected end of file")
	}
}

func TestLabelErrors(t *testing.T) {
	for name, c := range map[string]struct {
		name, file string
		say        []string
	}{
		"empty":         {"y.csv", "", []string{"no labels"}},
		"header only":   {"y.csv", "label\n", []string{"no labels"}},
		"two columns":   {"y.csv", "a,b\n1,2\n", []string{"y.csv:1", "2 columns", "label"}},
		"more columns":  {"y.csv", "1\n2\n3,4\n", []string{"y.csv:3", "another number of columns"}},
		"empty line":    {"y.csv", "1\n2\n\n4\n", []string{"y.csv:3", "empty line"}},
		"first empty":   {"y.csv", "\n1\n2\n", []string{"y.csv:1", "empty line"}},
		"empty label":   {"y.csv", "name,label\na,1\nb,\n", []string{"y.csv:3", "empty label"}},
		"long label":    {"y.csv", "1\n\"a\nb\"\n", []string{"y.csv:2", "several lines"}},
		"quote":         {"y.csv", "1\n\"a\n", []string{"y.csv:2", "quote"}},
		"float npy":     {"y.npy", string(npyFile(`{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }`, f64(1))), []string{"<f8", "astype('int64')"}},
		"2-D npy":       {"y.npy", string(npyFile(`{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }`, f64(0, 0))), []string{"shape [1 2]"}},
		"npy of text":   {"y.npy", "1\n2\n3\n4\n5\n", []string{"not an npy file"}},
		"unsigned":      {"y.npy", string(npyFile(`{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }`, f64(-1))), []string{"label 0"}},
		"truncated npy": {"y.npy", string(npyFile(`{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }`, f64(0))), []string{"truncated"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ReadLabels(LabelFile{Path: testutil.File(t, c.name, []byte(c.file))})
			testutil.WantError(t, err, fault.ErrFormat, append(c.say, c.name)...)
		})
	}
	_, _, err := ReadLabels(LabelFile{Path: filepath.Join(t.TempDir(), "gone.csv")})
	testutil.WantError(t, err, fault.ErrMissing, "gone.csv")
}

func TestLabelsCSV(t *testing.T) {
	for file, want := range map[string]struct {
		labels  []int32
		classes []string
	}{
		"3\n10\n3\n":                              {[]int32{0, 1, 0}, []string{"3", "10"}},
		"\xef\xbb\xbfLabel\r\n3\r\n10\r\n":        {[]int32{0, 1}, []string{"3", "10"}},
		"b\na\nb\n10\n3\n":                        {[]int32{3, 2, 3, 0, 1}, []string{"10", "3", "a", "b"}},
		"path, label \na.png,cat\n\"b\nc\",dog\n": {[]int32{0, 1}, []string{"cat", "dog"}},
		"label,note\n1,\"x\ny\"\n2,z\n":           {[]int32{0, 1}, []string{"1", "2"}},
		"7":                                       {[]int32{0}, []string{"7"}},
		"1\n2\n\n":                                {[]int32{0, 1}, []string{"1", "2"}},
		"'a,b'\n\"a,b\"\n":                        {nil, nil},
	} {
		labels, classes, err := ReadLabels(LabelFile{Path: testutil.File(t, "y.csv", []byte(file))})
		if want.labels == nil {
			testutil.WantError(t, err, fault.ErrFormat, "2 columns")
			continue
		}
		if err != nil || !slices.Equal(labels, want.labels) || !reflect.DeepEqual(classes, want.classes) {
			t.Errorf("%q: %v %v %v", file, labels, classes, err)
		}
	}
}

// Parts share their classes, whichever values they hold; a part of integers
// beside one of text is text.
func TestIndexValuesSharesClasses(t *testing.T) {
	labels, classes := indexValues(&values{ids: []int32{0, 1}, ints: []int64{5, 2}}, &values{ids: []int32{0, 1}, ints: []int64{2, 9}})
	if !reflect.DeepEqual(labels, [][]int32{{1, 0}, {0, 2}}) || !reflect.DeepEqual(classes, []string{"2", "5", "9"}) {
		t.Errorf("%v %v", labels, classes)
	}
	labels, classes = indexValues(&values{ids: []int32{0, 1}, ints: []int64{5, 10}}, &values{ids: []int32{0, 1}, text: []string{"a", "5"}})
	if !reflect.DeepEqual(labels, [][]int32{{1, 0}, {2, 1}}) || !reflect.DeepEqual(classes, []string{"10", "5", "a"}) {
		t.Errorf("%v %v", labels, classes)
	}
}

func FuzzNPY(f *testing.F) {
	for _, name := range []string{"c_f4", "f_f8", "big_f4", "v3_f8", "y_i8", "y_i1"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".npy"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := readEmbeddings(bytes.NewReader(b), int64(len(b)), "x")
		if err == nil {
			if len(x.Shape) != 2 || len(x.Data) == 0 {
				t.Fatalf("shape %v", x.Shape)
			}
			for _, v := range x.Data {
				if v-v != 0 {
					t.Fatalf("%v accepted", v)
				}
			}
		} else if !errors.Is(err, fault.ErrFormat) {
			t.Fatalf("%v is no error of the format", err)
		}
		if y, err := readArrayLabels(bytes.NewReader(b), int64(len(b)), "x", wish{}); err == nil && len(y.ids) == 0 {
			t.Fatal("no labels, no error")
		} else if err != nil && !errors.Is(err, fault.ErrFormat) {
			t.Fatalf("%v is no error of the format", err)
		}
	})
}

func FuzzLabelsCSV(f *testing.F) {
	for _, s := range []string{"1\n2\n", "label\na\nb\n", "x,label\n1,2\n", "\"a\nb\",c\n", "\n\n1", "\xef\xbb\xbflabel\r\n7\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := readCSV(bytes.NewReader(b), int64(len(b)), "x", wish{})
		if err != nil {
			if !errors.Is(err, fault.ErrFormat) {
				t.Fatalf("%v is no error of the format", err)
			}
			return
		}
		labels, classes := indexValues(v)
		if len(labels[0]) == 0 || len(classes) == 0 {
			t.Fatal("no labels, no error")
		}
		for _, y := range labels[0] {
			if y < 0 || int(y) >= len(classes) {
				t.Fatalf("label %d of %d classes", y, len(classes))
			}
		}
	})
}

// TestMappedIsRead compares what is mapped with what is read, and its errors.
func TestMappedIsRead(t *testing.T) {
	defer func(least int64) { leastMapped = least }(leastMapped)
	file := func(descr string, fortran string, v ...float32) string {
		var body []byte
		for _, x := range v {
			if descr[0] == '>' {
				body = binary.BigEndian.AppendUint32(body, math.Float32bits(x))
			} else {
				body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
			}
		}
		return testutil.File(t, "x.npy", npyFile(fmt.Sprintf("%-117s", `{'descr': '`+descr+`', 'fortran_order': `+fortran+`, 'shape': (3, 2), }`), body))
	}
	plain := file("<f4", "False", 1, 2, 3, 4, 5, 6)
	maps := func() bool {
		f, err := os.Open(plain)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		h, err := readHeader(f, 128+24, plain)
		if err != nil {
			t.Fatal(err)
		}
		x, err := h.mapped(f, plain)
		return x != nil && err == nil
	}
	leastMapped = 24
	if got, want := maps(), runtime.GOOS != "windows" && binary.NativeEndian.Uint16([]byte{1, 0}) == 1; got != want {
		t.Errorf("mapped: %v", got)
	}
	if leastMapped = 25; maps() {
		t.Error("an array below the least size is mapped")
	}
	nan := float32(math.NaN())
	for _, path := range []string{
		plain, file(">f4", "False", 1, 2, 3, 4, 5, 6), file("<f4", "True", 1, 2, 3, 4, 5, 6),
		file("<f4", "False", 1, 2, 3, nan, 5, 6),
	} {
		leastMapped = 1 << 28
		want, wantErr := Read(path)
		leastMapped = 1
		got, err := Read(path)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%v %v, want %v %v", got, err, want, wantErr)
		}
		if got != nil { // what is written must not reach the file
			got.Data[0] = 7
			if again, err := Read(path); err != nil || again.Data[0] != 1 {
				t.Errorf("the file has become %v (%v)", again, err)
			}
		}
	}
}
