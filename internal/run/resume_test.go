package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/safetensors"
	"tercet/internal/testutil"
	"tercet/internal/train"
)

// killed trains r until the given step and ends it there without a word, as a kill does.
func killed(t *testing.T, r *Run, step int) {
	t.Helper()
	defer func() {
		if recover() != "killed" {
			t.Fatal("the run was not killed")
		}
	}()
	r.Train(context.Background(), Watch{Step: func(s *train.State, _ int, _ float64) {
		if s.Step >= step {
			panic("killed")
		}
	}})
}

// resumed opens the run of dir again and trains it to its end.
func resumed(t *testing.T, dir, from string) (*Run, []string) {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.From = from
	var notes []string
	if _, err := r.Train(context.Background(), noting(&notes)); err != nil {
		t.Fatal(err)
	}
	return r, notes
}

func noting(notes *[]string) Watch {
	return Watch{Note: func(format string, args ...any) { *notes = append(*notes, fmt.Sprintf(format, args...)) }}
}

// undated takes out of a log what differs between a resumed run and an undisturbed one:
// as docs/run-directory.md says, the events "resume" and the keys seconds and images_per_s.
func undated(t *testing.T, log string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(log) {
		var e struct {
			Kind string `json:"event"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Kind != "resume" {
			out.WriteString(regexp.MustCompile(`,"(seconds|images_per_s)":[0-9.e+-]+`).ReplaceAllString(line, ""))
		}
	}
	return out.String()
}

// unsealed takes the digest out of a document, as a user may who has changed it.
func unsealed(text string) string {
	return regexp.MustCompile(`,\s*"digest": "[0-9a-f]{64}"`).ReplaceAllString(text, "")
}

// edited changes a checkpoint as a version without digests would have written it.
func edited(t *testing.T, path string, change func(*safetensors.File)) {
	t.Helper()
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	delete(f.Meta, "digest")
	f.Meta["format"] = "tercet.checkpoint/1"
	change(f)
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	testutil.Write(t, path, b.String())
}

// flip changes one bit of a file, in its last byte but n.
func flip(t *testing.T, path string, n int) {
	t.Helper()
	b := []byte(testutil.Read(t, path))
	b[len(b)-1-n] ^= 4
	testutil.Write(t, path, string(b))
}

func TestTheLogOfAResumedRunIsTheUndisturbedOne(t *testing.T) {
	for name, sets := range map[string][]string{
		"none": {"train.log_every=5"},
		"hm":   {"train.log_every=5", "defense=hm", "defense.pgd.steps=2"},
	} {
		want := undated(t, testutil.Read(t, trained(t, t.TempDir(), sets...).Path("events.jsonl")))
		r := create(t, t.TempDir(), sets...)
		for _, end := range []func(){
			func() { killed(t, r, 2) },       // before there is a checkpoint
			func() { killed(t, r, 7) },       // behind that of step 4
			func() { interrupted(t, r, 11) }, // which is logged as a stop
			func() { killed(t, r, 14) },
		} {
			end()
			r.Close()
			var err error
			if r, err = Open(r.Dir); err != nil {
				t.Fatal(err)
			}
		}
		r, _ = resumed(t, r.Dir, "")
		log := testutil.Read(t, r.Path("events.jsonl"))
		if d := cmp.Diff(want, undated(t, log)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if n := strings.Count(log, `"event":"resume"`); n != 3 {
			t.Errorf("%s: %d resume events, want 3", name, n)
		}
	}
}

// Killed after the last event and before the manifest says finished, the run is not
// logged as ended twice.
func TestKilledAtTheVeryEnd(t *testing.T) {
	r := trained(t, t.TempDir())
	want := undated(t, testutil.Read(t, r.Path("events.jsonl")))
	r.Manifest.Status = record.Running
	if err := r.SaveManifest(); err != nil {
		t.Fatal(err)
	}
	r, _ = resumed(t, r.Dir, "")
	if d := cmp.Diff(want, undated(t, testutil.Read(t, r.Path("events.jsonl")))); d != "" || r.Manifest.Status != record.Finished {
		t.Errorf("%s %s", r.Manifest.Status, d)
	}
}

func TestADamagedCheckpointCostsOneInterval(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	for _, from := range []string{"previous", "best", Start} {
		r := create(t, t.TempDir())
		killed(t, r, 15) // checkpoints at 4, 8, 12, the best one at the epoch's end, 9
		r.Close()
		flip(t, r.Last(), 77)
		before := testutil.Snapshot(t, r.Dir)
		r, err := Open(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Train(context.Background(), Watch{})
		var offer *CheckpointError
		if !errors.As(err, &offer) || !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), "digest") {
			t.Fatalf("error %v", err)
		}
		if d := cmp.Diff([]Offer{{"previous", 8}, {"best", 9}}, offer.Offers); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
			t.Error(d)
		}
		if _, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet); !errors.As(err, &offer) {
			t.Errorf("evaluated: %v", err)
		}
		r, _ = resumed(t, r.Dir, from)
		if checkpoints(t, r) != want {
			t.Errorf("from %s: other bytes", from)
		}
	}
	// A damaged last checkpoint of a finished run, too.
	r := trained(t, t.TempDir())
	flip(t, r.Last(), 0)
	if r, _ = resumed(t, r.Dir, "previous"); checkpoints(t, r) != want || r.Manifest.Status != record.Finished {
		t.Errorf("%s; other bytes: %v", r.Manifest.Status, checkpoints(t, r) != want)
	}
}

// What an impossible state makes of a run is an error of its checkpoint, never the end
// of the run.
func TestAnImpossibleStateDoesNotMarkTheRun(t *testing.T) {
	r := create(t, t.TempDir())
	interrupted(t, r, 7)
	good := testutil.Read(t, r.Last())
	for name, change := range map[string]func(*safetensors.File){
		"a weight that is no number": func(f *safetensors.File) { f.Tensors[0].Data[3] /= 0 },
		"a step behind the end": func(f *safetensors.File) {
			f.Meta["state"] = strings.Replace(f.Meta["state"], `"step":7`, `"step":1000000000000`, 1)
		},
		"a step below 0": func(f *safetensors.File) {
			f.Meta["state"] = strings.Replace(f.Meta["state"], `"step":7`, `"step":-1`, 1)
		},
		"fewer steps of the optimizer": func(f *safetensors.File) { f.Meta["optim.steps"] = "0" },
	} {
		testutil.Write(t, r.Last(), good)
		edited(t, r.Last(), change)
		before := testutil.Snapshot(t, r.Dir)
		if _, err := r.Train(context.Background(), Watch{}); !errors.Is(err, train.ErrCheckpoint) {
			t.Errorf("%s: error %v", name, err)
		}
		if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestACheckpointOfAnOlderVersion(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	r := create(t, t.TempDir())
	interrupted(t, r, 7)
	edited(t, r.Last(), func(f *safetensors.File) {
		f.Meta["state"] = regexp.MustCompile(`,"window":\{[^}]*\}`).ReplaceAllString(f.Meta["state"], "")
	})
	r, notes := resumed(t, r.Dir, "")
	if checkpoints(t, r) != want || !strings.Contains(strings.Join(notes, "\n"), "has no digest") {
		t.Errorf("other bytes, or no note in %q", notes)
	}
}

// A weight of a checkpoint without a digest may be damaged and finite: the loss that it
// makes is no end of the run, which resumes from the good checkpoint.
func TestDamageWithoutADigestDoesNotEndTheRun(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	r := create(t, t.TempDir())
	interrupted(t, r, 7)
	good := testutil.Read(t, r.Last())
	edited(t, r.Last(), func(f *safetensors.File) {
		for i := range f.Tensors[0].Data {
			f.Tensors[0].Data[i] = 3e38
		}
	})
	_, err := r.Train(context.Background(), Watch{})
	if m := r.Manifest; err == nil || m.Status != record.Failed || !strings.Contains(m.Message, "has no digest") {
		t.Fatalf("error %v, status %s, %q", err, m.Status, m.Message)
	}
	r.Close()
	testutil.Write(t, r.Last(), good)
	if r, _ = resumed(t, r.Dir, ""); checkpoints(t, r) != want {
		t.Error("other bytes")
	}
}

func TestAnEmptiedLogIsNoticedFromAnEarlierCheckpoint(t *testing.T) {
	r := create(t, t.TempDir())
	interrupted(t, r, 11)
	r.Close()
	testutil.Write(t, r.Path("events.jsonl"), "")
	if _, notes := resumed(t, r.Dir, "previous"); !strings.Contains(strings.Join(notes, "\n"), "events.jsonl was changed since the run wrote it: it has no event up to step") {
		t.Errorf("notes %q", notes)
	}
}

func TestAMissingCheckpoint(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	r := create(t, t.TempDir())
	killed(t, r, 3) // before the first checkpoint: this is no loss
	r.Close()
	r, err := Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	killed(t, r, 10)
	r.Close()
	if err := os.Remove(r.Last()); err != nil {
		t.Fatal(err)
	}
	before := testutil.Snapshot(t, r.Dir)
	if r, err = Open(r.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Train(context.Background(), Watch{}); !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), "is missing, though it existed before; what can be used is checkpoints/previous.safetensors at step 4") {
		t.Errorf("error %v", err)
	}
	if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
		t.Error(d)
	}
	if r, _ = resumed(t, r.Dir, "previous"); checkpoints(t, r) != want {
		t.Error("other bytes")
	}
	r = create(t, t.TempDir())
	killed(t, r, 6)
	r.Close()
	os.Remove(r.Last())
	if _, err := r.Train(context.Background(), Watch{}); !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), "no other checkpoint") {
		t.Errorf("error %v", err)
	}
	if r, _ = resumed(t, r.Dir, Start); checkpoints(t, r) != want {
		t.Error("other bytes")
	}
}

func TestFinishedIsCheckedAgainstTheSteps(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	r := create(t, t.TempDir())
	interrupted(t, r, 7)
	text := strings.Replace(testutil.Read(t, r.Path("manifest.json")), `"interrupted"`, `"finished"`, 1)
	testutil.Write(t, r.Path("manifest.json"), text)
	if _, err := Open(r.Dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "does not match its digest") {
		t.Errorf("a manifest changed by hand: %v", err)
	}
	testutil.Write(t, r.Path("manifest.json"), unsealed(text))
	r, notes := resumed(t, r.Dir, "")
	if checkpoints(t, r) != want || !strings.Contains(strings.Join(notes, "\n"), "the manifest says finished, but the run is at step 7 of 18") {
		t.Errorf("other bytes, or no note in %q", notes)
	}
	// One that was stopped early is complete.
	r = trained(t, t.TempDir(), "train.epochs=9", "train.early_stop={metric: retrieval.recall@1, patience: 1, min_delta: 1}", "data.split.validation=0.25")
	if r.Manifest.Steps >= r.Manifest.Of {
		t.Fatalf("not stopped early: %+v", r.Manifest)
	}
	r, err := Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := r.Train(context.Background(), Watch{}); !done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
}

// A finished run is one whose weights are there, whole and of its end.
func TestAFinishedRunIsVerified(t *testing.T) {
	r := trained(t, t.TempDir())
	want, last := checkpoints(t, r), testutil.Read(t, r.Last())
	manifest := testutil.Read(t, r.Path("manifest.json"))
	fit := fitted(t, t.TempDir(), tinytest.FittedText)
	lastFit := testutil.Read(t, fit.Last())
	for name, c := range map[string]struct {
		r     *Run
		spoil func(r *Run)
		want  string
	}{
		"missing": {r, func(r *Run) { os.Remove(r.Last()) }, "the manifest says finished at step 18 of 18: unusable checkpoint: " + r.Last() + " is missing; what can be used is checkpoints/previous.safetensors at step 16"},
		"damaged": {r, func(r *Run) { flip(t, r.Last(), 99) }, "digest"},
		"older":   {r, func(r *Run) { testutil.Write(t, r.Last(), testutil.Read(t, r.Previous())) }, "last.safetensors was saved at step 16; what can be used"},
		"another manifest": {r, func(r *Run) {
			testutil.Write(t, r.Path("manifest.json"), strings.Replace(unsealed(manifest), `"steps": 18`, `"steps": 30`, 1))
		}, "last.safetensors was saved at step 18"},
		"of a fit": {fit, func(r *Run) { flip(t, r.Last(), 9) }, "digest"},
		"no fit":   {fit, func(r *Run) { os.Remove(r.Last()) }, "is missing"},
	} {
		c.spoil(c.r)
		before := testutil.Snapshot(t, c.r.Dir)
		again, err := Open(c.r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var offer *CheckpointError
		if done, err := again.Train(context.Background(), Watch{}); done || !errors.As(err, &offer) || !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: done %v, error %v", name, done, err)
		}
		again.Close()
		if d := cmp.Diff(before, testutil.Snapshot(t, c.r.Dir)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		testutil.Write(t, r.Last(), last)
		testutil.Write(t, fit.Last(), lastFit)
		testutil.Write(t, r.Path("manifest.json"), manifest)
	}
	os.Remove(r.Last())
	if r, _ = resumed(t, r.Dir, "previous"); checkpoints(t, r) != want || r.Manifest.Status != record.Finished {
		t.Errorf("%s; other bytes: %v", r.Manifest.Status, checkpoints(t, r) != want)
	}
}

// A checkpoint that is missing is described in plain words.
func TestNoCheckpointInWords(t *testing.T) {
	r := trained(t, t.TempDir())
	for _, path := range []string{r.Last(), r.Previous()} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet)
	r.From = "previous"
	_, resume := r.Train(context.Background(), Watch{})
	for _, err := range []error{err, resume} {
		if !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), ".safetensors is missing") || strings.Contains(err.Error(), "no such file") {
			t.Errorf("%v", err)
		}
	}
}

// In the place of the best checkpoint no other is taken for it.
func TestTheBestCheckpointIsTheBestOne(t *testing.T) {
	r := trained(t, t.TempDir(), "train.early_stop={metric: retrieval.recall@1, patience: 3, min_delta: 1}", "data.split.validation=0.25") // the first is best
	if r.Manifest.Best.Step != 6 {
		t.Fatalf("%+v", r.Manifest.Best)
	}
	best := testutil.Read(t, r.BestPath())
	for name, c := range map[string]struct{ text, want string }{
		"the last one":   {testutil.Read(t, r.Last()), "best.safetensors was saved at step 12, and the best one at step 6; put it back, or retrain the run"},
		"of another run": {testutil.Read(t, trained(t, t.TempDir(), "seed=3").BestPath()), "belongs to another config"},
	} {
		testutil.Write(t, r.BestPath(), c.text)
		if _, err := r.Embed(context.Background(), "best", "test", 0, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	testutil.Write(t, r.BestPath(), best)
	r.Manifest.Best.Step = 12
	if _, err := r.Embed(context.Background(), "best", "test", 0, tinytest.Quiet); !errors.Is(err, train.ErrCheckpoint) || !strings.Contains(err.Error(), "was saved at step 6, but the manifest says that the best one was saved at step 12") {
		t.Errorf("another manifest: %v", err)
	}
	r.Manifest.Best.Step = 6
	if _, err := r.Embed(context.Background(), "best", "test", 0, tinytest.Quiet); err != nil {
		t.Error(err)
	}
}

func TestADamagedLogIsPutAside(t *testing.T) {
	r := create(t, t.TempDir())
	interrupted(t, r, 11)
	path := r.Path("events.jsonl")
	bad := strings.Replace(testutil.Read(t, path), `"event":"step","step":3`, `"event":"step","stfp":3`, 1)
	testutil.Write(t, path, bad)
	_, notes := resumed(t, r.Dir, "")
	if testutil.Read(t, path+".damaged") != bad || !strings.Contains(strings.Join(notes, "\n"), "1 line of events.jsonl could not be read") {
		t.Errorf("notes %q", notes)
	}
	var steps []int
	events, err := train.ReadEvents(path)
	for _, e := range events {
		if e.Kind == "step" {
			steps = append(steps, e.Step)
		}
	}
	if err != nil || !slices.Equal(steps, []int{1, 6, 9, 12, 15, 18}) {
		t.Errorf("steps %v, %v", steps, err)
	}
}

// Events that are lost or changed before the checkpoint are told of, and the log as it
// was is put aside. Those after it, which a killed process may not have synced, are not.
func TestAChangedLogIsNoticed(t *testing.T) {
	sets := []string{"train.log_every=2"}
	want := trained(t, t.TempDir(), sets...)
	log := undated(t, testutil.Read(t, want.Path("events.jsonl")))
	lines := func(text string, from, to int) string {
		return strings.Join(strings.SplitAfter(text, "\n")[from:to], "")
	}
	for name, c := range map[string]struct {
		change func(text string) string
		note   string // "" for none
		same   bool   // the log is whole in the end
	}{
		"as it is":      {func(text string) string { return text }, "", true},
		"emptied":       {func(string) string { return "" }, "it has 0 of the 10 events up to step 12", false},
		"cut":           {func(text string) string { return lines(text, 0, 4) }, "it has 4 of the 10 events", false},
		"within a line": {func(text string) string { return text[:len(lines(text, 0, 4))+20] }, "it has 4 of the 10 events", false},
		"lines deleted": {func(text string) string { return lines(text, 0, 3) + lines(text, 5, 9) }, "of the 10 events", false},
		"doubled":       {func(text string) string { return text + text }, "such as a second copy", true},
		"edited":        {func(text string) string { return strings.Replace(text, `"loss":`, `"loss":1`, 1) }, "are not those that were written", false},
		"no UTF-8":      {func(text string) string { return strings.Replace(text, `"kernel":"`, "\"kernel\":\"\xff", 1) }, "1 line of events.jsonl could not be read", false},
		"no kind":       {func(text string) string { return strings.Replace(text, `"event":"step"`, `"event":"stxp"`, 1) }, "1 line of events.jsonl could not be read", false},
		"the end":       {func(text string) string { return text[:len(text)-5] }, "", true},
	} {
		r := create(t, t.TempDir(), sets...)
		killed(t, r, 15) // behind the checkpoint of step 12
		r.Close()
		path := r.Path("events.jsonl")
		bad := c.change(testutil.Read(t, path))
		testutil.Write(t, path, bad)
		r, notes := resumed(t, r.Dir, "")
		all := strings.Join(notes, "\n")
		if !strings.Contains(all, c.note) || c.note == "" && strings.Contains(all, "events.jsonl") {
			t.Errorf("%s: notes %q", name, notes)
		}
		if b, err := os.ReadFile(path + ".damaged"); (err == nil) != (c.note != "") || err == nil && string(b) != bad {
			t.Errorf("%s: put aside: %q, %v", name, b, err)
		}
		if got := undated(t, testutil.Read(t, path)); (got == log) != c.same {
			t.Errorf("%s: %s", name, cmp.Diff(log, got))
		}
		if checkpoints(t, r) != checkpoints(t, want) {
			t.Errorf("%s: other bytes", name)
		}
		once := testutil.Read(t, path)
		r.Manifest.Status = record.Running // the log is that of the manifest again
		if err := r.SaveManifest(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if _, notes := resumed(t, r.Dir, ""); strings.Contains(strings.Join(notes, "\n"), "events.jsonl") || undated(t, testutil.Read(t, path)) != undated(t, once) {
			t.Errorf("%s: once more: %q", name, notes)
		}
	}
	r := create(t, t.TempDir(), sets...)
	killed(t, r, 14)
	r.Close()
	os.Remove(r.Path("events.jsonl"))
	if _, notes := resumed(t, r.Dir, ""); !strings.Contains(strings.Join(notes, "\n"), "events.jsonl is missing: the events up to step 12 are lost") {
		t.Errorf("removed: %q", notes)
	}
}

