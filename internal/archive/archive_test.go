package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/fsx"
)

// put writes a file below dir and returns its path.
func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var content = map[string]string{"b-2/eval.json": "two", "b-10/eval.json": strings.Repeat("ten ", 3000), "a/deep/er.json": "", "top.csv": "x,y\n"}

// packed is an archive of content, made from a new folder.
func packed(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for name, text := range content {
		files[name] = put(t, dir, "from/"+name, text)
	}
	path := filepath.Join(dir, "kept.zip")
	if err := Write(path, files); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	path := packed(t)
	for name, text := range content {
		b, err := ReadFile(filepath.Join(path, name), 1<<20)
		if err != nil || string(b) != text {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		info, err := Stat(filepath.Join(path, name))
		if err != nil || info.Size() != int64(len(text)) || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if info, err := Stat(path); err != nil || !info.IsDir() {
		t.Errorf("the archive itself: %v, %v", info, err)
	}
	list, err := ReadDir(path)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if d := cmp.Diff([]string{Sums, "a", "b-10", "b-2", "top.csv"}, names); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for _, missing := range []string{"none.json", "b-2/eval.json/x", "b-2/../../x"} {
		if _, err := ReadFile(path+"/"+missing, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", missing, err)
		}
	}
	if _, err := ReadFile(filepath.Join(path, "b-2"), 10); !errors.Is(err, fsx.ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := ReadFile(filepath.Join(path, "b-10/eval.json"), 100); !errors.Is(err, fsx.ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	path := packed(t)
	dir := filepath.Dir(path)
	for pattern, want := range map[string][]string{
		"kept.zip/b-*":             {"kept.zip/b-10", "kept.zip/b-2"},
		"*.zip/b-?/*.json":         {"kept.zip/b-2/eval.json"},
		"kept.zip/*":               {"kept.zip/a", "kept.zip/b-10", "kept.zip/b-2", "kept.zip/top.csv"},
		"from/b-*":                 {"from/b-10", "from/b-2"},
		"kept.zip/none*":           nil,
		"*.zip":                    {"kept.zip"},
		`kept.zip/b\-2/eval.json`:  {"kept.zip/b-2/eval.json"},
		"from/top.csv/*":           nil,
		"none.zip/*":               nil,
		"from/../kept.zip/a/*/er*": {"kept.zip/a/deep/er.json"},
	} {
		got, err := Glob(dir + "/" + pattern)
		for i := range got {
			got[i], _ = filepath.Rel(dir, got[i])
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", pattern, err, d)
		}
	}
}

// The bytes are those of any other machine and day; sums are right; names are in order.
func TestSameFilesGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	first, second := packed(t), packed(t)
	if err := os.Chtimes(filepath.Join(filepath.Dir(second), "from/top.csv"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(first)
	b, err2 := os.ReadFile(second)
	if err != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Fatalf("two archives of the same files differ (%v, %v)", err, err2)
	}
	z, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File[1:] {
		names = append(names, f.Name)
		if f.ModifiedDate != 0 || f.ModifiedTime != 0 {
			t.Errorf("%s has a time", f.Name)
		}
	}
	if !slices.IsSorted(names) || len(names) != len(content) || z.File[0].Name != Sums {
		t.Errorf("names %q after %s", names, z.File[0].Name)
	}
	sums, err := ReadFile(filepath.Join(first, Sums), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range content {
		sum := sha256.Sum256([]byte(text))
		if line := hex.EncodeToString(sum[:]) + "  " + name + "\n"; !strings.Contains(string(sums), line) {
			t.Errorf("no line %q in\n%s", line, sums)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := put(t, dir, "x", "x")
	for _, name := range []string{"../x", "/x", "", Sums} {
		if err := Write(filepath.Join(dir, "out.zip"), map[string]string{name: file}); err == nil {
			t.Errorf("wrote a file named %q", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out.zip")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left an archive: %v", err)
	}
}

// made is an archive of the headers, each with one byte but for folders.
func made(t testing.TB, headers ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, h := range headers {
		f, err := w.CreateHeader(&h)
		if err == nil && !strings.HasSuffix(h.Name, "/") {
			_, err = f.Write([]byte("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func link() zip.FileHeader {
	h := zip.FileHeader{Name: "link"}
	h.SetMode(fs.ModeSymlink | 0o777)
	return h
}

// replaced changes all of one text in an archive.
func replaced(b []byte, old, by string) []byte {
	return bytes.ReplaceAll(b, []byte(old), []byte(by))
}

func bad(t testing.TB) map[string]struct {
	archive []byte
	want    string
} {
	t.Helper()
	type c = struct {
		archive []byte
		want    string
	}
	good := made(t, zip.FileHeader{Name: "a"})
	many := bytes.Clone(good)
	binary.LittleEndian.PutUint16(many[len(many)-12:], maxFiles)
	wide := bytes.Clone(good)
	binary.LittleEndian.PutUint32(wide[len(wide)-10:], maxDirectory+1)
	encrypted := bytes.Clone(good)
	encrypted[bytes.LastIndex(encrypted, []byte("PK\x01\x02"))+8] |= 1
	method := bytes.Clone(good)
	method[bytes.LastIndex(method, []byte("PK\x01\x02"))+10] = 12
	return map[string]c{
		"parent":      {made(t, zip.FileHeader{Name: "../x"}), `invalid entry name "../x"`},
		"parent deep": {made(t, zip.FileHeader{Name: "a/../../x"}), "must be a path inside the archive"},
		"root":        {made(t, zip.FileHeader{Name: "/etc/x"}), "must be a path inside the archive"},
		"backslash":   {made(t, zip.FileHeader{Name: `..\x`}), "must be a path inside the archive"},
		"empty name":  {made(t, zip.FileHeader{Name: ""}), "must be a path inside the archive"},
		"twice":       {made(t, zip.FileHeader{Name: "a"}, zip.FileHeader{Name: "a"}), `"a" is listed twice`},
		"both":        {made(t, zip.FileHeader{Name: "a"}, zip.FileHeader{Name: "a/b"}), `"a" is a file and a folder`},
		"link":        {made(t, link()), "neither a file nor a folder"},
		"encrypted":   {encrypted, "encrypted"},
		"method":      {method, "method 12"},
		"cut":         {good[:len(good)-5], "cut off"},
		"empty":       {nil, "cut off"},
		"text":        {[]byte("no archive"), "cut off"},
		"many":        {many, "too large"},
		"wide":        {wide, "too large"},
		"directory":   {replaced(good, "PK\x01\x02", "PK\x01\x03"), "zip"},
	}
}

func TestBadArchives(t *testing.T) {
	t.Parallel()
	for name, c := range bad(t) {
		path := put(t, t.TempDir(), "bad.zip", string(c.archive))
		for _, try := range []func() error{
			func() error { _, err := Stat(path); return err },
			func() error { _, err := ReadFile(filepath.Join(path, "a"), 10); return err },
			func() error { _, err := Glob(path + "/*"); return err },
		} {
			if err := try(); !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	}
}

// A file that is not what the list says is found as it is read.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("the content")) // to memory
	if f, err = w.CreateHeader(&zip.FileHeader{Name: "bomb", Method: zip.Deflate}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, zeros{}, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := put(t, t.TempDir(), "bad.zip", string(replaced(b.Bytes(), "the content", "the kontent")))
	if _, err := ReadFile(filepath.Join(path, "a"), 100); !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("changed content: %v", err)
	}
	if _, err := ReadFile(filepath.Join(path, "bomb"), 1<<40); !errors.Is(err, fsx.ErrTooLarge) {
		t.Errorf("a bomb: %v", err)
	}
	// The list says one byte less, or more, than there is.
	for _, by := range []int{-1, 1} {
		lied := bytes.Clone(b.Bytes())
		at := bytes.Index(lied, []byte("PK\x01\x02")) + 24
		binary.LittleEndian.PutUint32(lied[at:], uint32(len("the content")+by))
		path := put(t, t.TempDir(), "lied.zip", string(lied))
		if b, err := ReadFile(filepath.Join(path, "a"), 100); !errors.Is(err, ErrArchive) {
			t.Errorf("%+d bytes: %q, %v", by, b, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// An archive that was replaced is read again.
func TestReplacedArchive(t *testing.T) {
	t.Parallel()
	path := packed(t)
	if _, err := Stat(filepath.Join(path, "top.csv")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(path), "kept.zip", string(made(t, zip.FileHeader{Name: "other"})))
	if _, err := Stat(filepath.Join(path, "other")); err != nil {
		t.Error(err)
	}
	if _, err := Stat(filepath.Join(path, "top.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old file: %v", err)
	}
}

// Whatever the bytes are: an error, or files whose content has the size of the list.
func FuzzArchive(f *testing.F) {
	for _, c := range bad(f) {
		f.Add(c.archive)
	}
	good, err := os.ReadFile(packed(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		z, err := open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		path := put(t, dir, "fuzz.zip", string(b))
		opened.Delete(path) // within a clock's tick another may have the size and time
		for _, entry := range z.File {
			got, err := ReadFile(path+"/"+entry.Name, 1<<16)
			if err == nil && uint64(len(got)) != entry.UncompressedSize64 {
				t.Errorf("%q: %d bytes, listed are %d", entry.Name, len(got), entry.UncompressedSize64)
			}
		}
	})
}
