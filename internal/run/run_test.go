package run

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/safetensors"
	"tercet/internal/testutil"
	"tercet/internal/train"
)

func TestAFinishedRunIsNotRunTwice(t *testing.T) {
	root := t.TempDir()
	r := trained(t, root)
	m := r.Manifest
	if m.Status != record.Finished || m.Steps != 18 || m.Of != 18 || m.Cost.Forward != 18*16 || m.Best == nil || m.Best.Metric != "recall@1" {
		t.Fatalf("manifest %+v", m)
	}
	before := testutil.Snapshot(t, r.Dir)
	for _, open := range []func() (*Run, error){
		func() (*Run, error) { return Create(root, tinytest.Config(t)) },
		func() (*Run, error) { return Open(r.Dir) },
	} {
		again, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if done, err := again.Train(context.Background(), Watch{}); !done || err != nil {
			t.Fatalf("done %v, error %v", done, err)
		}
		again.Close()
	}
	if d := cmp.Diff(before, testutil.Snapshot(t, r.Dir)); d != "" {
		t.Error(d)
	}
}

// Another process finished the run after this one opened it: its manifest
// counts, not what was read before.
func TestTheManifestIsReadAgainUnderTheLock(t *testing.T) {
	root := t.TempDir()
	r := create(t, root)
	interrupted(t, r, 5)
	stale, err := Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Train(context.Background(), Watch{}); err != nil {
		t.Fatal(err)
	}
	if done, err := stale.Train(context.Background(), Watch{}); !done || err != nil {
		t.Fatalf("done %v, error %v", done, err)
	}
}

func TestADirectoryOfSomethingElseIsRefusedAndUntouched(t *testing.T) {
	root := t.TempDir()
	other := trained(t, root)
	notes := filepath.Join(root, "notes")
	os.Mkdir(notes, 0o755)
	testutil.Write(t, filepath.Join(notes, "todo.txt"), "mine")
	testutil.Write(t, filepath.Join(root, "file"), "mine")
	before := testutil.Snapshot(t, root)
	for _, tc := range []struct{ name, key, want string }{
		{"tiny", "seed=1", "there: seed: 0\n  here:  seed: 1"},
		{"notes", "seed=0", "is not empty and holds no run"},
		{"file", "seed=0", "is a file"},
	} {
		_, err := Create(root, tinytest.Config(t, "name="+tc.name, tc.key))
		if !errors.Is(err, ErrOtherRun) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
	if d := cmp.Diff(before, testutil.Snapshot(t, root)); d != "" {
		t.Error(d)
	}
	// Only the spelling differs: the same run.
	text := testutil.Read(t, other.Path("config.yaml"))
	testutil.Write(t, other.Path("config.yaml"), "# a note\n"+text)
	r, err := Create(root, tinytest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}

// A run that took no step, because its data were not there, say, gives way to a
// corrected config of the same name.
func TestARunThatNeverBeganGivesWay(t *testing.T) {
	root := t.TempDir()
	r := create(t, root, "data=mnist", "data.root="+filepath.Join(root, "gone"))
	if _, err := r.Train(context.Background(), Watch{}); err == nil {
		t.Fatal("trained without data")
	}
	if old, err := Open(r.Dir); err != nil || old.Manifest.Status != record.Failed || !strings.Contains(old.Manifest.Message, "gone") {
		t.Fatalf("manifest %+v, error %v", old, err)
	}
	trained(t, root)
	// Not so a file that somebody else has put there.
	r = create(t, root, "name=b", "data=mnist", "data.root=gone")
	r.Close()
	testutil.Write(t, r.Path("notes.txt"), "mine")
	if _, err := Create(root, tinytest.Config(t, "name=b")); !errors.Is(err, ErrOtherRun) {
		t.Fatalf("error %v", err)
	}
}

func TestTheLock(t *testing.T) {
	root := t.TempDir()
	r := create(t, root)
	for _, again := range []func() error{
		func() error { _, err := Create(root, tinytest.Config(t)); return err },
		func() error { _, err := Create(root, tinytest.Config(t, "seed=1")); return err },
		func() error {
			other, err := Open(r.Dir)
			if err != nil {
				return err
			}
			_, err = other.Train(context.Background(), Watch{})
			return err
		},
	} {
		if err := again(); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), r.Dir) {
			t.Errorf("error %v, want ErrBusy", err)
		}
	}
	r.Close()
	trained(t, root)
}

