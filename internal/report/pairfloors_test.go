package report

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/theory"
)

func TestTrainingFloors(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		off := 0.001 * float64(seed-1)
		add := func(f fakePairs) {
			f.seed, f.noise, f.effective, f.scenario = seed, "pln", 0.1, "s2"
			runs = append(runs, f.make(t, folder))
		}
		add(fakePairs{classes: 2, width: 200, floor: 0.045 + off, train: 0.045 + off + 0.0005, lower: 0.045, upper: 0.0564})
		add(fakePairs{classes: 2, width: 4, floor: 0.045 + off, train: 0.25, lower: 0.045, upper: 0.0564}) // narrower: left out
		add(fakePairs{classes: 10, width: 200, floor: 0.005, train: 0.02 + off, lower: 0.005, upper: 0.0067})
		add(fakePairs{classes: 10, width: 200, negatives: "random", train: off * off})
	}
	runs = append(runs, fakePairs{scenario: "s1", noise: "pln", effective: 0.1, classes: 10, width: 200, train: 0.3}.make(t, folder),
		fakePairs{scenario: "s2", noise: "none", classes: 10, width: 200}.make(t, folder))
	// One run of each row has its best partition: 3,000 images as six thousand pairs have.
	for _, at := range []struct{ run, classes, wrong int }{{0, 2, 290}, {2, 10, 206}} {
		putPartition(t, runs[at.run].Dir, at.classes, 3000/at.classes, 0.1, at.wrong, at.wrong+1, at.wrong+2)
	}
	s := pairStudy(t, runs, false)
	fillFloors(t, s)
	if len(s.Floors) != 4 || !strings.Contains(strings.Join(s.Notes, "\n"), "1 narrower one is left out") {
		t.Fatalf("%d floors, notes %q", len(s.Floors), s.Notes)
	}
	for i, want := range []struct {
		row, meets, lower, upper string
	}{
		// 0.0455 +- 0.0025 lies on 0.045, below 0.0564.
		{"2 same-index", "supported", "inconclusive", "supported"}, {"10 same-index", "inconclusive", "", ""}, {"10 same-index", "contradicted", "supported", "contradicted"}, {"10 random", "supported", "", ""},
	} {
		f := s.Floors[i]
		if s.Rows[f.Row] != f.row || f.Meets != want.meets || f.LowerVerdict != want.lower || f.UpperVerdict != want.upper {
			t.Errorf("%s: %s %s %s", want.row, f.Meets, f.LowerVerdict, f.UpperVerdict)
		}
	}
	meanIs(t, "error above the floor", s.Floors[0].Above, 0.0005, 0, 3)
	meanIs(t, "training error", s.Floors[0].Train, 0.0455, halfOfTenth/100, 3)
	for i, want := range map[int]float64{0: 291.0 / 6000, 2: 207.0 / 6000} {
		if got := s.Floors[i].Multicut; got == nil || got.N != 3 || math.Abs(*got.Value-want) > 1e-12 {
			t.Errorf("best partition of row %d: %+v, want %v", i, got, want)
		}
	}
	if s.Floors[3].Multicut != nil {
		t.Error("a best partition of random negatives")
	}
	files, err := s.DrawFloors(filepath.Join(t.TempDir(), "f"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	inSVG(t, strings.TrimSuffix(files[0], "png")+"svg", "classes", "effective noise (%)", "PLN 10 %", "bounds of Theorem 1", "floor of duplicates", "training error", "best partition")
	// 10 classes alone at one noise: nothing varies, and still there is a picture.
	s = pairStudy(t, runs[2:3], false)
	fillFloors(t, s)
	if files, err := s.DrawFloors(filepath.Join(t.TempDir(), "f")); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
}

// Test errors fall by 0.1 each 10 steps; offline ones are larger by 0.05 and more.
func TestStreamCurves(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 4 {
		off := 0.01 * float64(seed)
		online := fakePairs{scenario: "full", noise: "pln", effective: 0.1, classes: 10, width: 8, seed: seed, labels: []Label{{"batch.redraw", "true"}},
			events: []string{evaluated(10, 1, 0.5+off, 0), evaluated(20, 2, 0.4+off, 0), evaluated(40, 4, 0.2+off, 0)}}
		offline := fakePairs{scenario: "s1", noise: "pln", effective: 0.1, classes: 10, width: 8, seed: seed,
			events: []string{evaluated(10, 1, 0.5+off, 0), evaluated(30, 3, 0.35+2*off, 0)}}
		clean := fakePairs{scenario: "s2", noise: "none", classes: 10, width: 8, seed: seed, events: []string{evaluated(10, 1, 0.25, 0)}}
		runs = append(runs, online.make(t, folder), offline.make(t, folder), clean.make(t, folder))
	}
	s := pairStudy(t, runs, true)
	s.StreamCurves()
	if len(s.Streams) != 3 {
		t.Fatalf("%d curves", len(s.Streams))
	}
	for _, c := range s.Streams {
		switch r := c.row; {
		case r.Online:
			q := c.Points[0].Test // of 0.5, 0.51, 0.52, 0.53
			if c.Online != nil || c.Step != 40 || !closeTo(q.Median, 0.515) || !closeTo(q.Q1, 0.5075) || !closeTo(q.Q3, 0.5225) {
				t.Errorf("online: %+v", c)
			}
		case r.Scenario == "s1": // at step 30 the online error is 0.3 + off, between evaluations
			if c.Online == nil || !s.Rows[*c.Online].Online || c.Step != 30 || !closeTo(c.Test.Median, 0.38) || c.Verdict != "supported" || !closeTo(*c.Against.Value, 0.065) || c.Against.N != 4 {
				t.Errorf("offline: %+v", c)
			}
		case c.Online != nil || c.Verdict != "":
			t.Errorf("without noise there is no online run: %+v", c)
		}
	}
	files, err := s.DrawStreams(filepath.Join(t.TempDir(), "o"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	inSVG(t, strings.TrimSuffix(files[0], "png")+"svg", "steps", "no noise", "S1 (sparse), noise", "online", "offline, S1 (sparse)")
}

func TestPanelsAndPaints(t *testing.T) {
	folder := t.TempDir()
	runs := []*RunDir{
		fakePairs{scenario: "s2", noise: "pln", effective: 0.1, classes: 10, width: 8}.make(t, folder),
		fakePairs{scenario: "s2", noise: "pln", effective: 0.2, classes: 10, width: 8}.make(t, folder),
		fakePairs{scenario: "s2", noise: "pln", effective: 0.2, classes: 10, width: 8, negatives: "random"}.make(t, folder),
		fakePairs{scenario: "s1", noise: "none", classes: 10, width: 8}.make(t, folder),
	}
	s := pairStudy(t, runs, false)
	var titles []string
	for _, p := range panelsOf(s.Rows, nil) {
		titles = append(titles, p.title)
	}
	if got := strings.Join(titles, "; "); got != "S1 (sparse), same-index negatives; S2 (dense), same-index negatives; S2 (dense), random negatives" {
		t.Errorf("panels %s", got)
	}
	p := newPaints(s.Rows)
	seen := map[string]string{}
	for _, r := range s.Rows {
		c := p.of(r)
		at := string([]byte{c.R, c.G, c.B})
		if name, ok := seen[at]; ok && name != r.noiseName() {
			t.Errorf("%s and %s have one colour", name, r.noiseName())
		}
		seen[at] = r.noiseName()
	}
	if len(seen) != 3 {
		t.Errorf("%d colours", len(seen))
	}
}

func closeTo(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

// Training errors of 2 x + 0.001, 2.1 x + 0.001 and 2.2 x + 0.001 at three bounds x.
func TestFloorLine(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		for i, x := range []float64{0.005, 0.01, 0.04} {
			runs = append(runs, fakePairs{scenario: "s2", noise: "pln", effective: 0.1 * float64(i+1), classes: 10, width: 8, seed: seed,
				train: (2+0.1*float64(seed))*x + 0.001, lower: x + 0.001, upper: 0.1}.make(t, folder)) // E_sim is 0.001
		}
	}
	s := pairStudy(t, runs, false)
	fillFloors(t, s)
	meanIs(t, "slope", s.Line.Slope, 2.1, halfOfTenth, 3)
	meanIs(t, "intercept", s.Line.Intercept, 0.001, 0, 3)
	if s.Line.Settings != 3 {
		t.Errorf("%d settings", s.Line.Settings)
	}
	if got := s.Line.String(); got != "training error over P(1-P)/(2(K-1)) of 3 settings: slope 2.100 [1.852, 2.348], intercept 0.00100 [0.00100, 0.00100] (fractions), fitted for each of 3 seeds" {
		t.Error(got)
	}
	s = pairStudy(t, runs[:1], false)
	if fillFloors(t, s); s.Line != nil {
		t.Errorf("a line through one point: %+v", s.Line)
	}
}

func fillFloors(t *testing.T, s *PairStudy) {
	t.Helper()
	if err := s.TrainingFloors(); err != nil {
		t.Fatal(err)
	}
}

// putPartition writes partition.json of 2 pairs an image, all draws proven.
func putPartition(t *testing.T, dir string, classes, perClass int, p float64, wrong ...int) {
	t.Helper()
	b, err := json.Marshal(theory.Partition{Schema: record.PartitionSchema, PartitionSetting: theory.PartitionSetting{Classes: classes, PerClass: perClass, P: p, Negatives: noise.SameIndex},
		Pairs: 2 * classes * perClass, Errors: wrong, Proven: len(wrong)})
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, theory.PartitionFile, string(b))
}

// A stored partition is read, and an error of it is one of the table: nothing is computed
// and nothing is passed over.
func TestStoredPartition(t *testing.T) {
	f := fakePairs{scenario: "s2", noise: "pln", effective: 0.1, classes: 10, width: 8, train: 0.1}
	floors := func(text string) (*PairStudy, error) {
		t.Helper()
		r := f.make(t, t.TempDir())
		switch text {
		case "none":
		case "":
			putPartition(t, r.Dir, 10, 300, 0.1, 200, 202)
		default:
			put(t, r.Dir, theory.PartitionFile, text)
		}
		s := pairStudy(t, []*RunDir{r}, false)
		return s, s.TrainingFloors()
	}
	if s, err := floors(""); err != nil || s.Floors[0].Multicut == nil || !closeTo(*s.Floors[0].Multicut.Value, 201.0/6000) {
		t.Errorf("%v %+v", err, s.Floors[0].Multicut)
	}
	for text, want := range map[string]string{
		"{":                                "partition.json",
		`{"schema": "tercet.partition/9"}`: "this version reads tercet.partition/1",
		`{"schema": "tercet.partition/1"}`: "0 draws of 0 pairs",
		`{"schema": "tercet.partition/1", "pairs": 6000, "errors": [6001], "proven": 1}`:                                                                    "6001 wrong of 6000 pairs",
		`{"schema": "tercet.partition/1", "classes": 10, "per_class": 100, "p": 0.1, "negatives": "same-index", "pairs": 2000, "errors": [9], "proven": 1}`: "is of 10 classes of 100 images",
	} {
		if _, err := floors(text); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if s, err := floors("none"); err != nil || s.Floors[0].Multicut != nil || !strings.Contains(strings.Join(s.Notes, "\n"), "`tercet bound partition RUN...` finds and stores it") {
		t.Errorf("a run without one: %v %+v %q", err, s.Floors[0].Multicut, s.Notes)
	}
	s, err := floors(`{"schema": "tercet.partition/1", "classes": 10, "per_class": 300, "p": 0.1, "negatives": "same-index", "pairs": 6000, "errors": [9], "proven": 0}`)
	if err != nil || s.Floors[0].Multicut != nil || !strings.Contains(strings.Join(s.Notes, "\n"), "not proven") {
		t.Errorf("%v %+v %q", err, s.Floors[0].Multicut, s.Notes)
	}
}
