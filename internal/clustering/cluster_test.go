package clustering

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/cluster/link"
	"tercet/internal/cluster/multicut/factored"
	"tercet/internal/cluster/solve"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run/tinytest"
	"tercet/internal/safetensors"
)

// groups are n points of k classes in d dimensions, spread about means of length 1.
func groups(n, k, d int, spread float64) data.Embeddings {
	r := rng.New(1, "cluster-test")
	mean := make([]float64, k*d)
	for c := range k {
		norm := 0.0
		for a := range d {
			mean[c*d+a] = r.NormFloat64()
			norm += mean[c*d+a] * mean[c*d+a]
		}
		for a := range d {
			mean[c*d+a] /= math.Sqrt(norm)
		}
	}
	v := data.Embeddings{X: make([]float32, n*d), N: n, D: d, Labels: make([]int32, n)}
	for i := range n {
		v.Labels[i] = int32(i % k)
		for a := range d {
			v.X[i*d+a] = float32(mean[(i%k)*d+a] + spread*r.NormFloat64())
		}
	}
	return v
}

// multicutOptions are those of the command line.
func multicutOptions(threshold float64) record.ClusterOptions {
	return record.ClusterOptions{Method: solve.Multicut, NInit: 3, Multicut: record.MulticutOptions{
		ThresholdOptions: record.ThresholdOptions{From: solve.FromValue, Value: threshold}, Link: link.OnSquared, Bias: .5, Solver: "auto", Bound: "auto",
	}, Maps: record.MapOptions{Kind: "none"}}
}

func clusterOf(t *testing.T, v data.Embeddings, o record.ClusterOptions) *solve.Result {
	t.Helper()
	c, err := (&solve.Job{Items: v, Options: o, Say: tinytest.Quiet}).Run(context.Background(), record.Source{Items: v.N, Dim: v.D})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cutCosts sums s (tau^2 - d^2) over the pairs of different labels, in float64.
func cutCosts(v data.Embeddings, labels []int32, tau, s float64) float64 {
	sum := 0.0
	for i := range v.N {
		for j := range i {
			if labels[i] != labels[j] {
				sum += s * (tau*tau - squared(v, i, j))
			}
		}
	}
	return sum
}

func squared(v data.Embeddings, i, j int) float64 {
	sum := 0.0
	for a := range v.D {
		e := float64(v.X[i*v.D+a]) - float64(v.X[j*v.D+a])
		sum += e * e
	}
	return sum
}

// What a document says of a multicut is what the pairs cost one by one.
func TestMulticutDocument(t *testing.T) {
	v := groups(60, 4, 6, .15)
	const tau = .8
	for _, solver := range []string{"auto", "gaec", "balanced", "fixation", "mutex", "kl"} {
		o := multicutOptions(tau)
		o.Multicut.Solver = solver
		doc := clusterOf(t, v, o).Doc
		s := doc.Multicut.Link.Scale
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-5*math.Abs(want) {
				t.Errorf("%s: %s is %v, want %v", solver, what, got, want)
			}
		}
		near("objective", *doc.Objective, cutCosts(v, doc.Labels, tau, s))
		c := doc.Multicut.Comparison
		near("ground truth", c.GroundTruth.Objective, cutCosts(v, v.Labels, tau, s))
		apart, low := make([]int32, v.N), 0.0
		for i := range apart {
			apart[i] = int32(i)
			for j := range i {
				low += min(0, s*(tau*tau-squared(v, i, j)))
			}
		}
		near("singletons", c.Singletons.Objective, cutCosts(v, apart, tau, s))
		if c.OneCluster.Objective != 0 || c.GroundTruth.Clusters != 4 || c.KMeans.Clusters != 4 || c.KMeans.Clustering == nil {
			t.Errorf("%s: comparison %+v", solver, c)
		}
		if *doc.LowerBound > *doc.Objective+1e-9*math.Abs(*doc.Objective) || *doc.LowerBound < low-1e-5*math.Abs(low) {
			t.Errorf("%s: bound %v of %v, the trivial one is %v", solver, *doc.LowerBound, *doc.Objective, low)
		}
		near("gap", *doc.Gap, (*doc.Objective-*doc.LowerBound)/math.Abs(*doc.Objective))
		if g := doc.Multicut.Graph; g.Kind != "complete" || g.Edges != 60*59/2 || g.Absent != 0 || (g.Bytes > 0) == (solver == "auto" && !strings.HasPrefix(doc.Multicut.Bound.Method, "triangle")) {
			t.Errorf("%s: graph %+v", solver, g)
		}
		if *doc.Threshold != tau || doc.ThresholdFrom.From != solve.FromValue || doc.Measure != "cut costs" {
			t.Errorf("%s: threshold %v from %+v", solver, *doc.Threshold, doc.ThresholdFrom)
		}
	}
}

