package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// fakeGap is a run with a gap.json, written by hand.
func fakeGap(t *testing.T, folder string, n, seed int, loss, wrong float64, labels ...rundir.Label) *rundir.Run {
	t.Helper()
	dir := filepath.Join(folder, fmt.Sprintf("n%d-s%d-%d", n, seed, len(labels)))
	rundirtest.Put(t, dir, "manifest.json", `{"schema": "tercet.run/1", "name": "x", "status": "finished", "data": {"name": "mnist"}, "steps": 9}`)
	sides := func(v float64) string {
		return fmt.Sprintf(`"train": {"value": 0.001}, "test": {"value": %v}, "gap": {"value": %v}`, v+0.001, v)
	}
	rundirtest.Put(t, dir, "gap.json", fmt.Sprintf(`{"schema": "tercet.gap/1", "source": {"checkpoint": "last", "step": 9}, "train": {"items": %d},
 "loss": {"name": "triplet", %s}, "triplet_error": {%s}, "bound": {"without_gamma": {"value": %v, "vacuous": true}}}`, n, sides(loss), sides(wrong), 100/math.Sqrt(float64(n))))
	r, err := rundir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = append([]rundir.Label{{Key: "name", Value: dir}, {Key: "seed", Value: "0"}, {Key: "data.limit_per_class", Value: fmt.Sprint(n / 10)}, {Key: "data.split.seed", Value: fmt.Sprint(seed)}}, labels...)
	return r
}

// plainSlope is the slope of log mean on log n by least squares.
func plainSlope(sizes []int, means map[int]float64) float64 {
	var mx, my, xx, xy float64
	k := float64(len(sizes))
	for _, n := range sizes {
		mx, my = mx+math.Log(float64(n))/k, my+math.Log(means[n])/k
	}
	for _, n := range sizes {
		d := math.Log(float64(n)) - mx
		xx, xy = xx+d*d, xy+d*(math.Log(means[n])-my)
	}
	return xy / xx
}

// Means and slopes by plain loops over log n and log mean.
func TestGapStudy(t *testing.T) {
	folder := t.TempDir()
	var runs []*rundir.Run
	sizes := []int{4000, 250, 1000}
	means := map[int]float64{}
	for _, n := range sizes {
		for seed := range 3 {
			v := 0.8 * math.Pow(float64(n), -0.5) * (1 + 0.1*float64(seed)*math.Sin(float64(n)))
			means[n] += v / 3
			runs = append(runs, fakeGap(t, folder, n, seed, v, 2*math.Pow(float64(n), -0.7)))
		}
	}
	s, err := CompareGaps(runs)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Curves) != 1 || len(s.Notes) != 0 {
		t.Fatalf("study %+v", s)
	}
	c := s.Curves[0]
	slope := plainSlope(sizes, means)
	if got := c.LossRate.Slope; math.Abs(got-slope) > 1e-12 {
		t.Errorf("slope %v, want %v", got, slope)
	}
	if ci := c.LossRate.CI95; ci == nil || ci[0] > slope || ci[1] < slope {
		t.Errorf("interval %v", ci)
	}
	if math.Abs(c.ErrorRate.Slope+0.7) > 1e-12 {
		t.Errorf("slope of errors %v", c.ErrorRate.Slope)
	}
	for i, n := range []int{250, 1000, 4000} {
		p := c.Points[i]
		if p.N != n || len(p.Runs) != 3 || math.Abs(*p.Loss.Gap.Value-means[n]) > 1e-15 || math.Abs(*p.Loss.Train.Value-0.001) > 1e-15 || !p.Vacuous || math.Abs(*p.Bound.Value-100/math.Sqrt(float64(n))) > 1e-12 {
			t.Errorf("point %d: %+v", n, p)
		}
	}
	table := s.Table(true)
	for _, row := range table.Rows {
		if len(row) != len(table.Columns) {
			t.Errorf("row of %d cells, %d columns", len(row), len(table.Columns))
		}
	}
	for _, f := range render.Formats() {
		var b strings.Builder
		if err := s.Table(false).Write(&b, f); err != nil || !strings.Contains(b.String(), "250") {
			t.Errorf("%s: %v\n%s", f, err, b.String())
		}
	}
	files, err := s.DrawCurves(filepath.Join(folder, "g.png"))
	if err != nil || !slices.Equal(files, []string{filepath.Join(folder, "g-mnist.png")}) {
		t.Fatalf("files %v, error %v", files, err)
	}
	if b, err := os.ReadFile(filepath.Join(folder, "g-mnist.svg")); err != nil || !strings.Contains(string(b), "Th. 1, gamma 0") {
		t.Errorf("no bound in the picture (%v)", err)
	}
}

