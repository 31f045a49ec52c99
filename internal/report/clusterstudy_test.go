package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/metric"
	"tercet/internal/render"
	"tercet/internal/render/rendertest"
)

// clustered is a run with clusterings of the given nmi, by method.
func clustered(data, loss string, noise float64, seed int, nmi map[string]float64) *RunDir {
	r := &RunDir{Dir: fmt.Sprintf("%s-%s-%v-%d", data, loss, noise, seed)}
	r.Manifest.Status, r.Manifest.Seed, r.Manifest.Steps = "finished", uint64(seed), 7
	r.Manifest.Data.Name = data
	r.Labels = []Label{{"name", r.Dir}, {"seed", fmt.Sprint(seed)}, {"model.name", "cnn"}, {"loss.name", loss}}
	if loss == "triplet" {
		r.Labels = append(r.Labels, Label{"loss.distance", "squared"}, Label{"loss.form", "hinge"})
	}
	kind := "none"
	if noise > 0 {
		kind = "sln"
		r.Labels = append(r.Labels, Label{"noise.rate", fmt.Sprint(noise)})
	}
	r.Labels = append(r.Labels, Label{"noise.kind", kind})
	for _, m := range []string{"multicut-fit", "kmeans", "multicut-margins"} {
		v, ok := nmi[m]
		if !ok {
			continue
		}
		c := &ClusterResult{Source: Source{Checkpoint: "last", Step: 7, Set: "test", Items: 100}, Clusters: 10 + seed}
		c.Clustering = scoreFile{{Key: "nmi", Value: metric.Value{Value: v}}, {Key: "acc", Value: metric.Value{Value: v / 2}}, {Key: "purity", Value: metric.Value{Value: 1}}}
		if m != "kmeans" {
			tau := 0.5 + v
			c.Threshold = &tau
		}
		r.Clusterings = append(r.Clusterings, Clustering{m, r.Dir + "/cluster-" + m + "/cluster.json", c})
	}
	return r
}

// noiseStudy has L1 without margins, and L3; nmi of L3 is above that of L1 by 0.1, 0.2 and
// 0.3 for the three seeds, at noise 0.3 by twice that.
func noiseStudy() []*RunDir {
	var runs []*RunDir
	for seed := range 3 {
		x := 0.1 * float64(seed+1)
		for _, noise := range []float64{0.3, 0.2, 0} {
			more := x
			if noise == 0.3 {
				more = 2 * x
			}
			runs = append(runs,
				clustered("mnist", "triplet-threshold", noise, seed, map[string]float64{"kmeans": 0.25 + more, "multicut-margins": 0.375 + more, "multicut-fit": 0.125}),
				clustered("mnist", "triplet", noise, seed, map[string]float64{"kmeans": 0.25, "multicut-fit": 0.375}))
		}
	}
	return runs
}

func meanIs(t *testing.T, what string, e Estimate, value, half float64, n int) {
	t.Helper()
	if e.Value == nil || math.Abs(*e.Value-value) > 1e-12 || e.N != n {
		t.Errorf("%s: %+v, want %v of %d", what, e, value, n)
		return
	}
	if e.CI95 == nil || math.Abs(e.CI95[0]-(value-half)) > 1e-9 || math.Abs(e.CI95[1]-(value+half)) > 1e-9 {
		t.Errorf("%s: interval %v, want %v +- %v", what, e.CI95, value, half)
	}
}

// t(0.975, 2) = 4.302652729911275; the deviation of 0.1, 0.2, 0.3 is 0.1.
const halfOfTenth = 4.302652729911275 * 0.1 / 1.7320508075688772

