package watch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/rundir/rundirtest"
)

func TestGraph(t *testing.T) {
	s := render.Series{X: []float64{0, 1, 2, 3}, Y: []float64{0, 1, 2, 3}}
	if got := graph(s, 4, 1); got[0] != "▁▃▅█" {
		t.Errorf("%q", got)
	}
	if got := graph(s, 4, 2); got[0] != "  ▃█" || got[1] != "▁▆██" {
		t.Errorf("%q", got)
	}
	if got := graph(render.Series{X: []float64{0, 10, 20}, Y: []float64{0, 7, 0}}, 15, 1); got[0] != "▁▂▃▄▅▆▇█▇▆▅▄▃▂▁" {
		t.Errorf("%q", got)
	}
	if got := graph(render.Series{X: []float64{5}, Y: []float64{2}}, 3, 1); got[0] != "███" {
		t.Errorf("%q", got)
	}
}

// A run that is trained, then killed and resumed by another process, then finished.
func TestWatchWithoutATerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(1, "running", 0))
	rundirtest.Put(t, dir, "lock", "")
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsx.Lock(lock); err != nil {
		t.Fatal(err)
	}
	const begin = `{"event":"start","step":0}
{"event":"step","step":50,"loss":0.5,"seconds":1,"images_per_s":100}
{"event":"epoch","step":50,"epoch":1,"loss":0.75}
{"event":"eval","step":50,"epoch":1,"metrics":{"recall@1":0.25},"split":"test","best":true}
`
	rundirtest.Put(t, dir, "events.jsonl", begin+`{"event":"step","step":6`)
	var out, notes bytes.Buffer
	v := view{s: base.NewStreams(nil, &out, &notes), runs: map[string]*followed{}}
	look := func(want string, busy bool) {
		t.Helper()
		out.Reset()
		got, err := v.look([]string{dir})
		if err != nil || got != busy || out.String() != want {
			t.Errorf("busy %v, %v\n%swant\n%s", got, err, out.String(), want)
		}
	}
	look("a: start at step 0\na: step 50 of 100, epoch 1, loss 0.75, 100 images/s\na: step 50 of 100, test images: recall@1 0.25 (best so far)\n", true)
	look("", true)
	lock.Close()
	look("a: dead at step 50 of 100\n", false)
	if lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := fsx.Lock(lock); err != nil {
		t.Fatal(err)
	}
	rundirtest.Put(t, dir, "new", begin+`{"event":"resume","step":50}`+"\n")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "events.jsonl")); err != nil {
		t.Fatal(err)
	}
	look("a: resume at step 50\na: training at step 50 of 100\n", true)
	if n := len(v.runs[dir].steps.X); n != 1 {
		t.Errorf("%d points of the loss", n)
	}
	rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(1, "finished", 100))
	look("a: finished at step 100 of 100\n", false)
	for _, line := range append(v.large(v.runs[dir], 60, 24), v.small(v.runs[dir], 60)...) {
		if len([]rune(cut(line, 60))) >= 60 {
			t.Errorf("too wide: %q", line)
		}
	}
}

func TestWatchEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(1, "finished", 100))
	var out bytes.Buffer
	s := base.NewStreams(nil, &out, &bytes.Buffer{})
	if err := watch(context.Background(), s, options{every: time.Millisecond}, []string{dir}); err != nil || out.String() != "a: finished at step 100 of 100\n" {
		t.Errorf("%v %s", err, out.String())
	}
	if err := watch(context.Background(), s, options{every: time.Millisecond}, []string{filepath.Join(dir, "none")}); base.ExitCode(err) != base.ExitData {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := watch(ctx, s, options{every: time.Hour}, []string{dir}); err != nil {
		t.Error(err)
	}
}

// A run that has ended has its status alone; so has one in training, with --once.
func TestWatchDoesNotRepeatWhatHasEnded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(1, "finished", 100))
	rundirtest.Put(t, dir, "events.jsonl", `{"event":"start","step":0}`+"\n"+`{"event":"epoch","step":100,"epoch":1,"loss":0.75}`+"\n")
	var out bytes.Buffer
	s := base.NewStreams(nil, &out, &bytes.Buffer{})
	if err := watch(context.Background(), s, options{every: time.Millisecond}, []string{dir}); err != nil || out.String() != "a: finished at step 100 of 100\n" {
		t.Errorf("%v %s", err, out.String())
	}
	rundirtest.Put(t, dir, "manifest.json", rundirtest.Manifest(1, "running", 100))
	rundirtest.Put(t, dir, "lock", "")
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := fsx.Lock(lock); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := watch(context.Background(), s, options{every: time.Hour, once: true}, []string{dir}); err != nil || out.String() != "a  training  step 100 of 100 (100 %)\n" {
		t.Errorf("%v %s", err, out.String())
	}
}

