package store

import (
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/record"
)

const (
	testItems = 23
	testBatch = 4
	testDim   = 3
)

func testItem(i int) Item {
	it := Item{Path: fmt.Sprintf("a,%d \"x\".png", i), Label: fmt.Sprintf("class %d", i/5), Role: table.Roles()[1+i%3]}
	if i%4 == 0 {
		it.Sequence, it.Box = "s,1", image.Rect(i, 1, i+5, 9)
	}
	return it
}

func items() (out []Item) {
	for i := range testItems {
		out = append(out, testItem(i))
	}
	return out
}

func isBroken(i int) bool { return i == 5 || i == 16 || i >= 20 && i < 23 }

func value(i, k int) float32 { return float32(i) + float32(k)/7 }

// fill adds batches until there are no more, or stop items are dealt with.
func fill(t *testing.T, w *Writer, stop int) {
	t.Helper()
	for lo := w.Done(); lo < min(testItems, stop); lo = w.Done() {
		var rows []float32
		var sizes [][2]int
		var broken []Broken
		m := min(testBatch, testItems-lo)
		for i := lo; i < lo+m; i++ {
			if isBroken(i) {
				broken = append(broken, Broken{i, "torn"})
				continue
			}
			for k := range testDim {
				rows = append(rows, value(i, k))
			}
			sizes = append(sizes, [2]int{i + 10, i + 20})
		}
		if err := w.Add(m, rows, sizes, broken); err != nil {
			t.Fatal(err)
		}
	}
}

func begin(t *testing.T, dir string) *Writer {
	t.Helper()
	w, err := Begin(dir, "job", testDim, false)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func document() *record.Embed {
	return &record.Embed{Schema: record.EmbedSchema, Network: record.EmbedNetwork{Dim: testDim}, Job: "job", Format: "f32"}
}

// end brings an embedding to its end and returns its files.
func end(t *testing.T, dir string, l Layout) map[string]string {
	t.Helper()
	w := begin(t, dir)
	fill(t, w, testItems)
	if err := w.Finish(items(), document(), l); err != nil {
		t.Fatal(err)
	}
	return contents(t, dir)
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func TestWrittenIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		layout Layout
		files  []string
	}{
		{Layout{}, []string{"embeddings.npy"}},
		{Layout{Part: 18}, []string{"embeddings.npy"}},
		{Layout{Part: 7}, []string{"embeddings_00000.npy", "embeddings_00001.npy", "embeddings_00002.npy"}},
		{Layout{Part: 7, Half: true}, []string{"embeddings_00000.npy", "embeddings_00001.npy", "embeddings_00002.npy"}},
	} {
		dir := t.TempDir()
		got := end(t, dir, c.layout)
		for _, name := range append(c.files, "items.csv", "embed.json") {
			if _, ok := got[name]; !ok || len(got) != len(c.files)+2 {
				t.Errorf("%+v: %s among %d files: %v", c.layout, name, len(got), ok)
			}
		}
		f, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		row := 0
		for i, it := range items() {
			if isBroken(i) {
				continue
			}
			it.Width, it.Height = i+10, i+20
			if f.Items[row] != it || f.Classes[f.Labels[row]] != it.Label {
				t.Errorf("row %d: %+v of %s, want %+v", row, f.Items[row], f.Classes[f.Labels[row]], it)
			}
			for k := range testDim {
				if v := f.X[row*testDim+k]; v != value(i, k) && !(c.layout.Half && math.Abs(float64(v-value(i, k))) < 0.01) {
					t.Errorf("row %d column %d: %v, want %v", row, k, v, value(i, k))
				}
			}
			row++
		}
		if f.N != row || len(f.Doc.Broken) != testItems-row || f.Doc.Broken[1].Path != testItem(16).Path || f.Doc.Source.Items != row || f.Doc.Source.Classes != 4 {
			t.Errorf("%d rows, want %d; %+v", f.N, row, f.Doc)
		}
	}
}