func TestClusterStudy(t *testing.T) {
	s, err := CompareClusterings(noiseStudy())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != 5*3 || len(s.Notes) != 0 {
		t.Fatalf("%d rows, notes %q", len(s.Rows), s.Notes)
	}
	var order []string
	for _, r := range s.Rows {
		order = append(order, fmt.Sprintf("%s %v %s", r.Method, r.Noise, r.Loss))
	}
	if got, want := strings.Join(order[:7], "; "), "kmeans 0 L1; kmeans 0 L3; kmeans 0.2 L1; kmeans 0.2 L3; kmeans 0.3 L1; kmeans 0.3 L3; multicut-margins 0 L3"; got != want {
		t.Errorf("rows %s", got)
	}
	meanIs(t, "nmi of L3 by k-means at 0.3", s.Rows[5].Scores["nmi"], 0.65, 2*halfOfTenth, 3)
	meanIs(t, "its acc", s.Rows[5].Scores["acc"], 0.325, halfOfTenth, 3)
	meanIs(t, "its clusters", s.Rows[5].Scores["clusters"], 11, 10*halfOfTenth, 3)
	if _, ok := s.Rows[5].Scores["threshold"]; ok {
		t.Error("k-means has a threshold")
	}
	meanIs(t, "threshold of the margins", s.Rows[6].Scores["threshold"], 1.075, halfOfTenth, 3)
	if _, ok := s.Rows[5].Scores["purity"]; ok {
		t.Error("purity is no score of the study")
	}
	for _, want := range []struct {
		what, where, noise string
		value, half        float64
	}{
		{"L3 - L1", "kmeans", "0", 0.2, halfOfTenth},
		{"L3 - L1", "kmeans", "0.3", 0.4, 2 * halfOfTenth},
		{"L3 - L1", "kmeans", "> 0", 0.3, 1.5 * halfOfTenth}, // of 0.15, 0.3, 0.45
		{"L3 - L1", "multicut-margins, L1 multicut-fit", "0.2", 0.2, halfOfTenth},
		{"multicut-margins - kmeans", "L3", "0.3", 0.125, 0},
		{"multicut-fit - kmeans", "L1", "> 0", 0.125, 0},
		{"multicut-fit - kmeans", "L3", "0", -0.325, halfOfTenth},
	} {
		found := false
		for _, d := range s.Differences {
			noise := "> 0"
			if d.Noise != nil {
				noise = fmt.Sprint(*d.Noise)
			}
			if d.What == want.what && d.Where == want.where && noise == want.noise {
				found = true
				meanIs(t, want.what+" "+want.where+" "+noise, d.Scores["nmi"], want.value, want.half, 3)
			}
		}
		if !found {
			t.Errorf("no difference %s, %s at noise %s", want.what, want.where, want.noise)
		}
	}
	if len(s.Differences) != (3+2+1)*4 {
		t.Errorf("%d differences", len(s.Differences))
	}
}