// Sparse graphs are evaluated by their own costs, and also by those of all pairs.
func TestSparseMulticutDocument(t *testing.T) {
	v := groups(60, 4, 6, .15)
	o := multicutOptions(.8)
	o.Multicut.Neighbors, o.Multicut.Random = 5, 5
	doc := clusterOf(t, v, o).Doc
	g := doc.Multicut.Graph
	if g.Kind != "sparse" || g.Edges+g.Absent != 60*59/2 || g.Edges >= 600 || g.Edges < 300 {
		t.Errorf("graph %+v", g)
	}
	if want := cutCosts(v, doc.Labels, .8, doc.Multicut.Link.Scale); math.Abs(*doc.Multicut.Complete-want) > 1e-5*math.Abs(want) {
		t.Errorf("all pairs cost %v, want %v", *doc.Multicut.Complete, want)
	}
	if w := strings.Join(doc.Warnings, "\n"); !strings.Contains(w, "of 1770 pairs have an edge") {
		t.Errorf("warnings: %s", w)
	}
}

// Where no pair repels, one cluster is best: the bound is 0 and there is no gap,
// whether the solver proves it at once or not.
func TestNothingRepels(t *testing.T) {
	v := groups(60, 4, 6, .15)
	far := 0.0
	for i := range v.N {
		for j := range i {
			far = max(far, math.Sqrt(squared(v, i, j)))
		}
	}
	for _, threshold := range []float64{1.001 * far, 10 * far} {
		for _, bound := range []string{"auto", "trivial", "triangle"} {
			o := multicutOptions(threshold)
			o.Multicut.Bound = bound
			doc := clusterOf(t, v, o).Doc
			if doc.Clusters != 1 || *doc.Objective != 0 || *doc.LowerBound != 0 || *doc.Gap != 0 {
				t.Errorf("threshold %v, bound %s: %d clusters, objective %v, bound %v, gap %v", threshold, bound, doc.Clusters, *doc.Objective, *doc.LowerBound, *doc.Gap)
			}
		}
	}
}