// Runs that cannot be used are named; other keys part curves; a mean of 0 has no slope.
func TestGapStudyOfWhatThereIs(t *testing.T) {
	folder := t.TempDir()
	none := fakeGap(t, folder, 10, 0, 0.5, 0.5)
	if err := os.Remove(filepath.Join(none.Dir, "gap.json")); err != nil {
		t.Fatal(err)
	}
	old := fakeGap(t, folder, 20, 0, 0.5, 0.5)
	old.Manifest.Steps = 10
	metric := fakeGap(t, folder, 30, 0, 0.5, 0.5)
	rundirtest.Put(t, metric.Dir, "gap.json", `{"schema": "tercet.metricstability/1"}`)
	a, b := fakeGap(t, folder, 40, 0, 0.5, 0.5, rundir.Label{Key: "loss.margin", Value: "0.2"}), fakeGap(t, folder, 80, 0, -0.5, 0.25, rundir.Label{Key: "loss.margin", Value: "0.2"})
	other := fakeGap(t, folder, 40, 1, 0.5, 0.5, rundir.Label{Key: "loss.margin", Value: "0.3"}, rundir.Label{Key: "x", Value: "y"})
	s, err := CompareGaps([]*rundir.Run{none, old, metric, a, b, other})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"tercet gap --run", "is of step 9, the run is at step 10", "is of a metric"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
	if len(s.Curves) != 2 || s.Curves[0].Setting != "loss.margin 0.2" || s.Curves[1].Setting != "loss.margin 0.3, x y" {
		t.Fatalf("curves %+v", s.Curves)
	}
	c := s.Curves[0]
	if c.LossRate != nil || !strings.Contains(c.LossRateNote, "no logarithm") || c.ErrorRate == nil || math.Abs(c.ErrorRate.Slope+1) > 1e-12 || c.ErrorRateNote == "" {
		t.Errorf("rates %+v (%s), %+v (%s)", c.LossRate, c.LossRateNote, c.ErrorRate, c.ErrorRateNote)
	}
	if _, err := s.DrawCurves(filepath.Join(folder, "g")); err != nil {
		t.Errorf("curves: %v", err)
	}
	rundirtest.Put(t, a.Dir, "gap.json", `{"schema": "tercet.gap/9"}`)
	if _, err := CompareGaps([]*rundir.Run{a}); err == nil || !strings.Contains(err.Error(), "tercet.gap/9") {
		t.Errorf("error %v", err)
	}
	if _, err = CompareGaps([]*rundir.Run{none, metric}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), " makes it\n") || !strings.Contains(err.Error(), "is of a metric: --table stability shows it") {
		t.Errorf("nothing to compare: error %v", err)
	}
}

// controlledBy gives the gap.json of a run a reference.
func controlledBy(t *testing.T, r *rundir.Run, loss, wrong float64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, "gap.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), `"loss": {`, fmt.Sprintf(`"loss": {"control": {"value": 0.1}, "controlled": {"value": %v}, `, loss), 1)
	text = strings.Replace(text, `"triplet_error": {`, fmt.Sprintf(`"triplet_error": {"controlled": {"value": %v}, `, wrong), 1)
	rundirtest.Put(t, r.Dir, "gap.json", text)
}

// Slopes are of controlled gaps where each run of a curve has one, and of the plain ones
// where one lacks it.
func TestGapStudyControlled(t *testing.T) {
	folder := t.TempDir()
	var runs []*rundir.Run
	for _, n := range []int{100, 400, 1600} {
		for seed := range 2 {
			x := float64(n)
			r := fakeGap(t, folder, n, seed, 5*math.Pow(x, -0.2)*(1+0.3*float64(seed)), 2*math.Pow(x, -0.7))
			controlledBy(t, r, 8*math.Pow(x, -0.5)*(1+0.1*float64(seed)), 4*math.Pow(x, -0.9))
			runs = append(runs, r)
		}
	}
	s, err := CompareGaps(runs)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Curves[0]
	if !c.Controlled || c.Partly != 0 || math.Abs(c.LossRate.Slope+0.5) > 1e-12 || math.Abs(c.ErrorRate.Slope+0.9) > 1e-12 {
		t.Errorf("slopes %v and %v (controlled %v)", c.LossRate.Slope, c.ErrorRate.Slope, c.Controlled)
	}
	p := c.Points[1].Loss
	if math.Abs(*p.Gap.Value-5*math.Pow(400, -0.2)*1.15) > 1e-12 || math.Abs(*p.Controlled.Value-8./20*1.05) > 1e-12 || p.Controlled.CI95 == nil {
		t.Errorf("point %+v", p)
	}
	text := func() string {
		t.Helper()
		table := s.Table(true)
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("row of %d cells, %d columns", len(row), len(table.Columns))
			}
		}
		var b strings.Builder
		if err := table.Write(&b, "csv"); err != nil {
			t.Fatal(err)
		}
		return b.String() + strings.Join(table.Notes, "\n")
	}
	if out := text(); !strings.Contains(out, "controlled") || !strings.Contains(out, "slope of log controlled gap on log n: loss -0.500") {
		t.Error(out)
	}
	if _, err := s.DrawCurves(filepath.Join(folder, "g")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(folder, "g-mnist.svg")); err != nil || !strings.Contains(string(b), "controlled") {
		t.Errorf("the picture does not say what it shows (%v)", err)
	}
	if s, err = CompareGaps(append(runs, fakeGap(t, folder, 400, 7, 5*math.Pow(400, -0.2)*1.15, 2*math.Pow(400, -0.7)))); err != nil {
		t.Fatal(err)
	}
	c = s.Curves[0]
	if c.Controlled || c.Partly != 6 || math.Abs(c.LossRate.Slope+0.2) > 1e-12 || c.Points[0].Loss.Controlled == nil || c.Points[1].Loss.Controlled != nil {
		t.Errorf("slope %v, curve %+v", c.LossRate.Slope, c)
	}
	if out := text(); !strings.Contains(out, "slope of log plain gap (6 of the runs have a controlled one, not all) on log n: loss -0.200") {
		t.Error(out)
	}
}

