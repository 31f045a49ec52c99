package generalize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/wire"
)

func onAverageOptions(images ...int) ReplaceOptions {
	return ReplaceOptions{Options: Options{Set: "test", Seed: 3}, Repeats: 3, Jobs: 1, Replace: []string{ReplaceTriple}, Images: images}
}

// usedTriples returns a triplet of training images of which each is in a batch and one
// of which none is.
func usedTriples(t *testing.T, r *run.Run) (in, out []int) {
	t.Helper()
	s, err := openStudy(t.Context(), r, onAverageOptions(), progress.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	uses, err := s.uses(r.Manifest.Steps)
	if err != nil {
		t.Fatal(err)
	}
	y := s.sets.Train.Labels()
	for i := range y {
		for j := range y {
			for k := range y {
				if i == j || y[i] != y[j] || y[i] == y[k] {
					continue
				}
				switch used := []bool{uses[i] > 0, uses[j] > 0, uses[k] > 0}; {
				case in == nil && !slices.Contains(used, false):
					in = []int{i, j, k}
				case out == nil && !slices.Contains(used, true):
					out = []int{i, j, k}
				}
			}
		}
	}
	if in == nil || out == nil {
		t.Fatalf("uses %v", uses)
	}
	return in, out
}

// handLoss is the triplet loss with margin .2 of three training images under a run's
// network, and whether their order is wrong, in plain loops.
func handLoss(t *testing.T, r *run.Run, train data.Dataset, images [3]int) (float64, bool) {
	t.Helper()
	m, err := network(r)
	if err != nil {
		t.Fatal(err)
	}
	z, err := embed.Batches(context.Background(), m, train, 64, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	far := func(a, b int, eps float64) float64 {
		sum := 0.0
		for k, v := range z.Row(a) {
			d := float64(v) - float64(z.Row(b)[k]) + eps
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	a, p, n := images[0], images[1], images[2]
	return max(0, 0.2+far(a, p, 1e-6)-far(a, n, 1e-6)), far(a, p, 0) >= far(a, n, 0)
}

// By hand: the run trained again with three images replaced loses on the triplet that was
// taken away what is recorded, exactly as much as before where no batch had the images.
func TestOnAverageByHand(t *testing.T) {
	root := t.TempDir()
	r := runtest.Trained(t, root, few...)
	in, out := usedTriples(t, r)
	d := measuredAs[*OnAverageDoc](t, r, onAverageOptions(append(slices.Clone(in), out...)...))
	if d.Reference != "run" || len(d.Replaced) != 2 || d.N != 2 || d.Options.Repeats != 2 || len(d.Warnings) > 0 || d.Gap != nil {
		t.Fatalf("document %+v", d)
	}
	if v := d.Replaced[1]; v.Uses != [3]int{} || v.Change.Seen != v.Change.Unseen || v.Change.WrongSeen != v.Change.WrongUnseen || v.Change.Seen == 0 {
		t.Errorf("unused images: %+v, %+v", v, v.Change)
	}

	sets, err := wire.OpenData(t.Context(), r.Config)
	if err != nil {
		t.Fatal(err)
	}
	v := d.Replaced[0]
	if !slices.Equal(v.Images[:], in) || slices.Contains(v.Uses[:], 0) || v.By[0] == v.By[1] || v.Of != "test" {
		t.Fatalf("replaced %+v", v)
	}
	class := func(ds data.Dataset, i int) string { return ds.Classes()[ds.Labels()[i]] }
	for x := range 3 {
		if class(sets.Test, v.By[x]) != class(sets.Train, v.Images[x]) || v.Class[x] != class(sets.Train, v.Images[x]) {
			t.Errorf("image %d of class %s by %d of class %s", v.Images[x], v.Class[x], v.By[x], class(sets.Test, v.By[x]))
		}
	}
	again := runtest.Create(t, root, append(slices.Clone(few), "name=again")...)
	again.Alter = func(s *wire.Sets) error {
		n, height, width := s.Train.Len(), 16, 16
		pixels := make([]uint8, n*height*width)
		row := make([]float32, height*width)
		for i := range n {
			from, at := s.Train, i
			for x := range 3 {
				if v.Images[x] == i {
					from, at = sets.Test, v.By[x]
				}
			}
			if err := from.Read(at, row); err != nil {
				return err
			}
			for k, p := range row {
				pixels[i*height*width+k] = uint8(math.Round(float64(p) * 255))
			}
		}
		var err error
		s.Train, err = data.NewMemory(pixels, height, width, 1, slices.Clone(s.Train.Labels()), s.Train.Classes())
		return err
	}
	if _, err := again.Train(context.Background(), run.Watch{}); err != nil {
		t.Fatal(err)
	}
	seen, wrongSeen := handLoss(t, r, sets.Train, v.Images)
	unseen, wrongUnseen := handLoss(t, again, sets.Train, v.Images)
	if c := v.Change; math.Abs(c.Seen-seen) > 1e-12 || math.Abs(c.Unseen-unseen) > 1e-12 || c.WrongSeen != wrongSeen || c.WrongUnseen != wrongUnseen || seen == unseen {
		t.Errorf("loss %+v, by hand %v (%v) seen and %v (%v) unseen", c, seen, wrongSeen, unseen, wrongUnseen)
	}
	// Of two values the interval of Student's t is the mean and 12.7062 times half their
	// difference.
	c := unseen - seen
	if m := d.Loss.Change; math.Abs(m.Value-c/2) > 1e-12 || math.Abs(m.CI95[1]-(c/2+12.706204736174698*math.Abs(c)/2)) > 1e-9 {
		t.Errorf("mean change %+v, want %v", m, c/2)
	}
	if m := d.Loss.Unseen.Value - d.Loss.Seen.Value; math.Abs(m-d.Loss.Change.Value) > 1e-12 {
		t.Errorf("unseen less seen is %v, the change %v", m, d.Loss.Change.Value)
	}
}

// The same whatever the jobs and threads, and where the measurement is interrupted again
// and again; what is there is not trained again, also for more triplets.
func TestOnAverageIsRepeatable(t *testing.T) {
	clean := func(d *OnAverageDoc) OnAverageDoc {
		c := *d
		c.Source.Run, c.Cost.Seconds = "", 0
		c.Replaced = slices.Clone(d.Replaced)
		for i := range c.Replaced {
			c.Replaced[i].Seconds = 0
		}
		return c
	}
	o := onAverageOptions()
	r := runtest.Trained(t, t.TempDir(), few...)
	want := clean(measuredAs[*OnAverageDoc](t, r, o))
	if want.N != 3 || want.Loss.Change.CI95 == nil {
		t.Fatalf("document %+v", want)
	}

	other := runtest.Trained(t, t.TempDir(), few...)
	o.Jobs = 2
	defer par.SetThreads(0)
	par.SetThreads(3)
	cuts := 0
	for ; ; cuts++ {
		ctx, cancel := context.WithCancel(context.Background())
		steps := 0
		m, err := measured(ctx, other, o, progress.Progress{Note: func(string, ...any) {}, Say: func(stage string, _, _ int) {
			if strings.HasPrefix(stage, stageReplaced) {
				if steps++; steps > 2 {
					cancel()
				}
			}
		}})
		cancel()
		if err == nil {
			if got := clean(m.(*OnAverageDoc)); !record.SameJSON(want, got) {
				t.Errorf("interrupted %d times, two at once:\n%+v\nwant\n%+v", cuts, got, want)
			}
			break
		}
		if !interruption(err) || cuts > 40 {
			t.Fatalf("cut %d: error %v", cuts, err)
		}
	}
	if cuts < 2 {
		t.Errorf("interrupted %d times only", cuts)
	}
	for name := range testutil.Snapshot(t, other.Path("stability")) {
		if strings.HasSuffix(name, ".safetensors") {
			t.Errorf("%s is left", name)
		}
	}

	par.SetThreads(1)
	var notes []string
	count := func(o ReplaceOptions) *OnAverageDoc {
		notes = nil
		m, err := measured(context.Background(), other, o, progress.Progress{Say: tinytest.Quiet, Note: func(f string, a ...any) { notes = append(notes, fmt.Sprintf(f, a...)) }})
		if err != nil {
			t.Fatal(err)
		}
		return m.(*OnAverageDoc)
	}
	o.Repeats = 4
	more := count(o)
	if len(notes) != 1 || notes[0] != "retrainings found: 3 of 4" || len(more.Replaced) != 4 || !record.SameJSON(clean(more).Replaced[:3], want.Replaced) {
		t.Errorf("notes %q, replaced %+v", notes, more.Replaced)
	}
	// Named ones are replaced as they were when drawn.
	named := clean(count(onAverageOptions(more.Replaced[1].Images[:]...)))
	if len(notes) != 1 || named.N != 1 || !record.SameJSON(named.Replaced[0], want.Replaced[1]) || named.Loss.Change.Value != want.Replaced[1].Change.Unseen-want.Replaced[1].Change.Seen {
		t.Errorf("notes %q, named %+v", notes, named)
	}
	// Where the same is drawn twice it counts twice and is trained once.
	s, err := openStudy(t.Context(), other, o, progress.Progress{Say: tinytest.Quiet, Note: func(f string, a ...any) { notes = append(notes, fmt.Sprintf(f, a...)) }})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.loss()
	if err != nil {
		t.Fatal(err)
	}
	again, m := newRetraining(s), tinytest.Must(network(other))
	if err := again.reference(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	notes = nil
	twice, err := again.unseen(context.Background(), []record.ReplacedTriple{more.Replaced[1].ReplacedTriple, more.Replaced[1].ReplacedTriple}, l)
	if err != nil || len(twice) != 2 || !record.SameJSON(twice[0], twice[1]) || !record.SameJSON(twice[0].Change, want.Replaced[1].Change) || len(notes) != 1 || notes[0] != "retrainings found: 1 of 1" {
		t.Errorf("notes %q, twice %+v, error %v", notes, twice, err)
	}
}

// The gap of the same weights stands beside the mean, and the document of the other
// kinds is another file.
func TestOnAverageBesideTheGap(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	o := gapOptions
	g := measuredAs[*GapDoc](t, r, o)
	if err := record.Write(r.Path(g.File()), g); err != nil {
		t.Fatal(err)
	}
	d := measuredAs[*OnAverageDoc](t, r, onAverageOptions())
	if d.Gap == nil || d.Gap.File != "gap.json" || d.Gap.Triplets != g.Options.Triplets || !record.SameJSON(d.Gap.Loss, g.Loss.Sides) || !record.SameJSON(d.Gap.Error, g.Error) {
		t.Errorf("gap %+v, want %+v", d.Gap, g.Loss.Sides)
	}
	if d.File() == (&StabilityDoc{}).File() {
		t.Error("both write one file")
	}
	notes := strings.Join(d.Table().Notes, "\n")
	if len(d.Table().Rows) != 3 || !strings.Contains(notes, "gap.json, the same weights") || !strings.Contains(notes, "mean of 3") {
		t.Errorf("table %+v", d.Table())
	}
	g.Source.Step++
	if err := record.Write(r.Path(g.File()), g); err != nil {
		t.Fatal(err)
	}
	if d := measuredAs[*OnAverageDoc](t, r, onAverageOptions()); d.Gap != nil || !strings.Contains(strings.Join(d.Table().Notes, "\n"), "no gap.json") {
		t.Errorf("the gap of other weights: %+v", d.Gap)
	}
}

func TestOnAverageRefuses(t *testing.T) {
	root := t.TempDir()
	refuses := func(r *run.Run, o ReplaceOptions, kind error, want string) {
		t.Helper()
		_, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}})
		if !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := os.Stat(r.Path("stability")); err == nil {
			t.Error("the folder of retrainings was made")
		}
	}
	refuses(runtest.Create(t, root, "name=untrained"), onAverageOptions(), run.ErrNoRun, "is running")
	r := runtest.Trained(t, root, "name=disjoint", "train.epochs=1") // 12 classes of 6 images, others tested
	refuses(r, onAverageOptions(), data.ErrUnfit, "data.split.kind fraction")
	refuses(r, onAverageOptions(0, 1), data.ErrUnfit, "three for each")
	refuses(r, onAverageOptions(0, 0, 6), data.ErrUnfit, "the same image")
	refuses(r, onAverageOptions(0, 6, 12), data.ErrUnfit, "of classes")
	refuses(r, onAverageOptions(0, 1, 2), data.ErrUnfit, "of the anchor's class")
	refuses(r, onAverageOptions(0, 1, 72), data.ErrUnfit, "valid: 0 to 71")
	refuses(r, onAverageOptions(0, 1, 30, 0, 2, 30, 0, 1, 30), data.ErrUnfit, "0, 1 and 30 is given twice")
	refuses(r, onAverageOptions(-1, 1, 6), data.ErrUnfit, "training image -1 does not exist")
	mixed := onAverageOptions()
	mixed.Replace = append(mixed.Replace, ReplaceFar)
	refuses(r, mixed, data.ErrUnfit, "by itself")
	for _, set := range []string{"train", "validation"} {
		o := onAverageOptions()
		o.Set = set
		refuses(r, o, data.ErrUnfit, "validation")
	}
}

// Classes without enough fresh images, and sets without triplets.
func TestTriplesThatCannotBe(t *testing.T) {
	memory := func(labels ...int32) data.Dataset {
		ds, err := data.NewMemory(make([]uint8, len(labels)), 1, 1, 1, labels, []string{"a", "b", "c"})
		if err != nil {
			t.Fatal(err)
		}
		return ds
	}
	train := memory(0, 0, 1, 2, 2, 2)
	for name, c := range map[string]struct {
		train, held data.Dataset
		given       []int
		want        string // "" for none
	}{
		"enough":                   {train, memory(0, 0, 1, 2, 2), nil, ""},
		"one of an anchor's class": {train, memory(0, 0, 1, 2), nil, "of class c there are 1 test images, and it needs 2"},
		"none of a negative's":     {train, memory(0, 0, 2, 2), nil, "of class b there are 0 test images, and it needs 1"},
		"named, of other classes":  {train, memory(0, 0, 2), []int{0, 1, 3}, ""},
		"named, no negative":       {train, memory(0, 0, 2), []int{0, 1, 2}, "of class b there are 0"},
		"named, one positive":      {train, memory(0, 0, 2), []int{3, 4, 0}, "of class c there are 1"},
		"no other class":           {memory(0, 0, 0), memory(0, 0, 0), nil, "no triplets in the training images"},
		"no two of a class":        {memory(0, 1, 2), memory(0, 1, 2), nil, "no triplets in the training images"},
	} {
		s := &study{o: ReplaceOptions{Options: Options{Set: "test", Seed: 1}}, sets: &wire.Sets{Train: c.train}, held: c.held}
		list, err := s.triples(c.given, 40)
		if c.want != "" {
			if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", name, err, c.want)
			}
			continue
		}
		if err != nil || len(list) != 40 && len(list) != len(c.given)/3 {
			t.Errorf("%s: %d triplets, error %v", name, len(list), err)
		}
		for _, p := range list {
			y, h := c.train.Labels(), c.held.Labels()
			if i, j, k := p.Images[0], p.Images[1], p.Images[2]; i == j || y[i] != y[j] || y[i] == y[k] {
				t.Errorf("%s: %v is no triplet", name, p.Images)
			}
			if a, b, n := p.By[0], p.By[1], p.By[2]; a == b || h[a] != y[p.Images[0]] || h[b] != h[a] || h[n] != y[p.Images[2]] {
				t.Errorf("%s: %v replaced by %v", name, p.Images, p.By)
			}
		}
	}
}

// A retraining that is lost does not count; where all are, there is no mean.
func TestOnAverageOfLostRetrainings(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	o := onAverageOptions()
	d := measuredAs[*OnAverageDoc](t, r, o)
	lose := func(k int) {
		path := filepath.Join(r.Path("stability", "retrained"), tripleName(d.Replaced[k].ReplacedTriple), "result.json")
		var kept record.Retrained[record.TripleKey, record.ReplacedTripleRecord]
		if !run.ReadStored(path, &kept) {
			t.Fatal("no result")
		}
		kept.Record.Status, kept.Record.Message, kept.Record.Change = record.Collapsed, "all in one place", nil
		if err := record.Write(path, kept); err != nil {
			t.Fatal(err)
		}
	}
	lose(1)
	got := measuredAs[*OnAverageDoc](t, r, o)
	want := (d.Replaced[0].Change.Unseen - d.Replaced[0].Change.Seen + d.Replaced[2].Change.Unseen - d.Replaced[2].Change.Seen) / 2
	if got.N != 2 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "all in one place") || math.Abs(got.Loss.Change.Value-want) > 1e-15 {
		t.Errorf("document %+v, want a change of %v", got, want)
	}
	if row := got.Table().Rows[1]; len(row) != len(got.Table().Columns) {
		t.Errorf("row %v", row)
	}
	lose(0)
	lose(2)
	if _, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}}); err == nil || !strings.Contains(err.Error(), "no retraining finished") {
		t.Errorf("all are lost: error %v", err)
	}
}

