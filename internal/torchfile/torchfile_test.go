package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".pth"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(b []byte) (*Weights, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// Values as PyTorch prints them, testdata/scripts/torchfile_golden.py.
func TestFilesOfPyTorch(t *testing.T) {
	t.Parallel()
	var golden map[string][][3]json.RawMessage
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range golden {
		w, err := parse(file(t, name))
		if len(want) == 0 {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil || len(w.Tensors) != len(want) {
			t.Errorf("%s: %d tensors, want %d: %v", name, len(w.Tensors), len(want), err)
			continue
		}
		for i, got := range w.Tensors {
			var key string
			var shape []int
			var values []float64
			for j, to := range []any{&key, &shape, &values} {
				if err := json.Unmarshal(want[i][j], to); err != nil {
					t.Fatal(err)
				}
			}
			if got.Name != key || !slices.Equal(got.Shape, shape) || len(got.Data) != len(values) {
				t.Errorf("%s: %s %v of %d, want %s %v of %d", name, got.Name, got.Shape, len(got.Data), key, shape, len(values))
				continue
			}
			for j, v := range values {
				if got.Data[j] != float32(v) {
					t.Errorf("%s: %s[%d] is %g, want %g", name, key, j, got.Data[j], v)
				}
			}
		}
	}
}

func TestWrappersAndOtherKeys(t *testing.T) {
	t.Parallel()
	w, err := parse(file(t, "wrapped"))
	if err != nil || w.Wrapper != "state_dict" || w.Tensors[0].Name != "module.conv.weight" {
		t.Errorf("%+v, %v", w, err)
	}
	w, err = parse(file(t, "parameters"))
	if err != nil || !slices.Equal(w.Others, []string{"name"}) {
		t.Errorf("%+v, %v", w, err)
	}
	_, err = parse(file(t, "teacher_student"))
	if err == nil || !strings.Contains(err.Error(), "teacher (a dictionary) and student (a dictionary)") {
		t.Errorf("error %v", err)
	}
	_, err = parse(file(t, "tensor"))
	if err == nil || !strings.Contains(err.Error(), "it holds a tensor") {
		t.Errorf("error %v", err)
	}
}

// archive is a zip container with that pickle and these storages.
func archive(t testing.TB, pickle string, storages map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name string, data []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "a/" + name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("data.pkl", []byte(pickle))
	for key, data := range storages {
		put("data/"+key, data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// utf8, number and floats are pieces of a pickle.
func utf8(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func number(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func floats(key string, numel int64) string {
	return "(" + utf8("storage") + "ctorch\nFloatStorage\n" + utf8(key) + utf8("cpu") + number(numel) + "tQ"
}

// view is a dictionary with the tensor w of the storage "0".
func view(numel, offset int64, size, stride []int64) string {
	axes := func(v []int64) string {
		s := "("
		for _, n := range v {
			s += number(n)
		}
		return s + "t"
	}
	return "\x80\x02}" + utf8("w") + "ctorch._utils\n_rebuild_tensor_v2\n(" + floats("0", numel) + number(offset) + axes(size) + axes(stride) + "\x89NtR" + "s."
}

func TestViewsMustLieInTheirStorage(t *testing.T) {
	t.Parallel()
	four := map[string][]byte{"0": {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40}} // 1 2 3 4
	w, err := parse(archive(t, view(4, 1, []int64{3}, []int64{1}), four))
	if err != nil || !slices.Equal(w.Tensors[0].Data, []float32{2, 3, 4}) {
		t.Fatalf("%+v, %v", w, err)
	}
	const most = 1<<63 - 1
	for name, pickle := range map[string]string{
		"behind the end":    view(4, 2, []int64{3}, []int64{1}),
		"negative stride":   view(4, 3, []int64{3}, []int64{-1}),
		"negative offset":   view(4, -1, []int64{2}, []int64{1}),
		"negative size":     view(4, 0, []int64{-2}, []int64{1}),
		"huge stride":       view(4, 0, []int64{3, 3}, []int64{most, most}),
		"huge size":         view(4, 0, []int64{most, most}, []int64{0, 0}),
		"axes without ends": view(4, 0, []int64{2, 2}, []int64{1}),
		"expanded":          view(4, 0, []int64{1 << 40}, []int64{0}),
		"larger storage":    view(5, 0, []int64{5}, []int64{1}),
		"smaller storage":   view(3, 0, []int64{3}, []int64{1}),
		"product overflows": view(1<<62+4, 0, []int64{4}, []int64{1}),
		"no storage":        strings.Replace(view(4, 0, []int64{4}, []int64{1}), utf8("0"), utf8("1"), 1),
		"empty but huge":    view(4, 0, []int64{0, most}, []int64{1, 1}),
	} {
		if _, err := parse(archive(t, pickle, four)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// What a pickle could do in Python: nothing of it happens, and the message names it.
func TestForeignNamesAreRefused(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	for name, pickle := range map[string]string{
		"os.system":            "\x80\x02cos\nsystem\n(" + utf8("touch "+mark) + "tR.",
		"posix.system":         "\x80\x02}" + utf8("w") + "cposix\nsystem\n(" + utf8("touch "+mark) + "tRs.",
		"argparse.Namespace":   "\x80\x02}" + utf8("args") + "cargparse\nNamespace\n)\x81}bs.",
		"builtins.eval":        "\x80\x02cbuiltins\neval\n" + utf8("1") + "\x85R.",
		"torch.storage.Nobody": "\x80\x02ctorch.storage\nNobody\n.",
	} {
		_, err := parse(archive(t, pickle, nil))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it needs "+name+", which is not read") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of the file was run")
	}
}

func TestHostilePickles(t *testing.T) {
	t.Parallel()
	laughs := "\x80\x02}" // each tuple holds the one before it twice
	for i := range 60 {
		laughs += fmt.Sprintf("%sq%c", map[bool]string{true: ")", false: "h" + string(rune(i-1)) + "h" + string(rune(i-1)) + "\x86"}[i == 0], i)
		laughs += "0"
	}
	for name, pickle := range map[string]string{
		"empty":              "",
		"no end":             "\x80\x02}",
		"nothing below":      "\x80\x02R.",
		"no mark":            "\x80\x02t.",
		"through a mark":     "\x80\x02}(s.",
		"unknown reference":  "\x80\x02h\x07.",
		"unknown operation":  "\x80\x02i.",
		"protocol 4":         "\x80\x04}.",
		"deep":               "\x80\x02" + strings.Repeat("(", 101) + ".",
		"many values":        "\x80\x02" + strings.Repeat("}", maxValues+1) + ".",
		"long text":          "\x80\x02X\xff\xff\xff\xffabc.",
		"endless name":       "\x80\x02c" + strings.Repeat("a", 2000),
		"called text":        "\x80\x02" + utf8("a") + ")R.",
		"set on a number":    "\x80\x02K\x01K\x01K\x01s.",
		"odd items":          "\x80\x02}(K\x01u.",
		"attributes":         "\x80\x02K\x01}b.",
		"pairs of nothing":   "\x80\x02ccollections\nOrderedDict\n](K\x01e\x85R.",
		"id of a module":     "\x80\x02(" + utf8("module") + "tQ.",
		"tensor of a number": "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x01))tR.",
		"laughs":             laughs + "h\x3bN s.",
		"a list in itself":   "\x80\x02}]q\x01h\x01aNs.",
		"a tuple as key":     "\x80\x02}" + ")q\x01h\x01h\x01\x86q\x02h\x02h\x02\x86Ns.",
	} {
		if _, err := parse(archive(t, pickle, nil)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestOtherContainers(t *testing.T) {
	t.Parallel()
	tar := make([]byte, 1024)
	copy(tar[257:], "ustar")
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("a/data.pkl") // deflated
	if err == nil {
		_, err = w.Write([]byte("\x80\x02}."))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	damaged := file(t, "zip")
	at := bytes.Index(damaged, binary.LittleEndian.AppendUint32(nil, 0x40b80000)) // 5.75 of conv.weight
	if at < 0 {
		t.Fatal("no 5.75 in the file")
	}
	damaged[at] ^= 1
	lying := file(t, "zip") // the last entry of the directory claims 2 GiB
	at = bytes.LastIndex(lying, []byte("PK\x01\x02"))
	copy(lying[at+20:], "\xff\xff\xff\x7f\xff\xff\xff\x7f")
	for name, c := range map[string]struct {
		b    []byte
		says string
	}{
		"tar":        {tar, "tar file"},
		"deflated":   {packed.Bytes(), "compressed"},
		"damaged":    {damaged, "checksum"},
		"lying":      {lying, "more bytes than the file"},
		"other zip":  {archive(t, "", nil)[:0], "neither"},
		"text":       {[]byte("hello, world"), "neither"},
		"big-endian": {bytes.Replace(file(t, "stream"), []byte("little_endianq\x02\x88"), []byte("little_endianq\x02\x89"), 1), "big-endian"},
	} {
		if _, err := parse(c.b); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zip", "stream"} {
		b := file(t, name)
		for n := range b {
			if _, err := parse(b[:n]); !errors.Is(err, ErrFormat) {
				t.Fatalf("%s: %d of %d bytes: error %v", name, n, len(b), err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"zip", "stream", "views", "views_stream", "types", "wrapped", "parameters"} {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := parse(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		n := 0
		for _, x := range w.Tensors {
			n += 4 * len(x.Data)
		}
		if n > int(limitOf(int64(len(b)))) {
			t.Fatalf("%d bytes of tensors from a file of %d", n, len(b))
		}
	})
}

// FuzzPickle changes the pickle alone: in a zip file every changed byte is noticed by
// the sums of its entries.
func FuzzPickle(f *testing.F) {
	f.Add([]byte(view(4, 1, []int64{3}, []int64{1})))
	f.Add([]byte("\x80\x02}" + utf8("a") + "Ns."))
	four := map[string][]byte{"0": make([]byte, 16)}
	f.Fuzz(func(t *testing.T, pickle []byte) {
		if _, err := parse(archive(t, string(pickle), four)); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}