// A seed that one side lacks does not count for a difference.
func TestClusterStudyPairsSeeds(t *testing.T) {
	runs := noiseStudy()[1:] // without L3, seed 0, noise 0.3
	s, err := CompareClusterings(runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range s.Differences {
		if d.What != "L3 - L1" || d.Where != "kmeans" {
			continue
		}
		noise := "> 0"
		if d.Noise != nil {
			noise = fmt.Sprint(*d.Noise)
		}
		want, value := map[string]int{"0": 3, "0.2": 3, "0.3": 2, "> 0": 2}[noise], map[string]float64{"0": 0.2, "0.2": 0.2, "0.3": 0.5, "> 0": 0.375}[noise]
		if d.N != want || math.Abs(*d.Scores["nmi"].Value-value) > 1e-12 {
			t.Errorf("noise %s: %v of %d seeds, want %v of %d", noise, *d.Scores["nmi"].Value, d.N, value, want)
		}
	}
}

func TestClusterStudyRemarks(t *testing.T) {
	one := func(seed int) *RunDir {
		return clustered("mnist", "triplet-threshold", 0.5, seed, map[string]float64{"kmeans": 0.5, "multicut-fit": 0.5})
	}
	check := func(want string, change func([]*RunDir)) {
		t.Helper()
		runs := []*RunDir{one(0), one(1), one(2)}
		change(runs)
		s, err := CompareClusterings(runs)
		if err != nil {
			t.Error(err)
			return
		}
		if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, want) || want == "" && notes != "" {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	check("", func([]*RunDir) {})
	check("mnist-triplet-threshold-0.5-1: collapsed at step 7", func(r []*RunDir) { r[1].Manifest.Status = "collapsed" })
	check("not clustered: mnist-triplet-threshold-0.5-2; tercet cluster --run", func(r []*RunDir) { r[2].Clusterings = nil })
	check("mnist-triplet-threshold-0.5-0 has no cluster-multicut-fit", func(r []*RunDir) { r[0].Clusterings = r[0].Clusterings[1:] })
	check("cluster.json is of step 7, the run is at step 9", func(r []*RunDir) { r[0].Manifest.Steps = 9 })
	check("interrupted at step 7", func(r []*RunDir) { r[0].Manifest.Status = "interrupted" })
	check("mnist: runs that are compared also differ in model.name", func(r []*RunDir) { r[0].Labels[2].Value = "mlp" })
	check("mnist: clustered images differ: 100 of set test", func(r []*RunDir) { r[2].Clusterings[0].Result.Source.Items = 50 })
	check("clustered images differ: 100 of set test (mnist-triplet-threshold-0.5-0/cluster-multicut-fit/cluster.json), 50 of set test (mnist-triplet-threshold-0.5-0/cluster-kmeans/cluster.json)",
		func(r []*RunDir) { r[0].Clusterings[1].Result.Source.Items = 50 })
	check("all clusterings are of 100 of the 500 test images of mnist", func(runs []*RunDir) {
		for _, r := range runs {
			r.Manifest.Data.Test.Items = 500
		}
	})
	check("of 100 of the 500 test images of mnist: mnist-triplet-threshold-0.5-1/cluster-multicut-fit/cluster.json, mnist-triplet-threshold-0.5-1/cluster-kmeans/cluster.json",
		func(r []*RunDir) { r[1].Manifest.Data.Test.Items = 500 })
	check("", func(r []*RunDir) { r[1].Manifest.Data.Test.Items = 100 })
	check("not counted, because their runs have cluster-METHOD folders: mnist-triplet-threshold-0.5-2/cluster.json", func(r []*RunDir) { r[2].Cluster = &ClusterResult{} })
	check("", func(r []*RunDir) { // the run's own is what counts
		r[2].Cluster = r[2].Clusterings[0].Result
		for i := range r {
			r[i].Clusterings = r[i].Clusterings[:1]
		}
		r[2].Clusterings[0].File = filepath.Join(r[2].Dir, "cluster.json")
	})
	if _, err := CompareClusterings([]*RunDir{one(0), one(0)}); err == nil || !strings.Contains(err.Error(), "with seed 0: name one of them") {
		t.Errorf("a seed twice: %v", err)
	}
	lost := one(0)
	lost.Manifest.Status = "diverged"
	if s, err := CompareClusterings([]*RunDir{lost}); err != nil || len(s.Rows) != 0 || len(s.Notes) != 1 {
		t.Errorf("%v %+v", err, s)
	}
}

// Two losses of one name are two rows, told apart by their options.
func TestClusterStudyOfTwoMargins(t *testing.T) {
	a := clustered("mnist", "triplet-threshold", 0, 0, map[string]float64{"kmeans": 0.5})
	b := clustered("mnist", "triplet-threshold", 0, 0, map[string]float64{"kmeans": 0.25})
	a.Labels = append(a.Labels, Label{"loss.alpha", "1"})
	b.Labels = append(b.Labels, Label{"loss.alpha", "2"})
	other := clustered("mnist", "other", 0, 0, map[string]float64{"kmeans": 0.25})
	s, err := CompareClusterings([]*RunDir{b, a, other})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != 3 || s.Rows[0].Loss != "L3 (alpha 1)" || s.Rows[1].Loss != "L3 (alpha 2)" || s.Rows[2].Loss != "other" {
		t.Errorf("%+v", s.Rows)
	}
	if e := s.Rows[0].Scores["nmi"]; e.CI95 != nil || e.N != 1 {
		t.Errorf("one run has the interval %v", e.CI95)
	}
}

func TestClusterStudyTables(t *testing.T) {
	s, err := CompareClusterings(noiseStudy())
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string][2]string{
		"text":     {"│ mnist │ multicut-margins │ 0.3   │ L3   │ 3 │ 38.8 ±24.8 │ 77.5 ±49.7 │", "│ mnist │ L3 - L1                   │ kmeans                            │ > 0   │ 3 │  15.0 ±18.6 │  30.0 ±37.3 │"},
		"markdown": {"| mnist | kmeans | 0 | L1 | 3 | 12.5 ±0.0 | 25.0 ±0.0 | - | - | 11.0 ±2.5 | - |", "| mnist | multicut-margins - kmeans | L3 | 0.3 | 3 | 6.2 ±0.0 | 12.5 ±0.0 | - | - |"},
		"csv":      {"mnist,kmeans,0,L1,3,0.125,0.125,0.125,0.25,0.25,0.25,", "mnist,multicut-fit - kmeans,L1,0.3,3,0.0625,0.0625,0.0625,0.125,0.125,0.125,"},
		"latex":    {`mnist & kmeans & 0 & L1 & $3$ & $12.5 \pm 0.0$`, `mnist & L3 - L1 & kmeans & \textgreater{} 0 & $3$ & $15.0 \pm 18.6$`},
		"json":     {`"method":"multicut-margins"`, `"difference":"L3 - L1"`},
	} {
		for i, table := range []*render.Table{s.Table(), s.DifferencesTable()} {
			var b strings.Builder
			if err := table.Write(&b, format); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			if format == "json" {
				got = strings.NewReplacer("\n", "", " ", "").Replace(got)
				want[i] = strings.ReplaceAll(want[i], " ", "")
			}
			if !strings.Contains(got, want[i]) {
				t.Errorf("%s: no %s in\n%s", format, want[i], got)
			}
		}
	}
}

func TestClusterStudyCurves(t *testing.T) {
	runs := append(noiseStudy(), clustered("cifar10", "triplet", 0.1, 0, map[string]float64{"kmeans": 0.5}))
	s, err := CompareClusterings(runs)
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), "c")
	files, err := s.Curves(base + ".png")
	if err != nil || len(files) != 2 || files[0] != base+"-mnist.png" || files[1] != base+"-cifar10.png" {
		t.Fatal(files, err)
	}
	rendertest.Figure(t, base+"-mnist", 2*(66+108+3*270), 2*(66+4*215))
	svg, err := os.ReadFile(base + "-mnist.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">L1<", ">L3<", ">multicut-margins<", ">nmi (%)<", ">clusters<", "up to 3 seeds"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the curves", want)
		}
	}
}