// Where no triplet costs anything nothing varies: there is no interval, and a warning.
func TestOnAverageOfWhatCostsNothing(t *testing.T) {
	of := func(changes ...record.TripleChange) *OnAverageDoc {
		t.Helper()
		d := &OnAverageDoc{}
		for _, c := range changes {
			d.Replaced = append(d.Replaced, record.ReplacedTripleRecord{Change: &c})
		}
		if err := d.sumUp(); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := of(record.TripleChange{}, record.TripleChange{}, record.TripleChange{})
	if l := d.Loss; l.Seen.CI95 != nil || l.Unseen.CI95 != nil || l.Change.CI95 != nil || d.Error.Change.CI95 != nil || d.Error.Change.Value != 0 {
		t.Errorf("intervals of what does not vary: %+v", l)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "the loss of all 3 triplets is 0") {
		t.Errorf("warnings %q", d.Warnings)
	}
	// Equal changes of other costs do not vary either, whatever rounding says of their mean.
	d = of(record.TripleChange{Seen: 0.1, Unseen: 0.4, WrongSeen: false, WrongUnseen: true}, record.TripleChange{Seen: 0.1, Unseen: 0.4, WrongSeen: false, WrongUnseen: true}, record.TripleChange{Seen: 0.1, Unseen: 0.4, WrongSeen: true, WrongUnseen: true})
	if d.Loss.Change.CI95 != nil || d.Error.Change.CI95 == nil || d.Warnings != nil {
		t.Errorf("document %+v", d)
	}
	some := record.TripleChange{Seen: 0, Unseen: 0.5}
	if d = of(some, record.TripleChange{}); d.Loss.Change.CI95 == nil || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "in training or removed: 1 of 2") {
		t.Errorf("document %+v", d)
	}
	if d = of(some, some, some, some, record.TripleChange{Seen: 0.1}); d.Loss.Change.CI95 == nil || d.Warnings != nil {
		t.Errorf("document %+v", d)
	}
}
