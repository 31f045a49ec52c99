package study

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// compared is a table of the built-in studies over runs.
func compared(t *testing.T, table string, runs []*rundir.Run) *Document {
	t.Helper()
	d, err := tableNamed(t, table).Compare(runs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// plainSlope is the slope of log mean on log n by plain loops.
func plainSlope(means map[int]float64) float64 {
	var mx, my, xx, xy float64
	k := float64(len(means))
	for n, m := range means {
		mx, my = mx+math.Log(float64(n))/k, my+math.Log(m)/k
	}
	for n, m := range means {
		d := math.Log(float64(n)) - mx
		xx, xy = xx+d*d, xy+d*(math.Log(m)-my)
	}
	return xy / xx
}

// Slopes are of controlled gaps where each run of a curve has one, and of the plain ones
// where one lacks it; a mean that is not positive has none.
func TestSlopesOfGaps(t *testing.T) {
	t.Chdir(t.TempDir())
	d := compared(t, "gap", gapWorld(t))
	means := map[int]float64{}
	for _, n := range []int{250, 1000, 4000} {
		for seed := range 3 {
			means[n] += 0.9 * 0.8 * math.Pow(float64(n), -0.5) * (1 + 0.1*float64(seed)*math.Sin(float64(n))) / 3
		}
	}
	if len(d.Slopes) != 4 || len(d.Rows) != 6 {
		t.Fatalf("%d slopes, %d rows", len(d.Slopes), len(d.Rows))
	}
	loss, plain, wrong := d.Slopes[0], d.Slopes[2], d.Slopes[1]
	if want := plainSlope(means); loss.Score != "loss gap, controlled" || loss.Curve != "loss.margin 0.2" || math.Abs(loss.Rate.Slope-want) > 1e-12 || !(loss.Rate.CI95[0] < want && want < loss.Rate.CI95[1]) {
		t.Errorf("%+v, want %v", loss, want)
	}
	if math.Abs(wrong.Rate.Slope+0.7) > 1e-12 {
		t.Errorf("slope of errors %v", wrong.Rate.Slope)
	}
	if plain.Score != "loss gap" || plain.Rate != nil || !strings.Contains(plain.Note, "no logarithm") {
		t.Errorf("%+v", plain)
	}
	text := write(t, d, "text")
	for _, want := range []string{"loss gap (6 of 9 runs have loss gap, controlled): none", "error gap (6 of 9 runs have error gap, controlled) 0.000", "loss.margin 0.2: slope of log mean on log n: loss gap, controlled -0.4", "84 % of cases with 3 repeats"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	files, err := d.Draw("g.png")
	if err != nil || !slices.Equal(files, []string{"g-mnist.png"}) {
		t.Fatalf("files %v, error %v", files, err)
	}
	if b, err := os.ReadFile("g-mnist.svg"); err != nil || !strings.Contains(string(b), "Th. 1, gamma 0") || !strings.Contains(string(b), "controlled") {
		t.Errorf("no bound in the picture (%v)", err)
	}
}

// Runs that cannot be used are named, and so is what was measured unlike the others.
func TestGapsOfWhatThereIs(t *testing.T) {
	t.Chdir(t.TempDir())
	gap := func(n int) fakeGap { return fakeGap{n: n, loss: 0.5, wrong: 0.25, bound: gapBound(n, true)} }
	none, old, metric := gap(10).make(t), gap(20).make(t), gap(30).make(t)
	if err := os.Remove(filepath.Join(none.Dir, "gap.json")); err != nil {
		t.Fatal(err)
	}
	old.Manifest.Steps = 10
	put(t, metric.Dir, "gap.json", `{"schema": "tercet.metricstability/1"}`)
	a, b := gap(40).make(t), gap(80)
	b.options, b.bound = `"triplets": 500, "limit": 200`, strings.Replace(b.bound, "0.1", "0.2", 1)
	limited := b.make(t)
	text, err := os.ReadFile(filepath.Join(limited.Dir, "gap.json"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, limited.Dir, "gap.json", strings.Replace(string(text), `"items": 10000`, `"items": 200`, 1))
	elsewhere := gap(160).make(t)
	put(t, elsewhere.Dir, "gap.json", `{"schema": "tercet.gap/1", "source": {"checkpoint": "last", "step": 9, "set": "validation", "items": 5}}`)
	d := compared(t, "gap", []*rundir.Run{none, old, metric, a, limited, elsewhere})
	notes := strings.Join(d.Notes, "\n")
	for _, want := range []string{
		"no gap.json in " + none.Dir + "; tercet gap --run " + none.Dir + " makes it", "is of step 9, the run is at step 10", "is of a metric",
		"is of 200 of the 10000 test images (limit 200)", "different numbers of triplets: 200000 (" + a.Dir + "), 500 (" + limited.Dir + ")", "different probabilities 1 - delta: 0.1 (" + a.Dir + "), 0.2",
		"is of the validation images, checkpoint last, not of the test images",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if got := d.Slopes[1]; got.Score != "error gap" || got.Rate == nil || math.Abs(got.Rate.Slope) > 1e-12 || got.Note != "no interval: a size has one repeat" {
		t.Errorf("%+v", got)
	}
	if text := write(t, d, "csv"); strings.Contains(text, "controlled") {
		t.Errorf("no run has a controlled gap:\n%s", text)
	}
	if _, err := tableNamed(t, "gap").Compare([]*rundir.Run{none, metric}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), " makes it") {
		t.Errorf("nothing to compare: %v", err)
	}
	put(t, a.Dir, "gap.json", `{"schema": "tercet.gap/9"}`)
	if _, err := tableNamed(t, "gap").Compare([]*rundir.Run{a}); err == nil || !strings.Contains(err.Error(), "tercet.gap/9") {
		t.Errorf("another version: %v", err)
	}
}

// The largest change is that of any replacement; lost retrainings do not count; what has
// moved nothing has no slope and no picture.
func TestStabilityOfNetworks(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := movedWorld(t)
	d := compared(t, "network-stability", runs)
	means := map[int]float64{}
	for _, n := range []int{250, 1000, 4000} {
		for k := range 4 {
			means[n] += math.Pow(float64(n), -0.4) * (1 + 0.2*float64(k)*math.Cos(float64(n))) / 4
		}
	}
	if len(d.Slopes) != 6 || math.Abs(d.Slopes[2].Rate.Slope-plainSlope(means)) > 1e-12 || math.Abs(d.Slopes[0].Rate.Slope) > 1e-12 || d.Slopes[5].Rate != nil {
		t.Errorf("%+v", d.Slopes)
	}
	if r := d.Rows[0]; r.N != 4 || len(r.Runs) != 1 || r.Scores["largest change"].Max != 1.3 || math.Abs(r.Scores["mean change"].Value-means[250]) > 1e-15 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"lost, so not counted: 1 of 6 replaced", "fresh: slope of log mean on log n: largest change 0.000", "fewer than 10 repeats"} {
		if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	files, err := d.Draw("m.png")
	if err != nil || !slices.Equal(files, []string{"m-mnist-fresh.png"}) {
		t.Errorf("files %v, error %v", files, err)
	}
	if _, err := tableNamed(t, "network-stability").Compare([]*rundir.Run{fakeMoved(t, 80, nil)}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "1 of 1 replaced") {
		t.Errorf("all lost: %v", err)
	}
	still := compared(t, "network-stability", []*rundir.Run{fakeMoved(t, 160, map[string][][3]float64{"far": {{0, 0, 0}}})})
	if _, err := still.Draw("none"); err == nil {
		t.Error("a picture of nothing")
	}
}

// Intervals of slopes over few runs of a size are said to be narrow; nothing is said of what
// has no interval or enough runs.
func TestFewRepeats(t *testing.T) {
	for _, c := range []struct {
		runs []int // of each size
		want bool
	}{{[]int{3, 3}, true}, {[]int{10, 9}, true}, {[]int{10, 11}, false}, {[]int{1, 1}, false}, {[]int{3}, false}} {
		t.Chdir(t.TempDir())
		var runs []*rundir.Run
		for k, repeats := range c.runs {
			for seed := range repeats {
				v := 1/float64(k+1) + 0.01*float64(seed)
				runs = append(runs, fakeGap{n: 100 << k, seed: seed, loss: v, wrong: v / 2, bound: gapBound(100, true)}.make(t))
			}
		}
		if notes := strings.Join(compared(t, "gap", runs).Notes, "\n"); strings.Contains(notes, "84 % of cases with 3 repeats") != c.want {
			t.Errorf("%v runs: notes\n%s", c.runs, notes)
		}
	}
}

// A table of rates that names what there is not is refused.
func TestRatesAreChecked(t *testing.T) {
	t.Parallel()
	const head = "title: x\ntables:\n  - name: x\n    title: x\n    fields: [{name: n, from: config.n}]\n    scores: [{name: s, from: config.s}]\n    rows: [n]\n    columns: [n]\n"
	for rates, want := range map[string]string{
		"{along: m, of: [{score: s}]}":               `rates.along: "m" is not a field of rows`,
		"{along: n, of: [{score: q}]}":               `unknown score "q"`,
		"{along: n, of: [{score: s, otherwise: q}]}": `unknown score "q"`,
	} {
		if _, err := Read([]byte(head+"    rates: "+rates+"\n"), "x.yaml", "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rates, err)
		}
	}
	if _, err := Read([]byte(head+"    observe: {alike: [{from: nowhere}]}\n"), "x.yaml", "x"); err == nil || !strings.Contains(err.Error(), "observe.alike") {
		t.Error(err)
	}
}