func TestReadClusterings(t *testing.T) {
	file := func(method string, clusters int) string {
		return fmt.Sprintf(`{"schema": "tercet.cluster/2", "source": {"items": 200}, "options": {"method": %q}, "clusters": %d, "clustering": {"nmi": {"value": 0.5}}}`, method, clusters)
	}
	dir := filepath.Join(t.TempDir(), "run[1]") // no pattern
	r := fake(t, dir, 0, "finished", map[string]string{"cluster.json": clusterFile})
	methods := func() string {
		if err := r.ReadClusterings(); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range r.Clusterings {
			out = append(out, fmt.Sprintf("%s %d", c.Method, c.Result.Clusters))
		}
		return strings.Join(out, ", ")
	}
	if got := methods(); got != "kmeans 3" {
		t.Errorf("the run's own document: %s", got)
	}
	for name, text := range map[string]string{"ward": file("ward", 1), "multicut-fit": file("multicut", 4), "kmeans": file("kmeans", 5), "multicut-margins": file("multicut", 6)} {
		put(t, dir, "cluster-"+name+"/cluster.json", text)
	}
	put(t, dir, "cluster-empty/labels.npy", "")
	if got := methods(); got != "kmeans 5, multicut-margins 6, multicut-fit 4, ward 1" {
		t.Errorf("%s", got)
	}
	for text, want := range map[string]string{file("kmeans", 1): `is of the method "kmeans"; the folder's name says multicut-x`, "{": "cluster-multicut-x/cluster.json:1"} {
		put(t, dir, "cluster-multicut-x/cluster.json", text)
		if err := r.ReadClusterings(); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// One rate and one seed make a picture, which says that there are no intervals.
func TestCurvesOfOneRate(t *testing.T) {
	s, err := CompareClusterings([]*RunDir{clustered("mnist", "triplet", 0.3, 0, map[string]float64{"kmeans": 0.5}), clustered("mnist", "triplet-threshold", 0.3, 0, map[string]float64{"kmeans": 0.7})})
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), "c")
	if _, err := s.Curves(base); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(base + "-mnist.svg")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(svg); !strings.Contains(text, "one seed: no intervals") || strings.Contains(text, "Student") || !strings.Contains(text, ">0.3<") || strings.Contains(text, ">0.4<") {
		t.Error("the words or the ticks are others")
	}
}
