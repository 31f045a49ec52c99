package generalize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
)

// written measures r and writes the document, as the command line does.
func written[T Measurement](t *testing.T, r *run.Run, o any) T {
	t.Helper()
	d := measuredAs[T](t, r, o)
	if err := record.Write(r.Path(d.File()), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// common are the options that every measurement has.
func (o *Options) common() *Options { return o }

// keeps checks that each change of o is refused with its words, before the work, unless
// forced; "" is not refused.
func keeps[O any, P interface {
	*O
	common() *Options
}](t *testing.T, r *run.Run, o O, changes map[string]func(P)) {
	t.Helper()
	before := testutil.Snapshot(t, r.Dir)
	for want, change := range changes {
		o := o
		change(&o)
		_, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}})
		var kept *record.KeptError
		if want == "" && err == nil {
			before = testutil.Snapshot(t, r.Dir)
			continue
		}
		if want == "" || !errors.As(err, &kept) || !strings.Contains(err.Error(), " would lose: "+want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if len(testutil.Snapshot(t, r.Dir)) != len(before) {
			t.Errorf("%s: something was done", want)
		}
		P(&o).common().Force = true
		if _, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}}); errors.As(err, &kept) {
			t.Errorf("forced: %v", err)
		}
		before = testutil.Snapshot(t, r.Dir)
	}
}

// A quick look does not cost the measurement of hours, and its smaller gamma does not
// take the place of the larger one.
func TestStabilityKeepsMore(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	in, out := used(t, r)
	o := stabilityOptions
	o.Images = []int{in, out}
	d := written[*StabilityDoc](t, r, o)
	if again := measuredAs[*StabilityDoc](t, r, o); !record.SameJSON(d, again) { // its cost, too
		t.Errorf("from what is kept:\n%+v\nat first\n%+v", again, d)
	}
	sum := 0.0
	for _, v := range d.Replaced {
		sum += v.Seconds
	}
	if sum <= 0 || d.Cost.Seconds <= sum {
		t.Errorf("%v s, of the replaced alone %v", d.Cost.Seconds, sum)
	}
	keeps(t, r, o, map[string]func(*ReplaceOptions){
		"":                                  func(o *ReplaceOptions) { o.Triplets = 700 },
		"600 triplets instead of 599":       func(o *ReplaceOptions) { o.Triplets = 599 },
		"replacements by far":               func(o *ReplaceOptions) { o.Replace = []string{ReplaceFresh} },
		"seed 3 instead of 4":               func(o *ReplaceOptions) { o.Seed = 4 },
		"36 test images instead of 30":      func(o *ReplaceOptions) { o.Limit = 30 },
		"replaced images " + fmt.Sprint(in): func(o *ReplaceOptions) { o.Images = []int{out} },
	})
	gap := gapOptions
	with := func(want float64, why string) {
		t.Helper()
		if b := measuredAs[*GapDoc](t, r, gap).Bound.At; b == nil || b.Gamma != want {
			t.Errorf("%s: bound %+v, want gamma %v", why, b, want)
		}
	}
	largest := d.Gamma
	kept, err := filepath.Glob(r.Path("stability", "retrained", "*", "result.json"))
	if err != nil || len(kept) < 5 {
		t.Fatalf("kept %v (%v)", kept, err)
	}
	for _, path := range kept {
		var k record.Retrained[record.RetrainKey, record.Replaced]
		if run.ReadStored(path, &k) && k.Record.Movement != nil {
			largest = max(largest, k.Record.Movement.LossMax)
		}
	}
	o.Images, o.Force = []int{out}, true
	if small := written[*StabilityDoc](t, r, o); small.Gamma != 0 {
		t.Fatalf("gamma %v", small.Gamma)
	}
	with(largest, "a smaller one has replaced it")
	if err := os.Remove(r.Path("stability.json")); err != nil {
		t.Fatal(err)
	}
	with(largest, "no stability.json")
	c, err := r.Checkpoint("last")
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	m.Params()[0].Value.Data[0] += 0.25
	if g := measuredGamma(r, "last", c.State.Step, m); g != nil {
		t.Errorf("gamma %v of other weights", *g)
	}
	if err := os.RemoveAll(r.Path("stability", "retrained")); err != nil {
		t.Fatal(err)
	}
	if b := measuredAs[*GapDoc](t, r, gap).Bound; b.At != nil {
		t.Errorf("bound %+v of nothing", b.At)
	}
}