func TestThresholdSources(t *testing.T) {
	v := groups(80, 4, 6, .2)
	asked := 0
	from := func(m *solve.Margins, with bool) *solve.Thresholds {
		s := &solve.Thresholds{Margins: m, Say: tinytest.Quiet}
		if with {
			s.Held = func(context.Context) (*solve.Held, error) {
				asked++
				return &solve.Held{Embeddings: v, Source: record.Source{Set: "validation", Items: v.N}}, nil
			}
		}
		return s
	}
	m := &solve.Margins{Tau: math.Sqrt(.75), Alpha: 1, Beta: .5}
	for _, tc := range []struct {
		what string
		s    *solve.Thresholds
		kind string
		o    record.ThresholdOptions
		from string
		tau  float64 // 0: fitted
		err  string
	}{
		{"a value", from(m, true), "squared", record.ThresholdOptions{From: solve.FromValue, Value: .3}, solve.FromValue, .3, ""},
		{"auto with margins", from(m, true), "squared", record.ThresholdOptions{From: solve.FromAuto}, solve.FromMargins, m.Tau, ""},
		{"auto with margins, linear", from(m, true), "distance", record.ThresholdOptions{From: solve.FromAuto}, solve.FromMargins, m.Tau, ""},
		{"auto without margins", from(nil, true), "squared", record.ThresholdOptions{From: solve.FromAuto}, solve.FromFit, 0, ""},
		{"a fitted link", from(m, true), "fitted", record.ThresholdOptions{From: solve.FromAuto}, solve.FromFit, 0, ""},
		{"fit", from(m, true), "distance", record.ThresholdOptions{From: solve.FromFit, Prior: "pairs"}, solve.FromFit, 0, ""},
		{"margins that there are not", from(nil, true), "squared", record.ThresholdOptions{From: solve.FromMargins}, "", 0, "the loss fixes no threshold"},
		{"nothing to fit to", from(nil, false), "squared", record.ThresholdOptions{From: solve.FromAuto}, "", 0, "fit-embeddings"},
	} {
		asked = 0
		l, src, _, err := tc.s.Resolve(context.Background(), tc.kind, tc.o)
		var option *option.Error
		switch {
		case tc.err != "":
			if !errors.As(err, &option) || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: error %v", tc.what, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", tc.what, err)
			continue
		}
		if src.From != tc.from || (asked > 0) != (tc.tau == 0) || (src.Fit != nil) != (tc.tau == 0) {
			t.Errorf("%s: %+v, held-out data asked for %d times", tc.what, src, asked)
		}
		wanted := tc.kind
		if wanted == link.KindFitted {
			wanted = link.OnSquared
		}
		if tc.tau > 0 && l.Tau != tc.tau || l.Kind != wanted {
			t.Errorf("%s: link %+v", tc.what, l)
		}
		if f := src.Fit; f != nil { // the logit of P(join) is 0 at tau
			at := l.Tau
			if wanted == link.OnSquared {
				at *= at
			}
			if z := f.Intercept + f.Slope*at; math.Abs(z) > 1e-9*math.Abs(f.Intercept) || math.Abs(l.Scale+f.Slope) > 0 {
				t.Errorf("%s: logit %v at %v, scale %v of slope %v", tc.what, z, l.Tau, l.Scale, f.Slope)
			}
			if f.Pairs != 80*79/2 || f.Similar != 4*20*19/2 || f.Prior != map[bool]string{true: "pairs", false: "balanced"}[tc.o.Prior == "pairs"] {
				t.Errorf("%s: fit %+v", tc.what, f)
			}
		}
	}
}

// The scale of a link says what its doc says: 99 % at a distance of 0, or at alpha.
func TestNaturalScales(t *testing.T) {
	for _, tc := range []struct {
		l        link.Link
		d2, want float64
	}{
		{link.Squared(.7, solve.Natural(link.OnSquared, .7, 0, 0)), 0, .01},
		{link.Distance(.7, solve.Natural(link.OnDistance, .7, 0, 0)), 0, .01},
		{link.Squared(math.Sqrt(.75), solve.Natural(link.OnSquared, math.Sqrt(.75), 1, .5)), 1, .99},
		{link.Squared(math.Sqrt(.75), solve.Natural(link.OnSquared, math.Sqrt(.75), 1, .5)), .5, .01},
	} {
		if got := tc.l.Cut(tc.d2); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%+v: P(cut) at %v is %v, want %v", tc.l, tc.d2, got, tc.want)
		}
	}
}

func TestLinksOutOfRange(t *testing.T) {
	for _, tc := range []struct {
		o    record.MulticutOptions
		want string
	}{
		{record.MulticutOptions{Clip: .1, Bias: .95}, "every item would be a single-item cluster"},
		{record.MulticutOptions{Clip: .1, Bias: .05}, "every pair is joined"},
		{record.MulticutOptions{Bias: 1 - 1e-9}, "every item would be a single-item cluster"},
	} {
		_, err := solve.AdjustLink(&tc.o, link.Squared(.7, solve.Natural(link.OnSquared, .7, 0, 0)))
		var option *option.Error
		if !errors.As(err, &option) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc.o, err)
		}
	}
	// A bias moves the threshold: log((1-b)/b) + s (t^2 - d^2) = 0.
	o := record.MulticutOptions{Bias: .6, Scale: 3}
	l, err := solve.AdjustLink(&o, link.Squared(.7, 1))
	if want := math.Sqrt(.49 + math.Log(.4/.6)/3); err != nil || math.Abs(l.Threshold()-want) > 1e-12 {
		t.Errorf("threshold %v, %v; want %v", l.Threshold(), err, want)
	}
}

