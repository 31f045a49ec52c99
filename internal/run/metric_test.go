package run_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"tercet/internal/cluster/solve"
	"tercet/internal/clustering"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/evaluate"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/robustness"
	"tercet/internal/run"
	"tercet/internal/run/points"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// blobs writes npy files of Gaussian classes in 4 dimensions that differ in the first
// two, of which the second varies less, beside two that vary most and carry no information; and
// returns a config of them.
func blobs(t testing.TB, classes, each int) string {
	t.Helper()
	dir := t.TempDir()
	for _, set := range []string{"train", "test"} {
		s := rng.New(7, "blobs "+set)
		var x []float32
		var labels []int32
		for c := range classes {
			for range each {
				angle := 2 * math.Pi * float64(c) / float64(classes)
				x = append(x, float32(math.Cos(angle)+0.2*s.NormFloat64()), float32(math.Sin(angle)+0.2*s.NormFloat64()),
					float32(2*s.NormFloat64()), float32(2*s.NormFloat64()))
				labels = append(labels, int32(c))
			}
		}
		writeNPY(t, filepath.Join(dir, set), x, len(labels), 4, labels)
	}
	return `
name: blobs
data:
  name: npy
  root: ` + dir + `
  train: {vectors: train.npy, labels: train.labels.npy}
  test: {vectors: test.npy, labels: test.labels.npy}
model: {name: mahalanobis, dims: 4}
metric: {sigma: 0.001}
eval: {bootstrap: 0, kmeans: {n_init: 2}}
`
}

func writeNPY(t testing.TB, base string, x []float32, n, d int, labels []int32) {
	t.Helper()
	var vectors, classes bytes.Buffer
	if err := errors.Join(npy.Write(&vectors, tinytest.Must(array.Of(x, n, d))), npy.WriteLabels(&classes, labels)); err != nil {
		t.Fatal(err)
	}
	testutil.Write(t, base+".npy", vectors.String())
	testutil.Write(t, base+".labels.npy", classes.String())
}

