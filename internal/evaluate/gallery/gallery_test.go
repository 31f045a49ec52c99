package gallery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
	"tercet/internal/evaluate"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/scheduler"
	"tercet/internal/vectors"
)

func silent(string, int, int) {}

// written writes n rows of d numbers with many ties, and labels that begin at 0, to files.
func written(t *testing.T, dir, name string, n, d, classes int) (x, y string) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	v, l := make([]float32, n*d), make([]int32, n)
	for i := range v {
		v[i] = float32(1 + r.IntN(3))
	}
	for i := range l {
		l[i] = int32(r.IntN(classes))
	}
	x, y = filepath.Join(dir, name), filepath.Join(dir, name+".labels.npy")
	var b, lb bytes.Buffer
	if _, err := vectors.Write(&b, vectors.FormatOf(name), v, n, d); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteLabels(&lb, l); err != nil {
		t.Fatal(err)
	}
	for path, bytes := range map[string][]byte{x: b.Bytes(), y: lb.Bytes()} {
		if err := os.WriteFile(path, bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return x, y
}

// scored are options with several chunks of queries.
func scored(t *testing.T, classes int) Options {
	dir := t.TempDir()
	x, y := written(t, dir, "x.fbin", 300, 3, classes)
	return Options{
		Embeddings: x, Labels: npy.LabelFile{Path: y}, Out: filepath.Join(dir, "out", "eval.json"), Memory: 120_000, Program: "v1",
		Eval: record.EvalOptions{Ks: []int{1, 5}, Distance: "euclidean", Bootstrap: 100, PerQuery: true, PerClass: true},
	}
}

// text is the document without its time.
func docText(t *testing.T, e *evaluate.Evaluation) string {
	t.Helper()
	e.Doc.Cost.Seconds = 0
	b, err := json.Marshal(e.Doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func tasks(t *testing.T, o Options, n int) {
	t.Helper()
	for i := n; i >= 1; i-- { // in any order
		if _, err := Task(context.Background(), o, scheduler.Task{Index: i, Of: n}, silent); err != nil {
			t.Fatal(err)
		}
	}
}

func removeParts(t *testing.T, o Options) {
	t.Helper()
	list, _ := filepath.Glob(o.Out + ".part-*")
	for _, path := range list {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// One process that reads blocks, and any number of tasks, write the document of an
// evaluation in memory, to the byte.
func TestTasksAreOneProcess(t *testing.T) {
	t.Parallel()
	for _, classes := range []int{4, 40} {
		for _, distance := range []string{"euclidean", "cosine"} {
			o := scored(t, classes)
			o.Eval.Distance = distance
			memory, err := evaluate.Files(context.Background(), o.Embeddings, o.Labels, o.Eval, nil, silent)
			if err != nil {
				t.Fatal(err)
			}
			want := docText(t, memory)
			one, done, err := Evaluate(context.Background(), o, silent)
			if err != nil {
				t.Fatal(err)
			}
			if got := docText(t, one); got != want {
				t.Fatalf("%d classes, %s: blocks give\n%s\nwant\n%s", classes, distance, got, want)
			}
			if err := done(); err != nil {
				t.Error(err)
			}
			if list, _ := filepath.Glob(o.Out + "*"); list != nil {
				t.Errorf("%v is left", list)
			}
			for _, n := range []int{1, 3, 8} {
				tasks(t, o, n)
				merged, err := Merge(context.Background(), o, silent)
				if err != nil {
					t.Fatal(err)
				}
				if got := docText(t, merged); got != want {
					t.Errorf("%d classes, %s, %d tasks: other bytes", classes, distance, n)
				}
				removeParts(t, o)
			}
		}
	}
}

// Queries of a file are searched for in another: classes are the same by name, and the
// result is the same in one process and in tasks.
func TestQueries(t *testing.T) {
	t.Parallel()
	o := scored(t, 7)
	dir := filepath.Dir(o.Embeddings)
	q, ql := written(t, dir, "q.fvecs", 50, 3, 9)
	o.Queries, o.QueryLabels.Path = q, ql
	e, _, err := Evaluate(context.Background(), o, silent)
	if err != nil {
		t.Fatal(err)
	}
	if e.Doc.Searched != 50 || e.Doc.Gallery != 300 || e.Doc.Excluded == 0 || e.Doc.Source.Queries != q {
		t.Errorf("%d queries of %q, %d excluded, gallery %d", e.Doc.Searched, e.Doc.Source.Queries, e.Doc.Excluded, e.Doc.Gallery)
	}
	tasks(t, o, 3)
	m, err := Merge(context.Background(), o, silent)
	if err != nil || docText(t, m) != docText(t, e) {
		t.Errorf("merged, the result differs, error %v", err)
	}
	words, err := os.Create(filepath.Join(dir, "words.csv")) // the same labels, in another order of classes
	if err != nil {
		t.Fatal(err)
	}
	labels, _, _ := npy.ReadLabels(npy.LabelFile{Path: o.QueryLabels.Path})
	for _, y := range append([]int32{}, labels...) {
		fmt.Fprintln(words, y)
	}
	words.Close()
	o.QueryLabels.Path = words.Name()
	again, _, err := Evaluate(context.Background(), o, silent)
	if err != nil || !slices.Equal(again.Retrieval.PerQuery, e.Retrieval.PerQuery) {
		t.Errorf("labels as text give other values, error %v", err)
	}
}

// Work that was stopped continues, whatever of its file reached the disk: what is cut off
// or damaged is counted again.
func TestResume(t *testing.T) {
	t.Parallel()
	o := scored(t, 40)
	o.Memory, o.SaveEvery = 50_000, 1
	whole, _, err := Evaluate(context.Background(), o, silent)
	if err != nil {
		t.Fatal(err)
	}
	want := docText(t, whole)
	path := o.Out + ".partial"
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.IndexByte(kept, '\n')
	for _, cut := range []int{0, 1, line, line + 1, line + 5, line + 17, len(kept) / 2, len(kept) - 1} {
		if err := os.WriteFile(path, kept[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		again, _, err := Evaluate(context.Background(), o, silent)
		if err != nil || docText(t, again) != want {
			t.Fatalf("cut at %d of %d: other bytes, error %v", cut, len(kept), err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, kept) {
			t.Errorf("cut at %d: the file is not that of undisturbed work", cut)
		}
	}
	damaged := slices.Clone(kept)
	damaged[len(kept)-9] ^= 4
	_ = os.WriteFile(path, damaged, 0o644)
	if again, _, err := Evaluate(context.Background(), o, silent); err != nil || docText(t, again) != want {
		t.Errorf("damaged: other bytes, error %v", err)
	}
	for _, hurt := range []func(now []byte) []byte{
		func(now []byte) []byte { return now },
		func(now []byte) []byte { return now[:len(now)-4] },
		func(now []byte) []byte { return nil },
		func(now []byte) []byte { now[len(now)-2] ^= 1; return now },
	} {
		_ = os.Remove(path)
		interrupted(t, o)
		now, err := os.ReadFile(path + ".now")
		if err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(path+".now", hurt(now), 0o644)
		if again, _, err := Evaluate(context.Background(), o, silent); err != nil || docText(t, again) != want {
			t.Errorf("resumed within a part of the queries: other bytes, error %v", err)
		}
		if _, err := os.Stat(path + ".now"); err == nil {
			t.Error("the file of unfinished queries is left")
		}
	}
}

// interrupted begins an evaluation and stops it within the first part of the queries.
func interrupted(t *testing.T, o Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	_, _, err := Evaluate(ctx, o, func(stage string, _, _ int) {
		if stage == "retrieval" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the same command continues") {
		t.Errorf("canceled: error %v", err)
	}
}

// What is missing, unfinished or of other data or settings is never merged.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	o := scored(t, 40)
	refused := func(kind error, say string) {
		t.Helper()
		_, err := Merge(context.Background(), o, silent)
		var usage *option.Error
		switch {
		case err == nil || !strings.Contains(err.Error(), say):
			t.Errorf("error %v, want %q", err, say)
		case kind == nil && !errors.As(err, &usage), kind != nil && !errors.Is(err, kind):
			t.Errorf("error %v is of another kind", err)
		}
	}
	refused(fault.ErrMissing, "no task results to merge")
	tasks(t, o, 3)
	two := run.PartPath(o.Out, scheduler.Task{Index: 2, Of: 3})
	kept, _ := os.ReadFile(two)
	put := func(b []byte) { _ = os.WriteFile(two, b, 0o644) }
	put(kept[:len(kept)-3])
	refused(fault.ErrMissing, "part-2-of-3 is unfinished")
	put(kept[:20])
	refused(fault.ErrFormat, "cut off in its first line")
	put([]byte("no header\n"))
	refused(fault.ErrFormat, "is not a file of unfinished work")
	for say, old := range map[string][2]string{
		"distance: cosine there, euclidean here": {`"euclidean"`, `"cosine"`},
		"k of recall@k: [1 6] there":             {`[1 5]`, `[1 6]`},
		"data (SHA-256)":                         {`(SHA-256)","value":"`, `(SHA-256)","value":"0`},
		"kernel level":                           {`"kernel level","value":"`, `"kernel level","value":"x`},
		"version of the program: v2 there":       {`"v1"`, `"v2"`},
		"task: 1 there, 2 here":                  {`"task":2`, `"task":1`},
	} {
		put(bytes.Replace(kept, []byte(old[0]), []byte(old[1]), 1))
		refused(nil, say)
	}
	os.Remove(two)
	refused(fault.ErrMissing, "eval.json lacks the parts of 1 task: run 2/3")
	tasks(t, o, 2)
	refused(nil, "parts of 2 and of 3 tasks")
	if _, err := Task(context.Background(), o, scheduler.Task{Index: 1, Of: 600}, silent); err == nil || !strings.Contains(err.Error(), "at most 512") {
		t.Errorf("600 tasks: error %v", err)
	}
	other := o
	other.Eval.Ks = []int{2}
	if _, err := Task(context.Background(), other, scheduler.Task{Index: 1, Of: 3}, silent); err == nil || !strings.Contains(err.Error(), "work of another computation") {
		t.Errorf("a task of other settings: error %v", err)
	}
}