// measuredBy changes a document of a run as if it had been measured by other options.
func measuredBy(t *testing.T, r *rundir.Run, file, options, source string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	rundirtest.Put(t, r.Dir, file, strings.Replace(string(b), `"source": {`, `"options": {`+options+`}, "source": {`+source+`, `, 1))
}

// Gaps of unlike measurements are compared with a note.
func TestGapsOfUnlikeMeasurements(t *testing.T) {
	folder := t.TempDir()
	var runs []*rundir.Run
	for _, n := range []int{100, 400} {
		r := fakeGap(t, folder, n, 0, 1/float64(n), 1/float64(n))
		r.Manifest.Data.Train.Items, r.Manifest.Data.Test.Items = n, 10000
		runs = append(runs, r)
	}
	plain := `"triplets": 200000, "seed": 1`
	measuredBy(t, runs[0], "gap.json", plain, `"set": "test", "items": 10000`)
	measuredBy(t, runs[1], "gap.json", plain, `"set": "test", "items": 10000`)
	if s, err := CompareGaps(runs); err != nil || len(s.Notes) != 0 {
		t.Errorf("notes %q on what is alike, error %v", s.Notes, err)
	}
	other := fakeGap(t, folder, 1600, 0, 0.1, 0.1)
	other.Manifest.Data.Train.Items, other.Manifest.Data.Test.Items = 1600, 10000
	measuredBy(t, other, "gap.json", `"triplets": 500, "limit": 200`, `"set": "test", "items": 200`)
	b, err := os.ReadFile(filepath.Join(other.Dir, "gap.json"))
	if err != nil {
		t.Fatal(err)
	}
	rundirtest.Put(t, other.Dir, "gap.json", strings.Replace(string(b), `"bound": {`, `"bound": {"delta": 0.2, `, 1))
	elsewhere := fakeGap(t, folder, 3200, 0, 0.1, 0.1)
	measuredBy(t, elsewhere, "gap.json", plain, `"set": "validation", "items": 500`) // by an older version
	s, err := CompareGaps(append(runs, other, elsewhere))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(s.Table(false).Notes, "\n")
	for _, want := range []string{
		filepath.Join(other.Dir, "gap.json") + " is of 200 of the 10000 test images (--limit 200)",
		"different numbers of triplets: 200000 (" + runs[0].Dir + "), 500 (" + other.Dir + ")",
		filepath.Join(elsewhere.Dir, "gap.json") + " is of the validation images, checkpoint last, not of the test images, checkpoint last: left out", "delta 0.2 (" + other.Dir + ")", "bound is vacuous",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
}

// Intervals of slopes over few runs of a size are said to be narrow; none is said of what
// has no interval or enough runs.
func TestGapTableOfFewRepeats(t *testing.T) {
	for _, c := range []struct {
		runs []int // of each size
		want bool
	}{{[]int{3, 3}, true}, {[]int{10, 9}, true}, {[]int{10, 11}, false}, {[]int{1, 1}, false}, {[]int{3}, false}} {
		folder := t.TempDir()
		var runs []*rundir.Run
		for k, repeats := range c.runs {
			for seed := range repeats {
				runs = append(runs, fakeGap(t, folder, 100<<k, seed, 1/float64(k+1)+0.01*float64(seed), 0.5/float64(k+1)+0.01*float64(seed)))
			}
		}
		s, err := CompareGaps(runs)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Table(false).Notes, "\n"); strings.Contains(notes, "84 % of cases with 3 repeats") != c.want {
			t.Errorf("%v runs: notes\n%s", c.runs, notes)
		}
	}
}