func TestGapKeepsMore(t *testing.T) {
	run, ref := halves(t, t.TempDir())
	o := gapOptions
	o.Reference = ref.Dir
	if d := written[*GapDoc](t, run, o); d.Bound.Delta != GapDelta {
		t.Errorf("delta %v", d.Bound.Delta)
	}
	keeps(t, run, o, map[string]func(*GapOptions){
		"": func(o *GapOptions) { o.Triplets, o.Bootstrap, o.Delta, o.Limit = 5000, 100, 0.1, 5000 },
		"4000 triplets of each set instead of 200":      func(o *GapOptions) { o.Triplets = 200 },
		"the reference " + ref.Dir:                      func(o *GapOptions) { o.Reference = "" },
		"intervals; seed 3 instead of 4":                func(o *GapOptions) { o.Bootstrap, o.Seed = 0, 4 },
		"all images of both sets instead of 40 of each": func(o *GapOptions) { o.Limit = 40 },
	})
	o.Limit, o.Force = 60, true
	written[*GapDoc](t, run, o)
	o.Force = false
	keeps(t, run, o, map[string]func(*GapOptions){
		"":                                    func(o *GapOptions) { o.Limit = 0 },
		"60 images of each set instead of 40": func(o *GapOptions) { o.Limit = 40 },
	})
	// Of weights that the run has left behind nothing is kept.
	d := StoredGap(record.Source{Run: run.Dir, Checkpoint: "last", Step: run.Manifest.Steps, Set: "test"})
	d.Source.Step--
	if err := record.Write(run.Path("gap.json"), d); err != nil {
		t.Fatal(err)
	}
	o.Limit = 40
	keeps(t, run, o, map[string]func(*GapOptions){"": func(*GapOptions) {}})
	o.Delta = 0.1
	if d := measuredAs[*GapDoc](t, run, o); d.Bound.Delta != 0.1 {
		t.Errorf("delta %v", d.Bound.Delta)
	}
}

func TestOnAverageKeepsMore(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	o := onAverageOptions()
	d := written[*OnAverageDoc](t, r, o)
	if again := measuredAs[*OnAverageDoc](t, r, o); !record.SameJSON(d, again) || d.Cost.Seconds <= 0 {
		t.Errorf("from what is kept:\n%+v\nat first\n%+v", again, d)
	}
	keeps(t, r, o, map[string]func(*ReplaceOptions){
		"":                             func(o *ReplaceOptions) { o.Repeats = 4 },
		"2 of its 3 replaced triplets": func(o *ReplaceOptions) { o.Repeats = 1 },
		"seed 3 instead of 4":          func(o *ReplaceOptions) { o.Repeats, o.Seed = 1, 4 },
	})
}

func TestInfluenceKeepsMore(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	d := written[*InfluenceDoc](t, r, influenceOptions)
	if again := measuredAs[*InfluenceDoc](t, r, influenceOptions); again.Cost.Seconds <= 0 || again.Cost.Forward != d.Cost.Forward || d.Cost.Seconds <= 0 {
		t.Errorf("cost from what is kept %+v, at first %+v", again.Cost, d.Cost)
	}
	keeps(t, r, influenceOptions, map[string]func(*InfluenceOptions){
		"":                            func(o *InfluenceOptions) { o.Repeats = 5 },
		"replaced images ":            func(o *InfluenceOptions) { o.Repeats = 1 },
		"steps 5 instead of 6":        func(o *InfluenceOptions) { o.Steps = 6 },
		"600 triplets instead of 599": func(o *InfluenceOptions) { o.Triplets = 599 },
	})
	figures := t.TempDir()
	for _, name := range append(d.pictures(), "training.png") {
		testutil.Write(t, filepath.Join(figures, name), "old")
	}
	if err := errors.Join(Undraw(d, figures), Undraw(d, figures), Undraw(&GapDoc{}, figures)); err != nil || len(testutil.Snapshot(t, figures)) != 1 {
		t.Errorf("old pictures: %v, %v", err, testutil.Snapshot(t, figures))
	}
}