// One run that cannot be read is a status, all of them are an error.
func TestWatchOfUnreadableRuns(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b"} {
		rundirtest.Put(t, filepath.Join(root, name), "manifest.json", rundirtest.Manifest(1, "finished", 100))
		rundirtest.Put(t, filepath.Join(root, name, "events.jsonl"), "x", "")
	}
	var out bytes.Buffer
	s := base.NewStreams(nil, &out, &bytes.Buffer{})
	err := watch(context.Background(), s, options{every: time.Millisecond}, []string{root})
	if base.ExitCode(err) != base.ExitData || !strings.HasSuffix(err.Error(), "events.jsonl is a folder; give a regular file; none of the 2 runs can be read") {
		t.Error(err)
	}
	rundirtest.Put(t, filepath.Join(root, "c"), "manifest.json", rundirtest.Manifest(1, "finished", 100))
	rundirtest.Put(t, filepath.Join(root, "d"), "manifest.json", "")
	out.Reset()
	if err := watch(context.Background(), s, options{every: time.Millisecond}, []string{root}); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"a: unreadable at step 100 of 100: ", "\nc: finished at step 100 of 100\n", "\nd: unreadable: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestNamesStayInTheirLine(t *testing.T) {
	if f := follow("runs/a\nb"); f.name != `a\nb` || f.Dir != "runs/a\nb" {
		t.Errorf("%q in %q", f.name, f.Dir)
	}
}

// Runs of one name in different folders are shown with their paths.
func TestRunsOfOneName(t *testing.T) {
	v := view{runs: map[string]*followed{}}
	for _, dir := range []string{"a/x", "b/y", "b/x"} {
		v.runs[dir] = follow(dir)
		v.name(v.runs[dir])
	}
	if a, y, b := v.runs["a/x"].name, v.runs["b/y"].name, v.runs["b/x"].name; a != "a/x" || y != "y" || b != "b/x" {
		t.Errorf("%s %s %s", a, y, b)
	}
}

// A terminal has fewer lines than there are runs: those in training are drawn, the others are
// counted. A second picture begins where the first one did, also in a narrower terminal.
func TestPictureFitsTheTerminal(t *testing.T) {
	v := view{s: base.NewStreams(nil, &bytes.Buffer{}, &bytes.Buffer{}), runs: map[string]*followed{}}
	for i := range 30 {
		f := follow(fmt.Sprintf("runs/r%02d", i))
		f.Status, f.Of = record.Finished, 10
		if i == 25 {
			f.Status = printed.InTraining
		}
		v.runs[f.Dir], v.order = f, append(v.order, f.Dir)
	}
	for height := range 40 {
		got := v.picture(80, height)
		if n := strings.Count(got, "\n"); n > max(1, height-1) || n < min(61, height-2) {
			t.Errorf("%d lines in a terminal of %d", n, height)
		}
		if !strings.Contains(got, "r25  training") {
			t.Errorf("the run in training is not drawn in a terminal of %d lines", height)
		}
	}
	if got := v.picture(80, 12); !strings.Contains(got, "\nand 25 more: 25 finished\x1b[K\n\x1b[J") {
		t.Errorf("%q", got)
	}
	if got := v.picture(20, 12); !strings.HasPrefix(got, fmt.Sprintf("\x1b[%dA\r", 5*(2+1)+2)) {
		t.Errorf("%q", got)
	}
	v.order = v.order[:1]
	for height := range 40 {
		f := v.runs[v.order[0]]
		f.steps, f.score, f.scoreName = render.Series{X: []float64{0, 1}, Y: []float64{2, 1}}, render.Series{X: []float64{0, 1}, Y: []float64{0, 1}}, "recall@1"
		if n := strings.Count(v.picture(80, height), "\n"); n > max(1, height-1) || height >= 24 && n != 21 {
			t.Errorf("one run: %d lines in a terminal of %d", n, height)
		}
	}
}