// A process whose lock was removed stops at its next checkpoint and writes nothing, not
// even into the log of the one that has taken its place.
func TestARemovedLock(t *testing.T) {
	want := checkpoints(t, trained(t, t.TempDir()))
	r := create(t, t.TempDir())
	var second *Run
	_, err := r.Train(context.Background(), Watch{Step: func(s *train.State, _ int, _ float64) {
		if s.Step == 6 {
			os.Remove(r.Path("lock"))
			second, _ = resumed(t, r.Dir, "")
		}
	}})
	if !errors.Is(err, errUnlocked) {
		t.Errorf("error %v", err)
	}
	if checkpoints(t, second) != want {
		t.Error("other bytes")
	}
	again, err := Open(r.Dir)
	if err != nil || again.Manifest.Status != record.Finished {
		t.Fatalf("manifest %+v, %v", again, err)
	}
	if events, err := train.ReadEvents(r.Path("events.jsonl")); err != nil || events[len(events)-1].Kind != "end" {
		t.Errorf("the log: %v", err)
	}
}

func TestBuildsOfARun(t *testing.T) {
	r := create(t, t.TempDir())
	killed(t, r, 7)
	r.Close()
	version := Version
	defer func() { Version = version }()
	Version = "later"
	r, err := Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	interrupted(t, r, 11)
	r, _ = resumed(t, r.Dir, "") // the same once more
	m := r.Manifest
	want := []record.Build{{Step: 0, Version: version, Kernel: m.Kernel, CPU: m.CPU}, {Step: 4, Version: "later", Kernel: m.Kernel, CPU: m.CPU}}
	if d := cmp.Diff(want, m.Builds); d != "" || m.Version != version {
		t.Errorf("%s, version %s", d, m.Version)
	}
	events, err := train.ReadEvents(r.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range events {
		if e.Kind == "start" || e.Kind == "resume" {
			got[fmt.Sprintf("%s %d %s %s %s", e.Kind, e.Step, e.Version, e.Kernel, e.CPU)]++
			if e.Epoch != float64(e.Step)/9 {
				t.Errorf("step %d is of epoch %v", e.Step, e.Epoch)
			}
		}
	}
	tail := " " + m.Kernel + " " + m.CPU
	if d := cmp.Diff(map[string]int{"start 0 " + version + tail: 1, "resume 4 later" + tail: 1, "resume 11 later" + tail: 1}, got); d != "" {
		t.Error(d)
	}
	// A manifest of an older version knows the first alone.
	old := record.Manifest{Version: "old", Kernel: "generic", CPU: "x"}
	buildOn(&old, 5)
	if len(old.Builds) != 2 || old.Builds[0] != (record.Build{Step: 0, Version: "old", Kernel: "generic", CPU: "x"}) || old.Kernel != "generic" || old.Builds[1].Step != 5 {
		t.Errorf("%+v", old)
	}
}

// A fitted metric has one checkpoint, twice.
func TestAFitFromItsBestCheckpoint(t *testing.T) {
	for _, from := range []string{"best", Start} {
		r := fitted(t, t.TempDir(), tinytest.FittedText)
		want := checkpoints(t, r)
		flip(t, r.Last(), 9)
		if _, err := r.Fit("last"); !errors.Is(err, train.ErrCheckpoint) {
			t.Errorf("a damaged fit: %v", err)
		}
		if r, _ = resumed(t, r.Dir, from); checkpoints(t, r) != want || r.Manifest.Status != record.Finished {
			t.Errorf("from %s: %s, or other bytes", from, r.Manifest.Status)
		}
	}
}

// A result that was changed after it was written is not taken for one.
func TestResultsHaveDigests(t *testing.T) {
	path := t.TempDir() + "/eval.json"
	doc := &record.Eval{Schema: record.EvalSchema, Source: record.Source{Set: "test", Items: 3}}
	if err := record.Write(path, doc); err != nil {
		t.Fatal(err)
	}
	if d, err := record.ReadKept[record.Eval](path); d == nil || err != nil {
		t.Fatal("not read")
	}
	text := strings.Replace(testutil.Read(t, path), `"items": 3`, `"items": 4`, 1)
	testutil.Write(t, path, text)
	if d, err := record.ReadKept[record.Eval](path); d != nil || err == nil {
		t.Error("read although it was changed")
	}
	testutil.Write(t, path, unsealed(text))
	if d, _ := record.ReadKept[record.Eval](path); d == nil || d.Source.Items != 4 {
		t.Error("not read without its digest")
	}
	keys := map[string]any{}
	if err := json.Unmarshal([]byte(text), &keys); err != nil || !slices.Contains(slices.Collect(maps.Keys(keys)), "digest") {
		t.Errorf("%s %v", text, err)
	}
}