// featuresBy returns the features of a set of the run, by the network of its
// checkpoint.
func featuresBy(t testing.TB, r *run.Run, set string) *points.Features {
	t.Helper()
	e, err := r.Embed(context.Background(), "last", set, 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	m, err := points.Euclidean(e.Model)
	if err != nil {
		t.Fatal(err)
	}
	z, err := embed.Batches(context.Background(), m, e.Data, 7, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return points.Of(z, e.Data)
}

// h is h_w of points i and j of f, w (d, d), by its definition.
func h(f *points.Features, w []float64, i, j int) float64 {
	sum := 0.0
	for r := range f.D {
		for c := range f.D {
			sum += w[r*f.D+c] * (f.X[i*f.D+r] - f.X[j*f.D+r]) * (f.X[i*f.D+c] - f.X[j*f.D+c])
		}
	}
	return sum
}

// everyTriplet returns the mean over classes of the mean of of(u) over the class's
// triplets.
func everyTriplet(f *points.Features, w []float64, of func(u float64) float64) float64 {
	total, used := 0.0, 0
	for c := range f.Classes {
		sum, n := 0.0, 0
		for i, a := range f.Labels {
			for j, p := range f.Labels {
				if i == j || int(a) != c || int(p) != c {
					continue
				}
				near := h(f, w, i, j)
				for k, q := range f.Labels {
					if int(q) != c {
						sum += of(near - h(f, w, i, k))
						n++
					}
				}
			}
		}
		if n > 0 {
			total += sum / float64(n)
			used++
		}
	}
	return total / float64(used)
}

// recall is that of the nearest other point by h_w.
func recall(f *points.Features, w []float64) float64 {
	hits := 0
	for i := range f.N {
		best, at := math.Inf(1), -1
		for j := range f.N {
			if h := h(f, w, i, j); j != i && h < best {
				best, at = h, j
			}
		}
		if f.Labels[at] == f.Labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(f.N)
}

func wrong(u float64) float64 {
	if u >= 0 {
		return 1
	}
	return 0
}

func close64(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The whole way on images: what is in the run's folder, and the numbers of eval.json
// against loops over triplets and neighbors.
func TestFittedRun(t *testing.T) {
	ctx := context.Background()
	r := runtest.Fitted(t, t.TempDir(), tinytest.FittedText)
	if m := r.Manifest; m.Status != record.Finished || m.Model != (record.Model{Name: "mahalanobis", Embedding: 5, Parameters: 15}) || m.Steps < 1 || m.Of != m.Steps || m.Cost.Forward != 72 {
		t.Errorf("manifest %+v", m)
	}
	events, err := train.ReadEvents(r.Path("events.jsonl"))
	if err != nil || len(events) < 3 || events[0].Kind != "start" || events[len(events)-1].Kind != "end" || math.Abs(*events[1].Loss-math.Log(2)) > 1e-12 {
		t.Fatalf("%d events %+v, %v", len(events), events, err)
	}
	fit, err := r.Fit("last")
	if err != nil {
		t.Fatal(err)
	}
	if best, err := r.Fit("best"); err != nil || !slices.Equal(best.Theta, fit.Theta) {
		t.Errorf("best is another fit (%v)", err)
	}
	if fit.Certificate == nil || *fit.Certificate > 1e-9 || fit.GradNorm > 1e-11 || len(fit.Positive) != 12 || fit.Triplets != 12*6*5*66 {
		t.Errorf("%+v", fit)
	}
	w := mahalanobis.Smat(fit.Theta, 5)
	f := featuresBy(t, r, "train")
	close64(t, "risk", fit.Risk, everyTriplet(f, w, func(u float64) float64 { return math.Log1p(math.Exp(u)) }), 1e-10)
	square := 0.0
	for _, v := range w {
		square += v * v
	}
	close64(t, "objective", fit.Objective, fit.Risk+0.005*square, 1e-12)
	close64(t, "objective in the log", *events[len(events)-1].Loss, fit.Objective, 0)

	e, err := evaluate.Eval(ctx, r, "last", "test", evaluate.Defaults(r.Config), tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := e.Doc.Metric
	doc := fields(t, e.Doc)["metric_learning"].(map[string]any)
	has(t, doc, "algorithm", "loss", "positive", "dim", "triplet_error", "recall@1", "triplets", "risk", "objective", "grad_norm", "certificate", "iterations", "negative_mass")
	euclid := mahalanobis.Smat(mahalanobis.Identity(5), 5)
	test := featuresBy(t, r, "test")
	for _, set := range []struct {
		name string
		f    *points.Features
	}{{"train", f}, {"test", test}} {
		for name, w := range map[string][]float64{"learnt": w, "euclidean": euclid} {
			v, _ := d.TripletError[set.name].Get(name)
			close64(t, set.name+" triplet error, "+name, v.Value, everyTriplet(set.f, w, wrong), 1e-12)
		}
		measured(t, doc["triplet_error"].(map[string]any)[set.name].(map[string]any), "whitened", false)
	}
	for name, w := range map[string][]float64{"learnt": w, "euclidean": euclid} {
		v, _ := d.Recall.Get(name)
		close64(t, "recall@1, "+name, v.Value, recall(test, w), 1e-12)
	}
	// Euclid on the features is the network before the fit.
	at1, _ := e.Doc.Baselines["untrained"].Retrieval.Get("recall@1")
	v, _ := d.Recall.Get("euclidean")
	close64(t, "recall@1 of the untrained network", at1.Value, v.Value, 0)
	// The network embeds by the positive semidefinite part of w.
	part := slices.Clone(fit.Theta)
	mahalanobis.ProjectPSD(part, 5)
	z := e.Embedded.Vectors
	for j := 1; j < 10; j++ {
		sum := 0.0
		for k := range 5 {
			a := float64(z.Row(0)[k]) - float64(z.Row(j)[k])
			sum += a * a
		}
		want := h(test, mahalanobis.Smat(part, 5), 0, j)
		close64(t, "squared distance of embeddings", sum, want, 1e-4*(1+want))
	}

	if done, err := r.Train(ctx, run.Watch{}); !done || err != nil {
		t.Errorf("a finished fit is done again: %v, %v", done, err)
	}
	c, err := clustering.Cluster(ctx, r, "last", "test", 0, record.ClusterOptions{Method: solve.KMeans, NInit: 2, Maps: record.MapOptions{Kind: "none"}}, solve.Share{}, tinytest.Quiet)
	if err != nil || len(c.Doc.Sizes) != 6 {
		t.Errorf("cluster: %+v, %v", c, err)
	}
	o := record.AttackOptions{Attacks: []string{"ES"}, Variants: []string{"fixed"}, Queries: 8}
	if err := robustness.Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 4
	a, err := robustness.Attack(ctx, r, "last", "test", o, tinytest.Quiet)
	if err != nil || a.Doc.Scores["fixed"][0].Value.Value <= a.Doc.Clean["fixed"][0].Value.Value {
		t.Errorf("attack: %+v, %v", a, err)
	}
}

// Where two directions vary much and carry no information, the metric learned finds the nearest
// of the class more often than Euclid's, and the printed sign's less.
func TestFitLearnsAndThePrintedSignDoesNot(t *testing.T) {
	text := blobs(t, 4, 20)
	score := func(sets ...string) (*record.MetricEval, []string) {
		r := runtest.Fitted(t, t.TempDir(), text, sets...)
		o := evaluate.Defaults(r.Config)
		o.KMeans, o.Baselines = false, false
		e, err := evaluate.Eval(context.Background(), r, "last", "test", o, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		return e.Doc.Metric, e.Doc.Warnings
	}
	of := func(s record.Scores, name string) float64 { v, _ := s.Get(name); return v.Value }
	for _, sets := range [][]string{nil, {"metric.loss=hinge", "metric.zeta=1"}, {"metric.loss=huber", "metric.zeta=1"}, {"metric.loss=least-squares", "metric.zeta=1"},
		{"metric.algorithm=sgd", "metric.steps=4000"}, {"metric.algorithm=sgd", "metric.steps=4000", "metric.psd=true"}, {"model.whiten=true", "metric.sigma=1e-4"}, {"model.dims=0"}, {"metric.positive=1"}} {
		d, warnings := score(sets...)
		for _, set := range []string{"train", "test"} {
			if l, e := of(d.TripletError[set], "learnt"), of(d.TripletError[set], "euclidean"); !(l < e-0.1) {
				t.Errorf("%v: triplet error on the %s set %v, Euclid's %v", sets, set, l, e)
			}
		}
		if l, e := of(d.Recall, "learnt"), of(d.Recall, "euclidean"); len(sets) == 0 && !(l > e+0.1) {
			t.Errorf("recall@1 %v, Euclid's %v", l, e)
		}
		if of(d.Recall, "whitened") < 0.9 {
			t.Errorf("%v: recall@1 whitened %v", sets, of(d.Recall, "whitened"))
		}
		if len(warnings) > 0 && strings.Contains(strings.Join(warnings, " "), "one point") {
			t.Errorf("%v: %v", sets, warnings)
		}
	}
	d, _ := score("metric.loss=logistic-printed")
	if e := of(d.TripletError["test"], "learnt"); e < 0.5 {
		t.Errorf("printed sign: triplet error %v", e)
	}
	if l, e := of(d.Recall, "learnt"), of(d.Recall, "euclidean"); !(l < e) {
		t.Errorf("printed sign: recall@1 %v, Euclid's %v", l, e)
	}
}

// A w without an eigenvalue above 0 leaves the network one point; eval says so and
// still evaluates h_w.
func TestFitOfOnePoint(t *testing.T) {
	dir := t.TempDir()
	for _, set := range []string{"train", "test"} {
		writeNPY(t, filepath.Join(dir, set), []float32{0, 0.1, 1, 1.1}, 4, 1, []int32{0, 0, 1, 1})
	}
	text := "name: x\ndata:\n  name: npy\n  root: " + dir + "\n  train: {vectors: train.npy, labels: train.labels.npy}\n  test: {vectors: test.npy, labels: test.labels.npy}\nmodel: {name: mahalanobis, dims: 1}\nmetric: {loss: logistic-printed}\neval: {bootstrap: 0}\n"
	r := runtest.Fitted(t, t.TempDir(), text)
	fit, err := r.Fit("last")
	if err != nil || !fit.OnePoint || fit.NegativeMass != 1 || !(fit.Theta[0] < 0) {
		t.Fatalf("%+v, %v", fit, err)
	}
	e, err := evaluate.Eval(context.Background(), r, "last", "test", evaluate.Defaults(r.Config), tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(e.Doc.Warnings, "; "); !strings.Contains(w, "all embeddings are one point") {
		t.Errorf("warnings %s", w)
	}
	for _, v := range e.Embedded.Vectors.Data {
		if v != 0 {
			t.Errorf("an embedding at %v", v)
		}
	}
	learned, _ := e.Doc.Metric.Recall.Get("learnt")
	wrongs, _ := e.Doc.Metric.TripletError["test"].Get("learnt")
	if learned.Value != 0 || wrongs.Value != 1 {
		t.Errorf("recall@1 %v, triplet error %v; want 0 and 1", learned.Value, wrongs.Value)
	}
}

// The same bits on 1 and 3 threads, and again; of an interrupted fit too.
func TestFitIsReproducible(t *testing.T) {
	defer par.SetThreads(par.Threads())
	text := blobs(t, 4, 24)
	for _, sets := range [][]string{nil, {"metric.algorithm=sgd"}, {"model.whiten=true", "noise={kind: sln, rate: 0.2}"}} {
		var first map[string]string
		for _, threads := range []int{1, 3} {
			par.SetThreads(threads)
			root := t.TempDir()
			r := runtest.CreateFitted(t, root, text, sets...)
			if threads == 3 {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_, err := r.Train(ctx, run.Watch{})
				if !errors.Is(err, train.ErrInterrupted) || r.Manifest.Status != record.Interrupted || !strings.Contains(err.Error(), "starts again") {
					t.Fatalf("%v: %v, status %s", sets, err, r.Manifest.Status)
				}
				r.Close()
				r = runtest.CreateFitted(t, root, text, sets...)
			}
			if _, err := r.Train(context.Background(), run.Watch{}); err != nil {
				t.Fatal(err)
			}
			files := testutil.Snapshot(t, r.Path("checkpoints"))
			if first == nil {
				first = files
			} else if d := cmp.Diff(first, files); d != "" {
				t.Errorf("%v: other bits", sets)
			}
		}
	}
}

// Features against principal components from a singular value decomposition in
// float64, by their products, which signs do not change.
func TestFeaturesAreThoseOfPrincipalComponents(t *testing.T) {
	r := runtest.Fitted(t, t.TempDir(), tinytest.FittedText, "model.radius=2", "model.dims=3")
	f := featuresBy(t, r, "train")
	sets := tinytest.Must(wire.OpenData(t.Context(), r.Config))
	raw := tinytest.Must(embed.Pixels(t.Context(), sets.Train))
	n, d := raw.Rows(), raw.Cols()
	x := mat.NewDense(n, d, nil)
	for j := range d {
		mean := 0.0
		for i := range n {
			mean += float64(raw.Row(i)[j]) / float64(n)
		}
		for i := range n {
			x.Set(i, j, float64(raw.Row(i)[j])-mean)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var u mat.Dense
	svd.UTo(&u)
	s := svd.Values(nil)
	far, length := 0.0, 0.0
	for i := range n {
		a, b := 0.0, 0.0
		for k := range 3 {
			a += math.Pow(s[k]*u.At(i, k), 2)
			b += f.X[i*3+k] * f.X[i*3+k]
		}
		far, length = max(far, math.Sqrt(a)), max(length, math.Sqrt(b))
	}
	if length > 2 || length < 2*(1-2e-5) {
		t.Errorf("the farthest image is at %v of radius 2", length)
	}
	for i := 0; i < n; i += 5 {
		for j := range n {
			want, got := 0.0, 0.0
			for k := range 3 {
				want += s[k] * s[k] * u.At(i, k) * u.At(j, k) * 4 / far / far
				got += f.X[i*3+k] * f.X[j*3+k]
			}
			close64(t, "product", got, want, 2e-4)
		}
	}
}

func TestBadFits(t *testing.T) {
	text := blobs(t, 3, 8)
	for name, tc := range map[string]struct {
		sets []string
		want string
		key  string // of a config error
	}{
		"unknown class":     {[]string{"metric.positive=7"}, `metric.positive: no training item is of class "7"; classes: 0, 1, 2`, "metric.positive"},
		"no such class":     {[]string{"metric.positive=cats"}, `metric.positive: no training item is of class "cats"; classes: 0, 1, 2`, "metric.positive"},
		"too many dims":     {[]string{"model.dims=5"}, "model.dims: asks for 5 principal components of images of 4 numbers", "model.dims"},
		"c above the limit": {[]string{"metric.algorithm=sgd", "metric.c=3"}, "above 2/alpha = 0.5", "metric.c"},
		"c of the paper":    {[]string{"metric.algorithm=sgd", "metric.c=0.2", "metric.constants=paper"}, "above 2/alpha = 0.03125", "metric.c"},
	} {
		r := runtest.CreateFitted(t, t.TempDir(), text, tc.sets...)
		_, err := r.Train(context.Background(), run.Watch{})
		var e *config.Error
		if !errors.As(err, &e) || e.Key != tc.key || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
		if r.Manifest.Status != record.Failed || r.Manifest.Message == "" {
			t.Errorf("%s: manifest %+v", name, r.Manifest)
		}
	}
}

// Data that have no triplet, or no direction.
func TestUnfitData(t *testing.T) {
	for name, tc := range map[string]struct {
		x      []float32
		labels []int32
		sets   []string
		want   string
	}{
		"one class":        {[]float32{0, 0, 1, 0, 0, 1}, []int32{0, 0, 0}, nil, "all 3 items are of one class: a triplet needs a negative of another (n- >= 1)"},
		"one class, named": {[]float32{0, 0, 1, 0, 0, 1}, []int32{0, 0, 0}, []string{"metric.positive=0"}, "n- = 0"},
		"each alone":       {[]float32{0, 0, 1, 0, 0, 1}, []int32{0, 1, 2}, nil, "alone in its class: a triplet needs two positives (n+ >= 2)"},
		"one positive":     {[]float32{0, 0, 1, 0, 0, 1}, []int32{0, 1, 1}, []string{"metric.positive=0"}, "n+ = 1"},
		"all the same":     {[]float32{1, 2, 1, 2, 1, 2}, []int32{0, 1, 1}, nil, "are the same"},
		"the same, no PCA": {[]float32{1, 2, 1, 2, 1, 2}, []int32{0, 1, 1}, []string{"model.dims=0"}, "all 3 training items are the same"},
		"nothing to divide": {[]float32{0, 0, 1, 0, 3, 0}, []int32{0, 1, 1}, []string{"model.whiten=true"},
			"no variance along principal component 2: set model.dims to 1"},
	} {
		dir := t.TempDir()
		writeNPY(t, filepath.Join(dir, "train"), tc.x, 3, 2, tc.labels)
		writeNPY(t, filepath.Join(dir, "test"), tc.x, 3, 2, tc.labels)
		text := "name: x\ndata:\n  name: npy\n  root: " + dir + "\n  train: {vectors: train.npy, labels: train.labels.npy}\n  test: {vectors: test.npy, labels: test.labels.npy}\nmodel: {name: mahalanobis, dims: 2}\n"
		r := runtest.CreateFitted(t, t.TempDir(), text, tc.sets...)
		_, err := r.Train(context.Background(), run.Watch{})
		if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

// A fit that fails before its first step leaves nothing in the way of a corrected one.
func TestAFailedFitGivesWay(t *testing.T) {
	root := t.TempDir()
	r := runtest.CreateFitted(t, root, tinytest.FittedText, "metric.positive=nobody")
	if _, err := r.Train(context.Background(), run.Watch{}); err == nil {
		t.Fatal("fitted without positives")
	}
	r.Close()
	runtest.Fitted(t, root, tinytest.FittedText)
}

// Numbers that overflow are an error that says so, whatever finds w.
func TestFitOverflows(t *testing.T) {
	for _, algorithm := range []string{"rrm", "sgd"} {
		r := runtest.CreateFitted(t, t.TempDir(), tinytest.FittedText, "metric.algorithm="+algorithm, "metric.loss=least-squares", "metric.zeta=1e200", "name="+algorithm)
		if _, err := r.Train(context.Background(), run.Watch{}); err == nil || !strings.Contains(err.Error(), "overflow") {
			t.Errorf("%s: error %v", algorithm, err)
		}
	}
}