func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		found, truth float64
		proven       bool
		want         string
	}{
		{-10, -10, false, "the same"},
		{-10, -9, false, "the errors come from the costs"},
		{-9, -10, false, "the solver has missed"},
		{-9, -10, true, "rounding"},
		{0, 0, false, "the same"},
	} {
		if got := solve.Verdict(tc.found, tc.truth, tc.proven); !strings.Contains(got, tc.want) {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

// A new item joins where the sum of its costs to the members is largest.
func TestAssignedByTheSumOfCosts(t *testing.T) {
	v := groups(50, 4, 5, .2)
	const tau = .7
	c := clusterOf(t, v, multicutOptions(tau))
	dir := t.TempDir()
	if err := c.Write(dir); err != nil {
		t.Fatal(err)
	}
	m, _, err := solve.ReadModel(filepath.Join(dir, "cluster.json"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := groups(300, 6, 5, .5)
	doc, err := document(context.Background(), m, "x", fresh, record.Source{})
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for i := range fresh.N {
		gain := make([]float64, len(c.Doc.Sizes))
		for j, l := range c.Doc.Labels {
			sum := 0.0
			for a := range v.D {
				e := float64(fresh.X[i*v.D+a]) - float64(v.X[j*v.D+a])
				sum += e * e
			}
			gain[l] += tau*tau - sum
		}
		want := int32(-1)
		for k, g := range gain {
			if g > 0 && (want < 0 || g > gain[want]) {
				want = int32(k)
			}
		}
		if want < 0 {
			own++
		}
		if doc.Labels[i] != want {
			t.Errorf("item %d: cluster %d, want %d of gains %v", i, doc.Labels[i], want, gain)
		}
	}
	f, err := factored.New(v.X, v.N, v.D, tau, 1)
	if err != nil {
		t.Fatal(err)
	}
	same, _, err := f.Assigner(c.Doc.Labels).Assign(fresh.X, fresh.N)
	if d := cmp.Diff(same, doc.Labels); err != nil || d != "" {
		t.Errorf("not as the graph's own assigner: %v %s", err, d)
	}
	if doc.Own != own || own == 0 || own == fresh.N || doc.Assigned != fresh.N-own {
		t.Errorf("%d of their own, want %d", doc.Own, own)
	}
	// Each item of its own is one cluster in the scores.
	alone := slices.Clone(doc.Labels)
	for i := range alone {
		if alone[i] < 0 {
			alone[i] = int32(1000 + i)
		}
	}
	want, err := solve.Scores(fresh.Labels, alone)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, doc.Clustering); d != "" {
		t.Error(d)
	}
}

// Items of k-means go to the nearest mean, those that were clustered to their own.
func TestAssignedByTheNearestMean(t *testing.T) {
	v := groups(90, 3, 4, .1)
	for i := range v.X { // lengths differ by class
		v.X[i] *= float32(1 + v.Labels[i/4])
	}
	for _, spherical := range []bool{false, true} {
		c := clusterOf(t, v, record.ClusterOptions{Method: solve.KMeans, NInit: 5, KMeans: record.KMeansOptions{Spherical: spherical}, Maps: record.MapOptions{Kind: "none"}})
		dir := t.TempDir()
		if err := c.Write(dir); err != nil {
			t.Fatal(err)
		}
		m, _, err := solve.ReadModel(dir)
		if err != nil {
			t.Fatal(err)
		}
		double := data.Embeddings{X: slices.Clone(v.X), N: v.N, D: v.D}
		if spherical { // lengths are nothing to it
			for i := range double.X {
				double.X[i] *= 100
			}
		}
		doc, err := document(context.Background(), m, "x", double, record.Source{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Doc.Labels, doc.Labels); d != "" || doc.Own != 0 {
			t.Errorf("spherical %v: %s", spherical, d)
		}
	}
}

func TestBadModels(t *testing.T) {
	v := groups(20, 2, 3, .1)
	dir := t.TempDir()
	if err := clusterOf(t, v, multicutOptions(.7)).Write(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, solve.ModelFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Parse(b)
	if err != nil || !f.Sealed {
		t.Fatalf("sealed %v, %v", f.Sealed, err)
	}
	delete(f.Meta, "digest") // as a file of an older version
	var plain bytes.Buffer
	if err := safetensors.Write(&plain, f); err != nil {
		t.Fatal(err)
	}
	good := plain.String()
	for _, tc := range []struct{ content, want string }{
		{strings.Replace(string(b), `"threshold":"0.7"`, `"threshold":"0.8"`, 1), "does not match its digest"},
		{good[:len(good)-2], "not a valid safetensors"},
		{strings.Replace(good, "tercet.clusters/1", "tercet.clusters/9", 1), "this version reads tercet.clusters/1"},
		{strings.Replace(good, `"method":"multicut"`, `"method":"mulxicut"`, 1), `method "mulxicut"`},
		{strings.Replace(good, `"threshold":"0.7"`, `"threshold":"-.7"`, 1), "is not a distance"},
		{strings.Replace(good, `"size"`, `"sise"`, 1), "no tensor size"},
		{strings.Replace(good, `"center"`, `"centre"`, 1), "no tensor center"},
		{good[:len(good)-4] + "\x00\x00\xc0\x7f", "has NaN"},
	} {
		if err := os.WriteFile(path, []byte(tc.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := solve.ReadModel(dir); !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("want %q: %v", tc.want, err)
		}
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	m, _, err := solve.ReadModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := document(context.Background(), m, "x", groups(5, 2, 4, .1), record.Source{}); !errors.Is(err, data.ErrUnfit) {
		t.Errorf("items of another dimension: %v", err)
	}
	// A clustering without a rule for new items leaves no model, not an old one.
	o := multicutOptions(.7)
	o.Multicut.Link, o.Multicut.Bound = link.OnDistance, "none"
	if err := clusterOf(t, v, o).Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := solve.ReadModel(dir); !errors.Is(err, data.ErrMissing) || !strings.Contains(err.Error(), "no rule for new items") {
		t.Errorf("no model: %v", err)
	}
}

func TestNoiseIsCountedApart(t *testing.T) {
	v := groups(60, 2, 3, .03)
	v.X[0], v.X[1], v.X[2] = 50, 50, 50
	c := clusterOf(t, v, record.ClusterOptions{Method: solve.HDBSCAN, HDBSCAN: record.HDBSCANOptions{MinClusterSize: 5, Selection: "eom"}, Maps: record.MapOptions{Kind: "none"}})
	d := c.Doc
	sum := 0
	for _, n := range d.Sizes {
		sum += n
	}
	if d.Labels[0] != -1 || d.Noise < 1 || sum+d.Noise != 60 || d.Objective != nil || d.HDBSCAN.MinSamples != 5 || len(c.Probabilities) != 60 {
		t.Errorf("%d noise, sizes %v, label %d, %+v", d.Noise, d.Sizes, d.Labels[0], d.HDBSCAN)
	}
	want, err := solve.Scores(v.Labels, d.Labels)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.Clustering); diff != "" {
		t.Error(diff)
	}
}

// The contingency table shows the largest of many clusters with their classes, and
// says what it leaves out.
func TestContingency(t *testing.T) {
	const n = 3000
	c := &solve.Result{Truth: make([]int32, n), Doc: &record.Cluster{Labels: make([]int32, n)}}
	for i := range n { // 50 clusters of 50, of class k/5 but for 5 items each, and 500 of one item
		k := int32(i / 50)
		c.Truth[i], c.Doc.Labels[i] = k/5, k
		if i%50 < 5 {
			c.Truth[i] = 90
		}
		if i >= 2500 {
			c.Truth[i], c.Doc.Labels[i] = 77, int32(i-2450)
		}
	}
	tab := contingencyOf(c, drawnClasses, drawnClusters)
	rows, cols := tab.names(nil)
	if d := cmp.Diff([]string{"0", "1", "2", "3", "4", "5", "6", "7"}, rows); d != "" || len(cols) != drawnClusters || len(tab.counts) != len(rows) {
		t.Fatalf("%d columns, %s", len(cols), d)
	}
	for i, row := range tab.counts {
		for k, v := range row {
			if want := map[bool]float64{true: 45}[k/5 == i]; v != want {
				t.Errorf("row %d, column %d: %v, want %v", i, k, v, want)
			}
		}
	}
	if got, want := strings.Join(tab.words, " "), "The 40 largest of 550 clusters, and the 8 of 12 classes that most of their items are of: 1800 of 3000 items. Left out: 1000 items of smaller clusters, 200 of other classes."; got != want {
		t.Errorf("%s", got)
	}
	// Of many classes in few clusters the small ones are together; nothing is lost.
	r := rng.New(3, "contingency")
	for i := range n {
		c.Truth[i], c.Doc.Labels[i] = int32(r.IntN(100)), int32(r.IntN(30))-1
	}
	tab = contingencyOf(c, drawnClasses, drawnClusters)
	rows, cols = tab.names(nil)
	sum := 0.0
	for _, row := range tab.counts {
		for _, v := range row {
			sum += v
		}
	}
	if len(rows) != drawnClasses+1 || len(cols) != 30 || sum != n || tab.words != nil {
		t.Errorf("%d rows, %d columns, %v items, %q", len(rows), len(cols), sum, tab.words)
	}
	// By hand: classes a, b; clusters in the order of their class, noise last.
	c = &solve.Result{Truth: []int32{0, 0, 0, 1, 1, 1}, Classes: []string{"a", "b"}, Doc: &record.Cluster{Labels: []int32{1, 1, -1, 0, 0, 1}}}
	tab = contingencyOf(c, drawnClasses, drawnClusters)
	rows, cols = tab.names(c.Classes)
	if d := cmp.Diff([]string{"a", "b"}, rows) + cmp.Diff([]string{"1", "0", "noise"}, cols) + cmp.Diff([][]float64{{2, 0, 1}, {1, 2, 0}}, tab.counts); d != "" {
		t.Error(d)
	}
}

// Like clusters and classes have like signs; the second cluster of a class has one of
// its own.
func TestSignsOfClusters(t *testing.T) {
	c := &solve.Result{Truth: []int32{3, 3, 3, 7, 7, 7, 3, 7}, Doc: &record.Cluster{Labels: []int32{0, 0, 2, 1, 1, 1, 0, -1}, Sizes: []int{3, 3, 1}}}
	if d := cmp.Diff(map[int32]int{0: 0, 1: 1, 2: 2}, signs(c)); d != "" {
		t.Error(d)
	}
	c.Doc.Labels, c.Doc.Sizes = []int32{1, 1, 2, 0, 0, 0, 1, 0}, []int{4, 3, 1}
	if d := cmp.Diff(map[int32]int{0: 1, 1: 0, 2: 2}, signs(c)); d != "" {
		t.Error(d)
	}
}

// A mosaic shows a cluster from its middle to its farthest item.
func TestMosaicGoesOutwards(t *testing.T) {
	x := []float32{0, 9, 1, 2, 3, 4, -10, 5}
	c := &solve.Result{Vectors: x, Doc: &record.Cluster{Labels: []int32{0, 1, 0, 0, 0, 0, 0, 0}, Source: record.Source{Dim: 1}}}
	// The mean is 5/7; by distance: 1, 0, 2, 3, 4, 5, -10.
	if d := cmp.Diff([]int{2, 3, 5, 6}, outwards(c, 0, 4)) + cmp.Diff([]int{1}, outwards(c, 1, 4)) + cmp.Diff([]int{2, 0, 3, 4, 5, 7, 6}, outwards(c, 0, 9)); d != "" {
		t.Error(d)
	}
}

// A map shows the first classes that have points, whatever their numbers.
func TestFirstClasses(t *testing.T) {
	for _, tc := range []struct {
		labels []int32
		want   []bool
	}{
		{nil, []bool{true, true, true, true}},
		{[]int32{90, 30, 70, 30}, []bool{false, true, true, true}},
		{[]int32{90, 70, 70, 90}, []bool{true, true, true, true}},
	} {
		if got := firstClasses(tc.labels, 4, 2); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v", tc.labels, got)
		}
	}
}
