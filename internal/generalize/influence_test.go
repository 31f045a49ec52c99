package generalize

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/wire"
)

var influenceOptions = InfluenceOptions{ReplaceOptions: ReplaceOptions{Options: Options{Set: "test", Triplets: 600, Seed: 3}, Repeats: 4, Jobs: 1}, Checkpoint: "last", Steps: 5}

// To continue from the checkpoint of a run is to train the same run for longer: the drift
// is how far the longer run is, and an image's movement that of the longer run whose
// image was replaced after the checkpoint.
func TestInfluenceIsOfALongerRun(t *testing.T) {
	root := t.TempDir()
	sets := []string{"data.split={kind: fraction, train: 0.5}", "train={steps: 4, log_every: 1}", "batch.pairs=4"}
	r := runtest.Trained(t, root, sets...)
	d := measuredAs[*InfluenceDoc](t, r, influenceOptions)
	if len(d.Images) != 4 || d.Source.Step != 4 || d.Options.Replace != ReplaceTwin {
		t.Fatalf("document %+v", d)
	}

	longer := func(name string, alter wire.Alteration) *standing {
		t.Helper()
		one := runtest.Create(t, root, append(slices.Clone(sets), "name="+name, "train.steps=9")...)
		runtest.Interrupted(t, one, 4)
		one, err := run.Open(one.Dir)
		if err != nil {
			t.Fatal(err)
		}
		one.Alter = alter
		one.Manifest.Data = record.Data{} // which would tell
		if err := one.SaveManifest(); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Train(context.Background(), run.Watch{}); err != nil {
			t.Fatal(err)
		}
		m, err := network(one)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newStudy(t.Context(), r, influenceOptions.ReplaceOptions, progress.Progress{})
		if err != nil {
			t.Fatal(err)
		}
		z, err := s.probe.stand(context.Background(), m, func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	s, err := newStudy(t.Context(), r, influenceOptions.ReplaceOptions, progress.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := network(r)
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.probe.stand(context.Background(), m, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	base := longer("longer", nil)
	if want := s.probe.compare(before, base); !record.SameJSON(want, d.Drifted) || want.Weights == 0 {
		t.Errorf("drift %+v, want %+v", d.Drifted, want)
	}
	first := d.Images[0]
	if want := s.probe.compare(base, longer("other", alterImage(first.Replacement, nil))); !record.SameJSON(want, first.Movement) || want.Weights == 0 {
		t.Errorf("image %d: %+v, want %+v", first.Image, first.Movement, want)
	}

	last := math.Inf(1)
	for _, v := range d.Images {
		if v.Uses == 0 || v.Image == v.By || v.Class != v.Other || v.Movement.CosineMean > last {
			t.Errorf("image %+v", v)
		}
		last = v.Movement.CosineMean
	}
	if files, err := d.Draw(t.TempDir()); err != nil || len(files) != 1 {
		t.Errorf("pictures %v, error %v", files, err)
	}
	d.Images[0].Movement = record.Movement{}
	d.Images = d.Images[:1]
	if _, err := d.Draw(t.TempDir()); err == nil {
		t.Error("nothing moved, and that was drawn")
	}
}

// Interrupted, two at once, with other threads: the same document. What is kept is not
// trained again.
func TestInfluenceInterrupted(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	want := measuredAs[*InfluenceDoc](t, r, influenceOptions)
	if err := os.RemoveAll(r.Path("stability")); err != nil {
		t.Fatal(err)
	}
	defer par.SetThreads(0)
	par.SetThreads(3)
	o := influenceOptions
	o.Jobs = 2
	cuts := 0
	for {
		ctx, cancel := context.WithCancel(context.Background())
		images := 0
		m, err := measured(ctx, r, o, progress.Progress{Note: func(string, ...any) {}, Say: func(stage string, _, _ int) {
			if stage == "images" {
				if images++; images > cuts {
					cancel()
				}
			}
		}})
		cancel()
		if err == nil {
			got := m.(*InfluenceDoc)
			got.Cost.Seconds = want.Cost.Seconds
			if !record.SameJSON(got, want) {
				t.Errorf("interrupted %d times:\n%+v\nwant\n%+v", cuts, got, want)
			}
			break
		}
		if cuts++; !interruption(err) || !strings.Contains(err.Error(), "resumes") || cuts > 9 {
			t.Fatalf("error %v", err)
		}
	}
	if cuts == 0 {
		t.Error("was never interrupted")
	}
	kept := testutil.Snapshot(t, r.Path("stability", "influence"))
	testutil.Write(t, r.Path("stability", "influence", replacementName(want.Images[0].Replacement)+".json"), "rubbish")
	again := measuredAs[*InfluenceDoc](t, r, o)
	again.Cost.Seconds = want.Cost.Seconds
	if !record.SameJSON(again, want) || len(testutil.Snapshot(t, r.Path("stability", "influence"))) != len(kept) {
		t.Error("a damaged result was not made anew")
	}
}

func TestInfluenceRefusesAndWarns(t *testing.T) {
	root := t.TempDir()
	untrained := runtest.Create(t, root, "name=untrained")
	if _, err := measured(context.Background(), untrained, influenceOptions, progress.Progress{Say: tinytest.Quiet}); err == nil || !strings.Contains(err.Error(), "has the run been trained") {
		t.Errorf("error %v", err)
	}
	r := runtest.Trained(t, root, append(slices.Clone(few), "optimizer.schedule={name: cosine}", "train.steps=40")...)
	d := measuredAs[*InfluenceDoc](t, r, influenceOptions)
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "learning rate") {
		t.Errorf("warnings %v", d.Warnings)
	}
	o := influenceOptions
	o.Images = []int{-1}
	if _, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet}); !errors.Is(err, data.ErrUnfit) {
		t.Errorf("error %v", err)
	}
}

// Where no image moves the network the document says what helps.
func TestInfluenceOfNothing(t *testing.T) {
	d := &InfluenceDoc{Influence: record.Influence{Options: record.InfluenceOptions{Steps: 1}, Images: make([]record.InfluenceRecord, 3)}}
	if got := d.still(); len(got) != 1 || !strings.Contains(got[0], "none of the images changes the network: in 1 step ") || !strings.Contains(got[0], "checkpoint best") {
		t.Errorf("%q", got)
	}
	d.Images[2].Movement.CosineMax = 1e-9 // by batch normalization alone
	if got := d.still(); got != nil {
		t.Errorf("%q", got)
	}
}