// killedAt makes the directory of tiny below root as a process leaves it that was
// killed after a stage of its making.
func killedAt(t *testing.T, root, stage string) string {
	t.Helper()
	dir := filepath.Join(root, "tiny")
	text, err := tinytest.Config(t).Resolved()
	if err != nil {
		t.Fatal(err)
	}
	os.Mkdir(dir, 0o755)
	for _, made := range []struct {
		stage string
		make  func()
	}{
		{"nothing", func() {}},
		{"lock", func() { testutil.Write(t, filepath.Join(dir, "lock"), "") }},
		{"temporary", func() { testutil.Write(t, filepath.Join(dir, ".config.yaml.tmp-99-0"), "na") }},
		{"config", func() { testutil.Write(t, filepath.Join(dir, "config.yaml"), string(text)) }},
		{"manifest", func() {
			if err := record.Write(filepath.Join(dir, "manifest.json"), fresh(tinytest.Config(t))); err != nil {
				t.Fatal(err)
			}
		}},
		{"checkpoints", func() {
			os.Mkdir(filepath.Join(dir, "checkpoints"), 0o755)
			testutil.Write(t, filepath.Join(dir, "checkpoints", ".last.safetensors.tmp-99-0"), "x")
		}},
	} {
		made.make()
		if made.stage == stage {
			return dir
		}
	}
	t.Fatalf("no stage %s", stage)
	return ""
}

// ended fails the test unless r has finished and left nothing half-written.
func ended(t *testing.T, r *Run) {
	t.Helper()
	if r.Manifest.Status != record.Finished {
		t.Errorf("manifest %+v", r.Manifest)
	}
	for name := range testutil.Snapshot(t, r.Dir) {
		if leftover(filepath.Base(name)) {
			t.Errorf("left behind: %s", name)
		}
	}
}

// Killed between any two files of a fresh directory, the same command continues;
// from config.yaml on, --resume does too.
func TestKilledWhileItWasBeingMade(t *testing.T) {
	for _, stage := range []string{"nothing", "lock", "temporary", "config", "manifest", "checkpoints"} {
		t.Run(stage, func(t *testing.T) {
			root := t.TempDir()
			dir := killedAt(t, root, stage)
			if strings.Contains("nothing lock temporary", stage) {
				if _, err := Open(dir); !errors.Is(err, ErrNoRun) {
					t.Errorf("opened without a config: %v", err)
				}
			} else {
				r, err := Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Train(context.Background(), Watch{}); err != nil {
					t.Errorf("--resume: %v", err)
				}
				ended(t, r)
				root = t.TempDir()
				killedAt(t, root, stage)
			}
			ended(t, trained(t, root))
		})
	}
}

// A file in the place of a folder of the run is refused in the same way by --config and
// by --resume.
func TestAFileInPlaceOfTheCheckpoints(t *testing.T) {
	root := t.TempDir()
	dir := killedAt(t, root, "manifest")
	testutil.Write(t, filepath.Join(dir, "checkpoints"), "mine")
	_, err := Create(root, tinytest.Config(t))
	r, opened := Open(dir)
	if opened != nil {
		t.Fatal(opened)
	}
	_, resumed := r.Train(context.Background(), Watch{})
	for _, err := range []error{err, resumed} {
		if !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "checkpoints is a file") {
			t.Errorf("error %v", err)
		}
	}
}