// Whatever a killed process leaves of journal and rows, the embedding ends with the same
// bytes.
func TestResumedGivesTheSameBytes(t *testing.T) {
	flushEvery = 0
	t.Cleanup(func() { flushEvery = time.Second })
	want := end(t, t.TempDir(), Layout{Part: 7})
	whole := t.TempDir()
	w := begin(t, whole)
	fill(t, w, testItems)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	left := contents(t, whole)
	journal, rows := left[journalName], left[rowsName]
	for cut := 0; cut <= len(journal); cut += 1 + len(journal)/25 {
		for _, more := range []string{rows, rows[:min(len(rows), cut*len(rows)/len(journal))]} { // rows are ahead of the journal, or lost
			dir := t.TempDir()
			for name, text := range map[string]string{journalName: journal[:cut], rowsName: more} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := end(t, dir, Layout{Part: 7})
			for name, text := range want {
				if got[name] != text || len(got) != len(want) {
					t.Fatalf("journal cut at %d: %s differs among %d files", cut, name, len(got))
				}
			}
		}
	}
	// An unfinished one is no result.
	dir := t.TempDir()
	w = begin(t, dir)
	fill(t, w, 8)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); !errors.Is(err, fault.ErrMissing) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("unfinished: %v", err)
	}
	if w = begin(t, dir); w.Done() != 8 || w.Kept() != 7 {
		t.Errorf("resumed at %d items and %d rows", w.Done(), w.Kept())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(dir, "another job", testDim, false); !errors.Is(err, ErrOther) {
		t.Errorf("another job: %v", err)
	}
	if w, err := Begin(dir, "another job", testDim, true); err != nil || w.Done() != 0 || w.Close() != nil {
		t.Errorf("replaced: %v", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	w := begin(t, t.TempDir())
	defer w.Close()
	nan := float32(math.NaN())
	if err := w.Add(1, []float32{1, 2, nan}, [][2]int{{1, 1}}, nil); err == nil || !strings.Contains(err.Error(), "row 0 of the embeddings has the value NaN in column 2") {
		t.Errorf("%v", err)
	}
	w = begin(t, t.TempDir())
	defer w.Close()
	if err := w.Add(1, []float32{1}, [][2]int{{1, 1}}, nil); err == nil {
		t.Error("a row is too short")
	}
	if err := w.Add(2, nil, nil, []Broken{{0, "torn"}, {1, "torn"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(items()[:2], document(), Layout{}); !errors.Is(err, fault.ErrFormat) || !strings.Contains(err.Error(), "none of the 2 images could be read") {
		t.Errorf("%v", err)
	}
	w = begin(t, t.TempDir())
	defer w.Close()
	if err := w.Add(1, []float32{1, 2, 70000}, [][2]int{{1, 1}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(items()[:1], document(), Layout{Half: true}); !errors.Is(err, fault.ErrUnfit) || !strings.Contains(err.Error(), "row 0 of the embeddings has the value 70000, beyond float16") {
		t.Errorf("%v", err)
	}
}

// Files that are not those that were written.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	files := end(t, good, Layout{})
	edit := func(name, from, to string) map[string]string {
		if !strings.Contains(files[name], from) {
			t.Fatalf("%s has no %q", name, from)
		}
		return map[string]string{name: strings.Replace(files[name], from, to, 1)}
	}
	for want, change := range map[string]map[string]string{
		"has no embed.json":              {"embed.json": ""},
		"embeddings.npy cannot be read":  {"embeddings.npy": ""},
		"embeddings.npy is not the file": {"embeddings.npy": files["embeddings.npy"][:200]},
		"items.csv is not the file":      edit("items.csv", "class 1", "class 2"),
		"does not match its digest":      edit("embed.json", "f32", "f64"),
	} {
		dir := t.TempDir()
		for name, text := range files {
			if other, ok := change[name]; ok {
				text = other
			}
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestItemsRefused(t *testing.T) {
	t.Parallel()
	head := strings.Join(columns[:len(columns)-1], ",") + "\n"
	for want, text := range map[string]string{
		":1: the columns are":     "path,row\n",
		"wrong number of fields":  head + "0,a\n",
		":2: row \"1\" in":        head + "1,a,,query,,,1,1\n",
		":2: role \"\"":           head + "0,a,,,,,1,1\n",
		":2: size \"-1\"":         head + "0,a,,query,,,-1,1\n",
		":2: box \"1 2 3\"":       head + "0,a,,query,,1 2 3,1,1\n",
		":2: box \"5 5 1 1 \" is": head + "0,a,,query,,5 5 1 1 ,1,1\n",
	} {
		path := filepath.Join(t.TempDir(), "items.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadList(path); !errors.Is(err, fault.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestLabeled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	end(t, dir, Layout{})
	f, err := Read(dir)
	if err != nil || f.Labeled() != nil {
		t.Fatal(err, f.Labeled())
	}
	f.Labels[2] = -1
	if err := f.Labeled(); !errors.Is(err, fault.ErrUnfit) || !strings.Contains(err.Error(), "row 2, a,2") {
		t.Errorf("%v", err)
	}
	f.Labels = nil
	if err := f.Labeled(); !errors.Is(err, fault.ErrUnfit) || !strings.Contains(err.Error(), "no image has a label") {
		t.Errorf("%v", err)
	}
}
