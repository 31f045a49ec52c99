package generalize

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// few is a run of 3 steps on characters whose other images are the test set. Most of
// its training images are in no batch.
var few = []string{"data.split={kind: fraction, train: 0.5}", "train={steps: 3, log_every: 1}", "batch.pairs=4"}

var stabilityOptions = ReplaceOptions{Options: Options{Set: "test", Triplets: 600, Seed: 3}, Repeats: 2, Jobs: 1}

// used returns training images of r: one in a batch of its steps and one in none.
func used(t *testing.T, r *run.Run) (in, out int) {
	t.Helper()
	s, err := newStudy(t.Context(), r, stabilityOptions, progress.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	uses, err := s.rows(0, r.Manifest.Steps)
	if err != nil {
		t.Fatal(err)
	}
	in, out = slices.IndexFunc(uses, func(n int) bool { return n > 0 }), slices.Index(uses, 0)
	if in < 0 || out < 0 {
		t.Fatalf("uses %v", uses)
	}
	return in, out
}

// An image that is in no batch changes no bit; one that is in a batch changes some.
func TestOnlyImagesThatAreUsedMoveANetwork(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	in, out := used(t, r)
	o := stabilityOptions
	o.Images = []int{out, in}
	d := measuredAs[*StabilityDoc](t, r, o)
	if d.Reference != "run" || len(d.Replaced) != 4 {
		t.Fatalf("document %+v", d)
	}
	for _, v := range d.Replaced {
		m := *v.Movement
		if v.Image == out && (v.Uses != 0 || !record.SameJSON(m, record.Movement{})) {
			t.Errorf("unused image: %+v, %+v", v, m)
		}
		if v.Image == in && (v.Uses == 0 || m.LossMax <= 0 || m.LossMean <= 0 || m.LossMean > m.LossMax || m.CosineMean <= 0 || m.CosineMax < m.CosineMean || m.Weights <= 0) {
			t.Errorf("used image: %+v, %+v", v, m)
		}
		if v.Kind == ReplaceFresh && v.Class != v.Other || v.Kind == ReplaceFar && v.Class == v.Other {
			t.Errorf("classes %s and %s of %s", v.Class, v.Other, v.Kind)
		}
	}
	worst := 0.0
	for _, v := range d.Replaced {
		worst = max(worst, v.Movement.LossMax)
	}
	if d.Gamma != worst {
		t.Errorf("gamma %v, want %v", d.Gamma, worst)
	}
	for _, k := range d.Kinds {
		var want [4]float64
		for _, v := range d.Replaced {
			if m := v.Movement; v.Kind == k.Kind {
				want = [4]float64{want[0] + m.LossMean/2, want[1] + m.LossP50/2, want[2] + m.LossP90/2, want[3] + m.LossP99/2}
			}
		}
		if got := [4]float64{k.LossMean, k.LossP50, k.LossP90, k.LossP99}; got != want || got[3] <= 0 {
			t.Errorf("%s: mean and quantiles %v, want %v", k.Kind, got, want)
		}
	}
}

// By hand: the run trained again through Train with the image replaced is what the
// measurement has compared, interrupted or not, one at a time or two.
func TestStabilityByHandAndInterrupted(t *testing.T) {
	root := t.TempDir()
	r := runtest.Trained(t, root, few...)
	in, _ := used(t, r)
	o := stabilityOptions
	o.Images = []int{in, in + 1}
	d := measuredAs[*StabilityDoc](t, r, o)
	p := d.Replaced[0].Replacement
	if p.Of != "test" {
		t.Fatalf("replacement %+v", p)
	}

	sets, err := wire.OpenData(t.Context(), r.Config)
	if err != nil {
		t.Fatal(err)
	}
	again := runtest.Create(t, root, append(slices.Clone(few), "name=again")...)
	again.Alter = func(s *wire.Sets) error {
		s.Train, err = replaced(s.Train, []int{p.Image}, sets.Test, []int{p.By})
		return err
	}
	if _, err := again.Train(context.Background(), run.Watch{}); err != nil {
		t.Fatal(err)
	}
	var z [2]*array.Array
	var models [2]*nn.Model
	for k, run := range []*run.Run{r, again} {
		if models[k], err = network(run); err != nil {
			t.Fatal(err)
		}
		if z[k], err = embed.Batches(context.Background(), models[k], sets.Test, 64, func(int, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := newStudy(t.Context(), r, o, progress.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(s.probe.items, p.By) || len(s.probe.items)+len(s.pool) != sets.Test.Len() {
		t.Errorf("%d in the probe, %d in the pool, %d in all", len(s.probe.items), len(s.pool), sets.Test.Len())
	}
	euclid := func(k int, i, j int32) float64 {
		sum := 0.0
		for c, v := range z[k].Row(s.probe.items[i]) {
			x := float64(v) - float64(z[k].Row(s.probe.items[j])[c]) + 1e-6
			sum += x * x
		}
		return math.Sqrt(sum)
	}
	var worst, mean, cosines float64
	var changes []float64
	for _, x := range s.probe.triplets {
		l := [2]float64{}
		for k := range l {
			l[k] = max(0, 0.2+euclid(k, x.A, x.P)-euclid(k, x.A, x.N))
		}
		worst, mean = max(worst, math.Abs(l[1]-l[0])), mean+math.Abs(l[1]-l[0])/float64(len(s.probe.triplets))
		changes = append(changes, math.Abs(l[1]-l[0]))
	}
	// least is the least change that a share of the triplets is not above.
	least := func(percent int) float64 {
		out := math.Inf(1)
		for _, v := range changes {
			n := 0
			for _, w := range changes {
				if w <= v {
					n++
				}
			}
			if 100*n >= percent*len(changes) {
				out = min(out, v)
			}
		}
		return out
	}
	for _, i := range s.probe.items {
		ab, aa, bb := 0.0, 0.0, 0.0
		for c, v := range z[0].Row(i) {
			x, y := float64(v), float64(z[1].Row(i)[c])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		cosines += (1 - ab/math.Sqrt(aa*bb)) / float64(len(s.probe.items))
	}
	weights := 0.0
	for i, w := range models[0].Params() {
		if w.Trained() {
			weights += kernel.SquaredDistance(w.Value.Data, models[1].Params()[i].Value.Data)
		}
	}
	m := d.Replaced[0].Movement
	if m.LossP99 <= m.LossMean || m.LossP99 >= m.LossMax {
		t.Errorf("quantiles of %+v", m)
	}
	for _, v := range [][2]float64{{m.LossMax, worst}, {m.LossMean, mean}, {m.LossP50, least(50)}, {m.LossP90, least(90)}, {m.LossP99, least(99)}, {m.CosineMean, cosines}, {m.Weights, math.Sqrt(weights)}} {
		if math.Abs(v[0]-v[1]) > 1e-6*max(v[1], 1e-3) {
			t.Errorf("measured %v, by hand %v", v[0], v[1])
		}
	}

	// The same in another run directory, two at once, interrupted again and again.
	other := runtest.Trained(t, t.TempDir(), few...)
	o.Jobs = 2
	for cut := 1; ; cut++ {
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
			got := m.(*StabilityDoc)
			clean := func(d *StabilityDoc) StabilityDoc {
				c := *d
				c.Source.Run, c.Cost.Seconds = "", 0
				c.Replaced = slices.Clone(d.Replaced)
				for i := range c.Replaced {
					c.Replaced[i].Seconds = 0
				}
				return c
			}
			if !record.SameJSON(clean(d), clean(got)) {
				t.Errorf("interrupted %d times, two at once:\n%+v\nwant\n%+v", cut-1, got, d)
			}
			if cut < 3 {
				t.Errorf("interrupted %d times only", cut-1)
			}
			break
		}
		if !interruption(err) || cut > 40 {
			t.Fatalf("cut %d: error %v", cut, err)
		}
	}

	// What is there is not trained again, and leaves no weights.
	before := testutil.Snapshot(t, other.Path("stability"))
	for name := range before {
		if strings.HasSuffix(name, ".safetensors") {
			t.Errorf("%s is left", name)
		}
	}
	trainedAgain := false
	if _, err := measured(context.Background(), other, o, progress.Progress{Note: func(string, ...any) {}, Say: func(stage string, _, _ int) { trainedAgain = trainedAgain || strings.HasPrefix(stage, stageReplaced) }}); err != nil || trainedAgain {
		t.Errorf("trained again %v, error %v", trainedAgain, err)
	}
	o.Triplets = 700 // other triplets: the weights are needed again
	if d := measuredAs[*StabilityDoc](t, other, o); d.Replaced[0].Movement.CosineMean != m.CosineMean {
		t.Errorf("other triplets move embeddings by %v, not by %v", d.Replaced[0].Movement.CosineMean, m.CosineMean)
	}
}

// Where retraining gives other bits, networks are compared with the retrained one.
func TestStabilityWhereTheRunCannotBeRepeated(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	_, out := used(t, r)
	c, err := r.Checkpoint("last")
	if err != nil {
		t.Fatal(err)
	}
	sets, err := wire.OpenData(t.Context(), r.Config)
	if err != nil {
		t.Fatal(err)
	}
	a, err := wire.Assemble(r.Config, sets)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Resume(a.Trainer); err != nil {
		t.Fatal(err)
	}
	a.Model.Params()[0].Value.Data[0] += 0.25 // as of another machine
	if err := a.WriteCheckpoint(r.Last(), "", a.Model.Spec(), r.Manifest.Config); err != nil {
		t.Fatal(err)
	}
	o := stabilityOptions
	o.Images = []int{out}
	for range 2 { // the second time from what is kept
		d := measuredAs[*StabilityDoc](t, r, o)
		if d.Reference != "retrained" || len(d.Warnings) != 1 || d.Gamma != 0 {
			t.Errorf("reference %s, warnings %v, gamma %v", d.Reference, d.Warnings, d.Gamma)
		}
	}
}

func TestStabilityRefuses(t *testing.T) {
	root := t.TempDir()
	refuses := func(r *run.Run, change func(*ReplaceOptions), kind error, want string) {
		t.Helper()
		o := stabilityOptions
		if change != nil {
			change(&o)
		}
		_, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}})
		if err == nil || kind != nil && !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := os.Stat(r.Path("stability")); err == nil {
			t.Error("the folder of retrainings was made")
		}
	}
	refuses(runtest.Create(t, root, "name=untrained"), nil, run.ErrNoRun, "is running")
	half := runtest.Create(t, root, "name=half")
	runtest.Interrupted(t, half, 7)
	refuses(half, nil, run.ErrNoRun, "is interrupted")
	disjoint := runtest.Trained(t, root, "name=disjoint", "train.epochs=1")
	refuses(disjoint, func(o *ReplaceOptions) { o.Replace = []string{ReplaceFresh} }, data.ErrUnfit, "replace duplicate")
	refuses(disjoint, func(o *ReplaceOptions) { o.Images = []int{72} }, data.ErrUnfit, "valid: 0 to 71")
	refuses(disjoint, func(o *ReplaceOptions) { o.Set = "validation" }, data.ErrUnfit, "no validation set")
	refuses(disjoint, func(o *ReplaceOptions) { o.Set = "train" }, data.ErrUnfit, "not used in training")

	ds, err := data.NewMemory(make([]uint8, 5), 1, 1, 1, []int32{0, 0, 1, 2, 2}, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	p := newReplacer(ds, ds, "test", []int{0, 3}, 1)
	if _, err := p.choose([]int{2}, 0, []string{ReplaceTwin}, nil); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "the only one of class b") {
		t.Errorf("a class of one image: error %v", err)
	}
	if got, err := p.choose(nil, 5, []string{ReplaceTwin}, nil); err != nil || len(got) != 4 || slices.Contains(got, 2) {
		t.Errorf("images %v, error %v", got, err)
	}
	if _, err := p.choose(nil, 9, []string{ReplaceTwin}, nil); err == nil || !strings.Contains(err.Error(), "9 replacements of a training image are requested, and only 5") {
		t.Errorf("more than there are: %v", err)
	}
	if got, err := p.choose(nil, 2, []string{ReplaceTwin}, nil); err != nil || len(got) != 2 {
		t.Errorf("images %v, error %v", got, err)
	}
	if _, err := newReplacer(ds, ds, "test", []int{2}, 1).choose([]int{2}, 0, []string{ReplaceFar}, nil); !errors.Is(err, data.ErrUnfit) {
		t.Errorf("no other class: error %v", err)
	}
}

// A retraining that collapses counts as that, and is not tried again.
func TestARetrainingThatIsLost(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	in, _ := used(t, r)
	o := stabilityOptions
	o.Images, o.Replace = []int{in}, []string{ReplaceFresh}
	d := measuredAs[*StabilityDoc](t, r, o)
	path := filepath.Join(r.Path("stability", "retrained"), replacementName(d.Replaced[0].Replacement), "result.json")
	var kept record.Retrained[record.RetrainKey, record.Replaced]
	if !run.ReadStored(path, &kept) {
		t.Fatal("no result")
	}
	lost := &run.Run{Dir: r.Dir, Manifest: record.Manifest{Status: record.Collapsed, Message: "all in one place"}}
	m, status, message, err := trainedAgain(lost, &train.CollapseError{})
	if m != nil || err != nil || status != record.Collapsed || message != "all in one place" {
		t.Fatalf("network %v, %s, message %q, error %v", m, status, message, err)
	}
	kept.Record.Status, kept.Record.Message, kept.Record.Movement = status, message, nil
	if err := record.Write(path, kept); err != nil {
		t.Fatal(err)
	}
	d = measuredAs[*StabilityDoc](t, r, o)
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "all in one place") || d.Kinds[0].N != 0 || d.Gamma != 0 {
		t.Errorf("document %+v", d)
	}
	if text := d.Table().Rows[0]; len(text) != len(d.Table().Columns) {
		t.Errorf("row %v", text)
	}
	if _, err := d.Draw(t.TempDir()); err == nil {
		t.Error("nothing was drawn")
	}
}

// The adversary, the pool and the places of a sample by plain loops.
func TestReplacementsByHand(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	s, err := newStudy(t.Context(), r, stabilityOptions, progress.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := network(r)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.plan(context.Background(), m, []string{ReplaceFar}, nil)
	if err != nil {
		t.Fatal(err)
	}
	z := map[string]*array.Array{}
	for name, ds := range map[string]data.Dataset{"train": s.train, "test": s.held} {
		if z[name], err = embed.Batches(context.Background(), m, ds, 64, func(int, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	center := func(set string, ds data.Dataset, class string, among []int) []float64 {
		sum, n := make([]float64, m.Dim()), 0.0
		for i, y := range ds.Labels() {
			if ds.Classes()[y] == class && (among == nil || slices.Contains(among, i)) {
				n++
				for k, v := range z[set].Row(i) {
					sum[k] += float64(v)
				}
			}
		}
		for k := range sum {
			sum[k] /= n
		}
		return sum
	}
	apart := func(a, b []float64) float64 {
		d := 0.0
		for k := range a {
			d += (a[k] - b[k]) * (a[k] - b[k])
		}
		return d
	}
	for _, p := range plan {
		own := center("train", s.train, p.Class, nil)
		far := center("test", s.held, p.Other, s.pool)
		for _, class := range s.held.Classes() {
			if class != p.Class && apart(own, center("test", s.held, class, s.pool)) > apart(own, far)+1e-9 {
				t.Errorf("image %d of %s: %s is farther than %s", p.Image, p.Class, class, p.Other)
			}
		}
		if !slices.Contains(s.pool, p.By) || s.held.Classes()[s.held.Labels()[p.By]] != p.Other {
			t.Errorf("replacement %+v", p)
		}
	}
	few, err := sampled(s.probe.ds, s.probe.items, 30)
	if err != nil {
		t.Fatal(err)
	}
	want, err := embed.Sample(s.probe.ds, 30)
	if err != nil {
		t.Fatal(err)
	}
	h, w, c := want.Shape()
	x, y := make([]float32, h*w*c), make([]float32, h*w*c)
	if len(few) != want.Len() {
		t.Fatalf("%d places of %d images", len(few), want.Len())
	}
	for k, i := range few {
		if err := errors.Join(want.Read(k, x), s.held.Read(i, y)); err != nil || !slices.Equal(x, y) {
			t.Errorf("place %d is not image %d (%v)", k, i, err)
		}
	}
	var labels []int32
	for y, n := range []int{1, 2, 3, 30, 2000} {
		for range n {
			labels = append(labels, int32(y))
		}
	}
	ds, err := data.NewMemory(make([]uint8, len(labels)), 1, 1, 1, labels, []string{"a", "b", "c", "d", "e"})
	if err != nil {
		t.Fatal(err)
	}
	pool, items := partPool(ds, 4)
	count := make([]int, 5)
	for _, i := range pool {
		count[labels[i]]++
	}
	if !slices.Equal(count, []int{1, 0, 1, 3, 100}) || len(pool)+len(items) != len(labels) {
		t.Errorf("pool %v of %d, %d in the probe", count, len(pool), len(items))
	}
}

func TestCosineApart(t *testing.T) {
	s := rng.New(1, "cos")
	x, y := make([]float32, 9), make([]float32, 9)
	for range 50 {
		ab, aa, bb := 0.0, 0.0, 0.0
		for k := range x {
			x[k], y[k] = float32(s.NormFloat64()), float32(s.NormFloat64())
			ab, aa, bb = ab+float64(x[k])*float64(y[k]), aa+float64(x[k])*float64(x[k]), bb+float64(y[k])*float64(y[k])
		}
		if got, want := cosineApart(x, y), 1-ab/math.Sqrt(aa*bb); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v, want %v", got, want)
		}
	}
	zero := make([]float32, 9)
	if cosineApart(x, x) != 0 || cosineApart(zero, zero) != 0 || cosineApart(x, zero) != 1 || cosineApart(zero, x) != 1 {
		t.Error("equal and empty rows")
	}
}

// gap takes gamma from a stability.json of the same weights alone.
func TestGammaOfTheSameWeights(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), append(slices.Clone(few), "train.steps=1")...)
	m, err := network(r)
	if err != nil {
		t.Fatal(err)
	}
	d := record.Stability{Schema: record.StabilitySchema, Source: record.Source{Checkpoint: "last", Step: 3}, Gamma: 0.5, Kinds: []record.KindSummary{{N: 1}}}
	check := func(want bool, why string) {
		t.Helper()
		if err := record.Write(r.Path("stability.json"), d); err != nil {
			t.Fatal(err)
		}
		if g := measuredGamma(r, "last", 3, m); (g != nil) != want || want && *g != 0.5 {
			t.Errorf("%s: %v", why, g)
		}
	}
	if measuredGamma(r, "last", 3, m) != nil {
		t.Error("there is no file")
	}
	check(true, "the same")
	d.Kinds[0].N = 0
	check(false, "all were lost")
	d.Kinds[0].N, d.Source.Step = 1, 4
	check(false, "another step")
	d.Source.Step, d.Schema = 3, "tercet.stability/9"
	check(false, "another schema")
}
