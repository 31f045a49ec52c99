package generalize

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/wire"
)

// halved parts the images of each class, so that two runs can share classes and no image.
var halved = []string{"data.glyphs.per_class=16", "data.split={kind: fraction, train: 0.5}", "model.normalize=true", "loss={name: triplet, margin: 0.3, distance: squared}"}

func halves(t *testing.T, root string) (run, ref *run.Run) {
	t.Helper()
	run = runtest.Trained(t, root, append(slices.Clone(halved), "name=run", "data.limit_per_class=4")...)
	// Another network, of another dimension, with another loss.
	ref = runtest.Trained(t, root, "name=ref", halved[0], halved[1], "data.skip_per_class=4", "model.width=2", "model.embedding=5", "loss={name: triplet-capped, alpha: 0.8}", "train.epochs=1")
	return run, ref
}

// The controlled gap is the gap of the run less that of the reference, by plain loops
// over the same triplets of both networks' embeddings.
func TestControlledGapByPlainLoops(t *testing.T) {
	one, ref := halves(t, t.TempDir())
	plain := measuredAs[*GapDoc](t, one, gapOptions)
	o := gapOptions
	o.Reference = ref.Dir
	d := measuredAs[*GapDoc](t, one, o)
	for c, both := range [][2]record.Sides{{d.Loss.Sides, plain.Loss.Sides}, {d.Error, plain.Error}} {
		s := both[0]
		s.Control, s.Coefficient, s.Controlled = nil, nil, nil
		if !record.SameJSON(s, both[1]) {
			t.Errorf("column %d: a reference changes the plain gap: %+v, %+v", c, s, both[1])
		}
	}
	if !record.SameJSON(d.Bound, plain.Bound) || d.Loss.Largest != plain.Loss.Largest {
		t.Error("a reference changes the bound")
	}
	if g := d.Reference; g.Run != ref.Dir || g.Checkpoint != "last" || g.Step != ref.Manifest.Steps || g.Copies != 0 || g.Train != ref.Manifest.Data.Train {
		t.Errorf("reference %+v", g)
	}

	// means of loss and 0-1 error of a network on the triplets of a set, with weights.
	sets, err := wire.OpenData(t.Context(), one.Config)
	if err != nil {
		t.Fatal(err)
	}
	type drawn struct {
		ts     []loss.Triplet
		values [2][2][]float64 // of run and ref: loss, error
	}
	of := map[string]*drawn{}
	for _, set := range []string{"train", "test"} {
		ds, err := sets.Pick(set)
		if err != nil {
			t.Fatal(err)
		}
		v := &drawn{}
		if v.ts, err = drawTriplets(ds.Labels(), o.Triplets, set, rng.New(o.Seed, "gap/triplets "+set)); err != nil {
			t.Fatal(err)
		}
		for k, r := range []*run.Run{one, ref} {
			_, m, _, err := r.Loaded(t.Context(), "last")
			if err != nil {
				t.Fatal(err)
			}
			z, err := embed.Batches(context.Background(), m, ds, 32, func(int, int) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range v.ts {
				var ap, an float64
				for j := range z.Cols() {
					a := float64(z.Row(int(x.A))[j])
					p, n := a-float64(z.Row(int(x.P))[j]), a-float64(z.Row(int(x.N))[j])
					ap, an = ap+p*p, an+n*n
				}
				wrong := 0.0
				if ap >= an {
					wrong = 1
				}
				v.values[k][0], v.values[k][1] = append(v.values[k][0], max(0, 0.3+ap-an)), append(v.values[k][1], wrong)
			}
		}
		of[set] = v
	}
	// gap of a network: test - train, weighted.
	gap := func(k, c int, weights map[string][]float64) float64 {
		sums := map[string]float64{}
		for set, v := range of {
			total := 0.0
			for i := range v.ts {
				w := weights[set][i]
				sums[set] += w * v.values[k][c][i]
				total += w
			}
			sums[set] /= total
		}
		return sums["test"] - sums["train"]
	}
	even := map[string][]float64{}
	for set, v := range of {
		for range v.ts {
			even[set] = append(even[set], 1)
		}
	}
	const eps = 2e-6 // float32 distances
	for c, s := range []record.Sides{d.Loss.Sides, d.Error} {
		if got, want := s.Control.Value, -gap(1, c, even); math.Abs(got-want) > eps {
			t.Errorf("column %d: control %v, want %v", c, got, want)
		}
		if got := s.Gap.Value + *s.Coefficient*s.Control.Value; s.Controlled.Value != got {
			t.Errorf("column %d: controlled gap %v, want %v", c, s.Controlled.Value, got)
		}
	}

	// The interval: resamples of the images within each class, both networks on the same.
	counts := func(set string, k int) []float64 {
		ds, err := sets.Pick(set)
		if err != nil {
			t.Fatal(err)
		}
		labels := ds.Labels()
		r := newResampled(labels, byImages)
		count := make([]uint32, len(labels))
		r.count(count, rng.New(o.Seed, "gap/bootstrap "+set, uint64(k)))
		var w []float64
		for _, x := range of[set].ts {
			w = append(w, float64(count[x.A])*float64(count[x.P])*float64(count[x.N]))
		}
		return w
	}
	var values [2][2][]float64 // of run and ref
	for n := range o.Bootstrap {
		w := map[string][]float64{"train": counts("train", n), "test": counts("test", n)}
		for k := range values {
			for c := range values[k] {
				values[k][c] = append(values[k][c], gap(k, c, w))
			}
		}
	}
	for c, s := range []record.Sides{d.Loss.Sides, d.Error} {
		// Least squares of the run's gap on the reference's.
		offset, slope := stat.LinearRegression(values[1][c], values[0][c], nil, false)
		if got := *s.Coefficient; math.Abs(got-slope) > 1e-4 || math.Abs(slope) < 1e-3 {
			t.Errorf("column %d: coefficient %v, want %v (offset %v)", c, got, slope, offset)
		}
		var left []float64
		for n, v := range values[0][c] {
			left = append(left, v-slope*values[1][c][n])
		}
		want := interval(left)
		if got := s.Controlled.CI95; math.Abs(got[0]-want[0]) > eps || math.Abs(got[1]-want[1]) > eps || got[0] >= got[1] {
			t.Errorf("column %d: interval %v, want %v", c, *got, *want)
		}
		if got := stat.Variance(left, nil); got >= stat.Variance(values[0][c], nil) {
			t.Errorf("column %d: the controlled gap varies by %v, more than the plain one", c, got)
		}
		if ci := s.Control.CI95; ci[0] >= ci[1] {
			t.Errorf("column %d: interval of the control %v", c, *ci)
		}
	}
	par.SetThreads(1)
	again := measuredAs[*GapDoc](t, one, o)
	par.SetThreads(0)
	again.Cost = d.Cost
	if !record.SameJSON(d, again) {
		t.Error("threads change the gap")
	}
	if table := d.Table(); len(table.Columns) != 6 || len(table.Rows[0]) != 6 || len(table.Rows[1]) != 6 || !strings.Contains(strings.Join(table.Notes, "\n"), "controlled gap: gap + ") {
		t.Errorf("table %+v", table)
	}
}

// What is common to both networks is taken out: with the run itself as its reference
// nothing is left.
func TestGapControlledByItself(t *testing.T) {
	run := runtest.Trained(t, t.TempDir(), append(slices.Clone(halved), "train.epochs=1")...)
	_, m, sets, err := run.Loaded(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	l, err := newTripletLoss(run.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &gapSides{run: run, model: m, loss: l, options: gapOptions, say: tinytest.Quiet, by: byImages, reference: &gapReference{model: m}}
	for set, s := range map[string]*gapSide{"train": &g.train, "test": &g.test} {
		ds, err := sets.Pick(set)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.side(context.Background(), s, ds, set); err != nil {
			t.Fatal(err)
		}
	}
	ofLoss, ofError := g.gaps()
	for _, s := range []record.Sides{ofLoss, ofError} {
		if *s.Coefficient != 1 || s.Controlled.Value != 0 || *s.Controlled.CI95 != [2]float64{} || s.Gap.Value == 0 || s.Control.CI95[0] >= s.Control.CI95[1] {
			t.Errorf("controlled %+v of gap %+v", s.Controlled, s.Gap)
		}
	}
}

// Over the choice of training and test images the reference's own difference has mean 0,
// so that plain and controlled gaps have one mean: by enumeration of all ways to part 4
// images of each of 2 classes, under two fixed networks.
func TestControlHasMeanZero(t *testing.T) {
	r := rng.New(9, "pool")
	var pool [2][8]float64 // the embedding of an image by run and reference
	for k := range pool {
		for i := range pool[k] {
			pool[k][i] = r.NormFloat64() + 2*float64(i/4)
		}
	}
	// side has all triplets of the images that are taken, and their values. The run has
	// learned its training images: on them it is better by 1/4.
	side := func(taken []bool, learned float64) gapSide {
		v := gapSide{columns: make([][]float64, 4)}
		for a := range 8 {
			for p := range 8 {
				for n := range 8 {
					if !taken[a] || !taken[p] || !taken[n] || a == p || a/4 != p/4 || a/4 == n/4 {
						continue
					}
					for k, z := range pool {
						u := math.Abs(z[a]-z[p]) - math.Abs(z[a]-z[n]) - learned*float64(1-k)
						wrong := 0.0
						if u >= 0 {
							wrong = 1
						}
						v.columns[2*k], v.columns[2*k+1] = append(v.columns[2*k], 9+u), append(v.columns[2*k+1], wrong)
					}
				}
			}
		}
		return v
	}
	var plain, controlled, moved [2]float64
	ways := 0.0
	for mask := range 256 {
		train, test := make([]bool, 8), make([]bool, 8)
		var size [2]int
		for i := range 8 {
			train[i] = mask>>i&1 == 1
			test[i] = !train[i]
			size[i/4] += mask >> i & 1
		}
		if size != [2]int{2, 2} {
			continue
		}
		ways++
		g := &gapSides{reference: &gapReference{}, train: side(train, 0.25), test: side(test, 0)}
		ofLoss, ofError := g.gaps()
		for c, s := range []record.Sides{ofLoss, ofError} {
			plain[c], controlled[c], moved[c] = plain[c]+s.Gap.Value, controlled[c]+s.Controlled.Value, moved[c]+math.Abs(s.Control.Value)
		}
	}
	for c := range plain {
		if math.Abs(plain[c]-controlled[c]) > 1e-12*ways || moved[c] == 0 {
			t.Errorf("column %d: means %v and %v", c, plain[c]/ways, controlled[c]/ways)
		}
	}
	if ways != 36 || math.Abs(controlled[0]/ways-0.25) > 1e-12 {
		t.Errorf("mean %v over %v ways, want 1/4 of what the run has learned", controlled[0]/ways, ways)
	}
}

func TestGapReferenceRefuses(t *testing.T) {
	root := t.TempDir()
	few := "train.epochs=1"
	one := runtest.Trained(t, root, halved[0], halved[1], "name=run", "data.limit_per_class=4", few)
	named := func(name string, sets ...string) string {
		return runtest.Trained(t, root, append([]string{"name=" + name, halved[0], few}, sets...)...).Dir
	}
	interruptedRun := runtest.Create(t, root, "name=half", halved[0], halved[1])
	runtest.Interrupted(t, interruptedRun, 2)
	for dir, want := range map[string]struct {
		kind error
		text string
	}{
		one.Dir: {data.ErrUnfit, "72 of the 72 training images and 0 of the 144 test images"},
		// The first 6 of 8 against the first 4: all these; skipping 2: 2 of each class.
		named("first", halved[1], "data.limit_per_class=6"):                                 {data.ErrUnfit, "72 of the 72"},
		named("skips", halved[1], "data.skip_per_class=2"):                                  {data.ErrUnfit, "on 36 of the 72 training images and 0 of the 144"},
		named("validates", halved[1], "data.skip_per_class=2", "data.split.validation=0.5"): {data.ErrUnfit, "on 36 of the 72"},
		named("seed", halved[1], "data.split.seed=5", "data.skip_per_class=4"):              {data.ErrUnfit, "data.skip_per_class no less than"},
		// Another source whose images are those of this one: by their pixels.
		named("whole", "data.glyphs.classes=8"):                                                          {data.ErrUnfit, "was trained on"},
		named("stops", halved[1], "data.skip_per_class=4", "train.early_stop.metric=retrieval.recall@1"): {data.ErrUnfit, "was to stop by its test images (train.early_stop.metric retrieval.recall@1), which are 0 of the 72 training images and 144 of the 144 test images"},
		named("larger", halved[1], "data.skip_per_class=4", "data.size=20"):                              {data.ErrUnfit, "data.size is 20 there and 16 here"},
		named("coloured", halved[1], "data.skip_per_class=4", "data.color=rgb"):                          {data.ErrUnfit, "data.color is rgb there"},
		interruptedRun.Dir: {run.ErrNoRun, "is interrupted"},
		root:               {run.ErrNoRun, "reference"},
	} {
		o := gapOptions
		o.Reference = dir
		_, err := measured(context.Background(), one, o, progress.Progress{Say: tinytest.Quiet})
		if !errors.Is(err, want.kind) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: error %v, want %q", dir, err, want.text)
		}
	}
	// Unseen classes: the reference must know none of either side.
	apart := runtest.Trained(t, root, "name=apart", few)
	o := gapOptions
	o.Reference = named("known", "data.glyphs.difficulty=0.7")
	if _, err := measured(context.Background(), apart, o, progress.Progress{Say: tinytest.Quiet}); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "take a run on other classes") {
		t.Errorf("a reference that knows the training classes: error %v", err)
	}
	o.Reference = named("other", "data.glyphs.seed=7")
	if d := measuredAs[*GapDoc](t, apart, o); d.Resampled != byClasses || d.Loss.Controlled.CI95 == nil {
		t.Errorf("a reference of other classes: %+v", d.Loss)
	}
}

// Copies are told of.
func TestReferenceCautions(t *testing.T) {
	d := &GapDoc{record.Gap{Reference: &record.GapReference{Copies: 3}}}
	if got := d.referenceCautions(); len(got) != 1 || !strings.Contains(got[0], "3 training images") {
		t.Errorf("cautions %q", got)
	}
	d.Reference.Copies = 0
	if got := d.referenceCautions(); got != nil {
		t.Errorf("cautions %q", got)
	}
}

// Distorted training images are evaluated as they are stored, as test images are: by plain
// loops over the images of a config without distortion. Else the control has another mean
// than 0.
func TestGapOfDistortedTrainingImages(t *testing.T) {
	root := t.TempDir()
	few := append(slices.Clone(halved), "train.epochs=1")
	one := runtest.Trained(t, root, append(slices.Clone(few), "name=run", "data.limit_per_class=4", "data.distort.strength=1")...)
	ref := runtest.Trained(t, root, append(slices.Clone(few), "name=ref", "data.skip_per_class=4")...)
	o := gapOptions
	o.Reference = ref.Dir
	d := measuredAs[*GapDoc](t, one, o)
	plain, err := wire.OpenData(t.Context(), tinytest.Config(t, append(slices.Clone(few), "name=plain", "data.limit_per_class=4")...))
	if err != nil {
		t.Fatal(err)
	}
	if testutil.Fingerprint(t, plain.Train) == d.Train.Fingerprint || d.Train != one.Manifest.Data.Train {
		t.Errorf("training set %+v, want the run's, distorted", d.Train)
	}
	means := func(r *run.Run, ds data.Dataset, set string) float64 {
		ts, err := drawTriplets(ds.Labels(), o.Triplets, set, rng.New(o.Seed, "gap/triplets "+set))
		if err != nil {
			t.Fatal(err)
		}
		m, err := network(r)
		if err != nil {
			t.Fatal(err)
		}
		z, err := embed.Batches(context.Background(), m, ds, 32, func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range ts {
			var ap, an float64
			for j := range z.Cols() {
				a := float64(z.Row(int(x.A))[j])
				p, n := a-float64(z.Row(int(x.P))[j]), a-float64(z.Row(int(x.N))[j])
				ap, an = ap+p*p, an+n*n
			}
			sum += max(0, 0.3+ap-an)
		}
		return sum / float64(len(ts))
	}
	const eps = 2e-6 // float32 distances
	for name, v := range map[string][2]float64{
		"training risk": {d.Loss.Train.Value, means(one, plain.Train, "train")},
		"test risk":     {d.Loss.Test.Value, means(one, plain.Test, "test")},
		"control":       {d.Loss.Control.Value, means(ref, plain.Train, "train") - means(ref, plain.Test, "test")},
	} {
		if math.Abs(v[0]-v[1]) > eps {
			t.Errorf("%s %v, want %v", name, v[0], v[1])
		}
	}
	if !strings.Contains(strings.Join(d.Warnings, "\n"), "trained on distorted images") {
		t.Errorf("warnings %q", d.Warnings)
	}
}

// A control that is not about 0 says that something is wrong with the reference.
func TestControlApartFromZero(t *testing.T) {
	for ci, want := range map[[2]float64]string{
		{0.01, 0.3}:    "does better on test images",
		{-0.3, -0.01}:  "does better on training images",
		{-0.01, 0.3}:   "",
		{0, 0.3}:       "",
		{-0.3, 0.0001}: "",
	} {
		d := &GapDoc{record.Gap{Reference: &record.GapReference{}, Source: record.Source{Set: "test"}}}
		d.Loss.Control = &record.Value{Value: (ci[0] + ci[1]) / 2, CI95: &ci}
		d.Error.Control = &record.Value{Value: 0.2} // without an interval
		got := d.referenceCautions()
		if want == "" && got != nil || want != "" && (len(got) != 1 || !strings.Contains(got[0], want) || !strings.Contains(got[0], "of the loss")) {
			t.Errorf("%v: cautions %q, want %q", ci, got, want)
		}
	}
}

// Without resamples nothing is said of intervals and of what varies over them.
func TestGapTableWithoutIntervals(t *testing.T) {
	run, ref := halves(t, t.TempDir())
	o := gapOptions
	o.Reference, o.Bootstrap = ref.Dir, 0
	d := measuredAs[*GapDoc](t, run, o)
	notes := strings.Join(d.Table().Notes, "\n")
	for _, not := range []string{"intervals by", "varies least"} {
		if strings.Contains(notes, not) {
			t.Errorf("%q in %s", not, notes)
		}
	}
	if !strings.Contains(notes, "no intervals (bootstrap 0)") || !strings.Contains(notes, "coefficient than 1") || *d.Loss.Coefficient != 1 {
		t.Errorf("coefficient %v, notes %s", *d.Loss.Coefficient, notes)
	}
}