// What a terminal does not show is quoted in the first difference of two configs.
func TestFirstDifferenceShowsWhatIsInvisible(t *testing.T) {
	if got, want := firstDifference("\x00name: a\n", "name: a\n"), "  there: \"\\x00name: a\"\n  here:  name: a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The documented fields of config.yaml, manifest.json and events.jsonl.
func TestTheRunDirectory(t *testing.T) {
	r := trained(t, t.TempDir())
	for _, name := range []string{"config.yaml", "manifest.json", "events.jsonl", "checkpoints/last.safetensors", "checkpoints/best.safetensors"} {
		if info, err := os.Stat(r.Path(name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	cfg, err := config.Load(r.Path("config.yaml"), nil)
	if err != nil || cfg.Hash() != r.Config.Hash() {
		t.Errorf("config.yaml cannot be run again as it is: %v", err)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(testutil.Read(t, r.Path("manifest.json"))), &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"schema", "version", "status", "seed", "config_hash", "data", "model", "steps", "steps_planned", "cost", "seconds", "cpu", "kernel", "os", "started", "updated"} {
		if _, ok := m[key]; !ok {
			t.Errorf("manifest.json has no %q", key)
		}
	}
	if m["schema"] != "tercet.run/1" || m["status"] != "finished" || m["cost"].(map[string]any)["forward"] != 288.0 {
		t.Errorf("manifest %v", m)
	}
	events, err := train.ReadEvents(r.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	if d := cmp.Diff(map[string]int{"start": 1, "step": 7, "epoch": 2, "eval": 2, "end": 1}, kinds); d != "" {
		t.Error(d)
	}
}

func TestAnEditedConfigIsNoticed(t *testing.T) {
	r := trained(t, t.TempDir())
	path := r.Path("config.yaml")
	text := testutil.Read(t, path)
	testutil.Write(t, path, strings.Replace(text, "seed: 0", "seed: 4", 1))
	if _, err := Open(r.Dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "was changed since the run began") {
		t.Errorf("error %v", err)
	}
	if _, err := Create(filepath.Dir(r.Dir), tinytest.Config(t)); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "was changed since the run began") {
		t.Errorf("by --config: error %v", err)
	}
	// Damage of other kinds is named with its file, too.
	for name, bad := range map[string]string{"config.yaml": "name: [", "manifest.json": `{"schema":`} {
		good := testutil.Read(t, r.Path(name))
		if name == "manifest.json" {
			testutil.Write(t, path, text)
		}
		testutil.Write(t, r.Path(name), bad)
		if _, err := Open(r.Dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
		testutil.Write(t, r.Path(name), good)
	}
	testutil.Write(t, r.Path("manifest.json"), `{"schema": "tercet.run/1", "steps": "many"}`)
	if _, err := Open(r.Dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "manifest.json") || !strings.HasSuffix(err.Error(), "steps is a string, which is of the wrong kind") {
		t.Errorf("error %v", err)
	}
	testutil.Write(t, r.Path("manifest.json"), `{"schema": "tercet.run/9"}`)
	if _, err := Open(r.Dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "this version reads tercet.run/1") {
		t.Errorf("error %v", err)
	}
}

// A version that knows more keys writes other resolved texts; runs of the one
// before stay usable, because they are known by their own text.
func TestARunOfAVersionWithFewerKeys(t *testing.T) {
	root := t.TempDir()
	r := create(t, root)
	interrupted(t, r, 5)
	old := strings.Replace(testutil.Read(t, r.Path("config.yaml")), "    validation: 0\n", "", 1)
	if old == testutil.Read(t, r.Path("config.yaml")) {
		t.Fatal("no key was taken out")
	}
	hash := identity([]byte(old))
	testutil.Write(t, r.Path("config.yaml"), old)
	m := strings.ReplaceAll(testutil.Read(t, r.Path("manifest.json")), r.Manifest.Config, hash)
	testutil.Write(t, r.Path("manifest.json"), unsealed(m))
	edited(t, r.Last(), func(f *safetensors.File) { f.Meta["config"] = hash })
	if _, err := Open(r.Dir); err != nil {
		t.Error(err)
	}
	again, err := Create(root, tinytest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Train(context.Background(), Watch{}); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Embed(context.Background(), "last", "test", 0, tinytest.Quiet); err != nil {
		t.Error(err)
	}
}

// A manifest that is read again leaves nothing of what was read before.
func TestTheManifestIsReadAfresh(t *testing.T) {
	r := create(t, t.TempDir())
	r.Manifest.Message, r.Manifest.Best = "old", &record.Best{Metric: "recall@1", Value: 1, Step: 1}
	if err := r.readManifest(); err != nil || r.Manifest.Message != "" || r.Manifest.Best != nil {
		t.Errorf("manifest %+v, error %v", r.Manifest, err)
	}
}
