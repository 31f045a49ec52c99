package report

import (
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/render"
	"tercet/internal/render/rendertest"
)

// Peaks by hand. At widths 4, 8, 16, 32 the means of three seeds are 0.3, 0.2, 0.4, 0.1; the
// seeds differ by the same amount at all widths but the peak.
func widthRuns(t *testing.T, scenario string) []*RunDir {
	t.Helper()
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		off := 0.01 * float64(seed-1)
		for i, width := range []int{4, 8, 16, 32} {
			f := fakePairs{scenario: scenario, noise: "pln", effective: 0.1, classes: 10, width: width, seed: seed, floor: 0.005}
			f.test = []float64{0.3, 0.2, 0.4 + 2*off, 0.1}[i] + off
			f.train = []float64{0.2, 0.1, 0.0059, 0.005}[i]
			runs = append(runs, f.make(t, folder))
		}
	}
	return runs
}

func TestDoubleDescent(t *testing.T) {
	s := pairStudy(t, widthRuns(t, "s2"), false)
	s.DoubleDescent()
	if len(s.Peaks) != 1 {
		t.Fatalf("%d peaks", len(s.Peaks))
	}
	p := s.Peaks[0]
	if p.Width != 16 || p.Widths != 4 || p.N != 3 || *p.Fits != 16 || p.Verdict != "supported" {
		t.Errorf("%+v, interpolates from %d", p, *p.Fits)
	}
	// 0.2 and 0.3, and twice what seeds differ by: 0.02 where halfOfTenth is of 0.1.
	meanIs(t, "rise", *p.Rise, 0.2, 0.2*halfOfTenth, 3)
	meanIs(t, "fall", *p.Fall, 0.3, 0.2*halfOfTenth, 3)
	meanIs(t, "peak", p.Test, 0.4, 0.3*halfOfTenth, 3)
	base := filepath.Join(t.TempDir(), "dd.png")
	files, err := s.WidthCurves(base)
	if err != nil || len(files) != 1 || files[0] != strings.TrimSuffix(base, ".png")+"-mnist.png" {
		t.Fatal(files, err)
	}
	if n := rendertest.Colors(rendertest.Load(t, files[0])); n[render.Palette[0]] < 100 {
		t.Errorf("%d pixels of the curve's blue", n[render.Palette[0]])
	}
	inSVG(t, strings.TrimSuffix(files[0], "png")+"svg", "S2 (dense)", "PLN 10 %", "test error", "training error", "floor of duplicates", "parameters", "error (%)")

	// With one width missing for a seed, peaks are of the seeds that all widths have.
	s = pairStudy(t, widthRuns(t, "s1")[:11], false)
	s.DoubleDescent()
	if s.Peaks[0].N != 2 {
		t.Errorf("of %d seeds", s.Peaks[0].N)
	}
	s = pairStudy(t, widthRuns(t, "s1")[:1], false)
	if s.DoubleDescent(); len(s.Peaks) != 0 || !strings.Contains(strings.Join(s.Notes, ""), "at one width only") {
		t.Errorf("one width: %v %q", s.Peaks, s.Notes)
	}
}

// A peak that noise makes is not one by the places of other seeds.
func TestFindPeak(t *testing.T) {
	spikes := [][]float64{{1, 1, 1}, {4, 1, 1}, {1, 4, 1}, {1, 1, 4.5}, {1, 1, 1}}
	_, top, _, rise, fall := findPeak(spikes, prominent)
	if top != 3 {
		t.Errorf("peak at %d", top)
	}
	// Without seed 0 the others choose place 3, where it has 1; and so on: seed 2 is
	// judged at place 1 or 2.
	meanIs(t, "rise of spikes", *rise, 0, 0, 3)
	meanIs(t, "fall of spikes", *fall, 0, 0, 3)
	if v := peakVerdict(rise, fall); v != "inconclusive" {
		t.Error(v)
	}
	for _, tc := range []struct {
		means              []float64
		before, top, after int
	}{
		{[]float64{3, 2, 1}, -1, -1, -1}, {[]float64{1, 2, 3}, -1, -1, -1}, {[]float64{5, 1, 3, 2, 4, 0}, 1, 4, 5}, {[]float64{1, 1}, -1, -1, -1}, {[]float64{2}, -1, -1, -1},
	} {
		if b, p, a := prominent(tc.means); b != tc.before || p != tc.top || a != tc.after {
			t.Errorf("%v: %d %d %d", tc.means, b, p, a)
		}
	}
	for _, tc := range []struct {
		means              []float64
		before, top, after int
	}{
		{[]float64{3, 2, 1}, -1, 0, 2}, {[]float64{1, 2, 3}, 0, 2, -1}, {[]float64{2, 1, 5, 0}, 1, 2, 3},
	} {
		if b, p, a := largest(tc.means); b != tc.before || p != tc.top || a != tc.after {
			t.Errorf("%v: %d %d %d", tc.means, b, p, a)
		}
	}
	_, _, _, rise, fall = findPeak([][]float64{{1}, {3}, {2}}, largest)
	if *rise.Value != 2 || *fall.Value != 1 || rise.CI95 != nil || peakVerdict(rise, fall) != "inconclusive" {
		t.Errorf("one seed: %v %v", *rise.Value, *fall.Value)
	}
}

func TestEpochCurves(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		off := 0.01 * float64(seed-1)
		f := fakePairs{scenario: "s2", noise: "sln", effective: 0.2, classes: 10, width: 8, seed: seed}
		for i, test := range []float64{0.5, 0.2, 0.4, 0.1} {
			if seed == 2 && i == 1 {
				f.events = append(f.events, evaluated(15, 1.5, 0.9, 0.9)) // of this seed alone
			}
			f.events = append(f.events, evaluated(10*(i+1), float64(i+1), test+off, 0.25))
		}
		runs = append(runs, f.make(t, folder))
	}
	s := pairStudy(t, runs, true)
	s.EpochCurves()
	if len(s.Epochs) != 1 || len(s.Epochs[0].Points) != 4 {
		t.Fatalf("%+v", s.Epochs)
	}
	c := s.Epochs[0]
	if c.Peak.Epoch != 3 || c.Best.Epoch != 4 || c.Last.Step != 40 || c.Verdict != "supported" {
		t.Errorf("%+v", c)
	}
	meanIs(t, "first test error", c.Points[0].Test, 0.5, halfOfTenth/10, 3)
	meanIs(t, "training error", c.Points[2].Train, 0.25, 0, 3)
	meanIs(t, "rise", *c.Rise, 0.2, 0, 3)
	meanIs(t, "fall", *c.Fall, 0.3, 0, 3)
	files, err := s.DrawEpochs(filepath.Join(t.TempDir(), "e"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	inSVG(t, strings.TrimSuffix(files[0], "png")+"svg", "epochs", "SLN 20 %", "test error", "training error")
	s = pairStudy(t, runs, false) // curves were not read
	if s.EpochCurves(); len(s.Epochs) != 0 || !strings.Contains(strings.Join(s.Notes, ""), "no evaluations of test pairs") {
		t.Errorf("%+v %q", s.Epochs, s.Notes)
	}
}
