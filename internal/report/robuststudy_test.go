package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNoisy is a run with scores under noise, written by hand.
func fakeNoisy(t *testing.T, folder, kind string, rate float64, seed int, triplet, recall, nmi float64, labels ...Label) *RunDir {
	t.Helper()
	dir := filepath.Join(folder, fmt.Sprintf("%s-%v-%s-%d", kind, rate, strings.NewReplacer("[", "", "]", "", "{", "", "}", "", " ", "-").Replace(fmt.Sprint(labels)), seed))
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "version": "v1", "status": "finished", "seed": %d,
 "data": {"name": "mnist", "noise": {"kind": %q, "wanted": %v, "effective": %v}}, "steps": 100, "steps_planned": 100}`, seed, kind, rate, rate))
	put(t, dir, "eval.json", fmt.Sprintf(`{"schema": "tercet.eval/1", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200},
 "retrieval": {"recall@1": {"value": %v}, "triplet_error": {"value": %v}}, "clustering": {"nmi": {"value": %v}}}`, recall, triplet, nmi))
	put(t, dir, "attack.json", fmt.Sprintf(`{"schema": "tercet.attack/2", "source": {"checkpoint": "last", "step": 100, "items": 200}, "queries": 200, "scores": {"fixed": {"ERS": {"value": %v}}}}`, recall/2))
	r, err := ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = append([]Label{{"name", dir}, {"seed", fmt.Sprint(seed)}, {"noise.kind", kind}}, labels...)
	return r
}

var (
	plainLoss  = []Label{{"loss.name", "triplet"}, {"loss.margin", "0.2"}, {"loss.distance", "squared"}}
	robustLoss = []Label{{"loss.name", "triplet-robust"}, {"loss.margin", "0.2"}, {"loss.distance", "squared"}, {"loss.form", "expected"}, {"loss.weights", "joint"}, {"loss.beta", "auto"}, {"loss.rho", "null"}, {"loss.noise_from", `""`}}
)

// robustRuns: at sln 0.3 the robust loss has a triplet error lower by 0.1, 0.2 and 0.3, and
// a recall lower by 0.01, 0 and -0.01; at triplet flips it has the same.
func robustRuns(t *testing.T) []*RunDir {
	t.Helper()
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		x := 0.1 * float64(seed+1)
		runs = append(runs,
			fakeNoisy(t, folder, "sln", 0.3, seed, 0.5, 0.8, 0.5, plainLoss...),
			fakeNoisy(t, folder, "sln", 0.3, seed, 0.5-x, 0.8+0.01*float64(seed-1), 0.25, robustLoss...),
			fakeNoisy(t, folder, "triplet-flip", 0.1, seed, 0.25, 0.75, 0.5, plainLoss...),
			fakeNoisy(t, folder, "triplet-flip", 0.1, seed, 0.25, 0.75, 0.5, robustLoss...),
			fakeNoisy(t, folder, "none", 0, seed, 0.125, 0.9+x/10, 0.75, plainLoss...))
	}
	return runs
}

func TestCompareRobust(t *testing.T) {
	s, err := CompareRobust(robustRuns(t))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, r := range s.Rows {
		order = append(order, fmt.Sprintf("%s %v %s", r.Noise, r.Rate, r.Name))
	}
	if got, want := strings.Join(order, "; "), "none 0 triplet; sln 0.3 robust, expected, joint; sln 0.3 triplet; triplet-flip 0.1 robust, expected, joint; triplet-flip 0.1 triplet"; got != want {
		t.Fatalf("rows %s", got)
	}
	r := s.Rows[1]
	meanIs(t, "triplet error", r.Scores["triplet_error"], 0.3, halfOfTenth, 3)
	meanIs(t, "difference of triplet errors", r.Differences["triplet_error"], -0.2, halfOfTenth, 3)
	meanIs(t, "difference of recalls", r.Differences["recall@1"], 0, halfOfTenth/10, 3)
	meanIs(t, "difference of nmi", r.Differences["nmi"], -0.25, 0, 3)
	// The interval of the triplet error, -0.2 +- 0.248, holds 0.
	if got := r.verdict(s.Scores); got != "contradicted (nmi)" {
		t.Errorf("verdict %q: %v", got, r.Verdicts)
	}
	if got := s.Rows[3].verdict(s.Scores); got != "inconclusive" || s.Rows[3].Against != "triplet" {
		t.Errorf("equal runs: %q", got)
	}
	if s.Rows[2].Verdicts != nil || s.Rows[0].Verdicts != nil || len(s.Notes) != 0 {
		t.Errorf("plain rows are compared, or notes: %q", s.Notes)
	}
	for e, want := range map[*Estimate]string{
		{CI95: &[2]float64{-2, -1}}: "supported", {CI95: &[2]float64{1, 2}}: "contradicted", {CI95: &[2]float64{-1, 0}}: "inconclusive", {}: "inconclusive",
	} {
		if got := better(*e, true); got != want {
			t.Errorf("an error with %v: %s, want %s", e.CI95, got, want)
		}
	}
	if got := better(Estimate{CI95: &[2]float64{1, 2}}, false); got != "supported" {
		t.Errorf("a higher recall %s", got)
	}
	base := filepath.Join(t.TempDir(), "robust")
	files, err := s.Curves(base)
	if err != nil || len(files) != 1 || files[0] != base+"-mnist.png" {
		t.Fatal(files, err)
	}
	inSVG(t, base+"-mnist.svg", "triplet error (%)", "recall@1 (%)", "robust, expected, joint", "SLN", "triplet-flip", "rate of the noise")
}

// inSVG looks for words in a picture.
func inSVG(t *testing.T, path string, want ...string) {
	t.Helper()
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(string(svg), ">"+w+"<") {
			t.Errorf("no %q in %s", w, filepath.Base(path))
		}
	}
}

func TestCompareRobustRemarks(t *testing.T) {
	runs := robustRuns(t)[:2]
	folder := t.TempDir()
	other := append([]Label{}, plainLoss...)
	other[1].Value = "0.5"
	half := fakeNoisy(t, folder, "sln", 0.3, 0, 0.4, 0.8, 0.5, other...)
	lost := fakeNoisy(t, folder, "sln", 0.3, 5, 0.4, 0.8, 0.5, plainLoss...)
	lost.Manifest.Status = "collapsed"
	without := fakeNoisy(t, folder, "sln", 0.3, 6, 0.4, 0.8, 0.5, plainLoss...)
	without.Eval = nil
	s, err := CompareRobust(append(runs, half, lost, without))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(s.Notes, "\n")
	if len(s.Rows) != 3 || !strings.Contains(notes, "collapsed at step 100 of 100; it does not count") || !strings.Contains(notes, "no eval.json in") {
		t.Errorf("%d rows, notes %q", len(s.Rows), notes)
	}
	for _, r := range s.Rows {
		if r.Name == "robust, expected, joint" && (r.Against != "triplet, margin 0.2" || r.verdict(s.Scores) != "inconclusive") {
			t.Errorf("of two plain losses that of another margin is taken: %q %q", r.Against, r.verdict(s.Scores))
		}
	}
	if _, err := CompareRobust(append(runs, runs[0])); err == nil || !strings.Contains(err.Error(), "name one of them") {
		t.Errorf("one run twice: %v", err)
	}
	found := append([]Label{{"loss.noise_from", "runs/x/noise.json"}}, robustLoss...) // the first of a key counts
	if got := (&noiseComparison{sections: []string{"loss"}}).names([]*RunDir{fakeNoisy(t, folder, "sln", 0.3, 8, 0, 0, 0, found...), runs[1]}); got[0] != "robust, expected, joint, found" || got[1] != "robust, expected, joint" {
		t.Errorf("names %q", got)
	}
	defended := fakeNoisy(t, folder, "sln", 0.3, 7, 0.4, 0.8, 0.5, append(plainLoss[:3:3], Label{"defense.name", "act"})...)
	if s, err = CompareRobust([]*RunDir{runs[0], defended}); err != nil || s.Rows[0].Setting == s.Rows[1].Setting {
		t.Errorf("runs with and without a defence are one setting: %v", err)
	}
}

// Runs that found their noise each in a file of its own are one row, beside that of the
// runs that know it.
func TestFoundNoiseIsOneSetting(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		found := append(robustLoss[:len(robustLoss)-1:len(robustLoss)-1], Label{"loss.noise_from", fmt.Sprintf("runs/plain-%d/noise.json", seed)})
		runs = append(runs, fakeNoisy(t, folder, "sln", 0.3, seed, 0.25, 0.75, 0.5, found...), fakeNoisy(t, folder, "sln", 0.3, seed, 0.375, 0.75, 0.5, robustLoss...))
	}
	s, err := CompareRobust(runs)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != 2 || s.Rows[0].Name != "robust, expected, joint" || s.Rows[1].Name != "robust, expected, joint, found" || s.Rows[1].N != 3 {
		t.Errorf("%d rows: %+v", len(s.Rows), s.Rows[len(s.Rows)-1])
	}
	if len(s.Contrasts) != 1 || s.Contrasts[0].Name != "robust, expected, joint, found" || s.Contrasts[0].Against != "robust, expected, joint" || s.Contrasts[0].Verdicts["triplet_error"] != "supported" {
		t.Fatalf("contrasts %+v", s.Contrasts)
	}
	meanIs(t, "found less known", s.Contrasts[0].Differences["triplet_error"], -0.125, 0, 3)
	var b strings.Builder
	if err := s.Table(true).Write(&b, "csv"); err != nil || !strings.Contains(b.String(), "mnist,,sln,0.3,0.3,\"robust, expected, joint, found - robust, expected, joint\",3,,,,,,,,,,-0.125,-0.125,-0.125,") {
		t.Errorf("%v\n%s", err, b.String())
	}
	sum, err := Summarize(runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Groups) != 2 || sum.Groups[0].N != 3 || sum.Groups[1].N != 3 || sum.Groups[0].Labels["loss.noise_from"] != "found" {
		t.Errorf("%d groups, the first of %d runs, %q", len(sum.Groups), sum.Groups[0].N, sum.Groups[0].Labels)
	}
}

func TestContrastOfWeights(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	product := append([]Label{}, robustLoss...)
	product[4].Value = "product"
	odd := append([]Label{}, robustLoss...)
	odd[3].Value = "odd"
	for seed := range 2 {
		for _, l := range [][]Label{robustLoss, product, odd, plainLoss} {
			runs = append(runs, fakeNoisy(t, folder, "sln", 0.3, seed, 0.25, 0.75, 0.5, l...))
		}
	}
	s, err := CompareRobust(append(runs, fakeNoisy(t, folder, "none", 0, 0, 0.25, 0.75, 0.5, product...)))
	if err != nil || len(s.Contrasts) != 1 || s.Contrasts[0].Name != "robust, expected, joint" || s.Contrasts[0].Against != "robust, expected, product" {
		t.Errorf("%v %+v", err, s.Contrasts)
	}
}

func TestCompareAttacked(t *testing.T) {
	s, err := CompareAttacked(robustRuns(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Rows {
		switch r.Name + " " + r.Noise {
		case "triplet none":
			meanIs(t, "ERS", r.Scores["ERS"], 0.46, halfOfTenth/20, 3)
		case "triplet triplet-flip": // ERS 0.375 against 0.455, 0.46 and 0.465
			meanIs(t, "loss of ERS", r.Differences["ERS"], -0.085, halfOfTenth/20, 3)
			if r.verdict(s.Scores) != "contradicted (recall@1, ERS)" {
				t.Errorf("verdict %q", r.verdict(s.Scores))
			}
		case "robust, expected, joint sln":
			if r.Against != "" {
				t.Errorf("compared with %s: there is none of its loss without noise", r.Against)
			}
		}
	}
}

// Where the config gives effective noise, the clustering study takes the rate of the
// manifest.
func TestNoiseOfManifest(t *testing.T) {
	r := fakeNoisy(t, t.TempDir(), "sln", 0.3, 0, 0.5, 0.5, 0.5, Label{"noise.rate", "null"}, Label{"noise.effective", "0.25"})
	if got := r.noise(); got != 0.3 {
		t.Errorf("rate %v", got)
	}
	r.Labels = append([]Label{{"noise.rate", "0.2"}}, r.Labels...)
	if got := r.noise(); got != 0.2 {
		t.Errorf("rate of the config %v", got)
	}
}
