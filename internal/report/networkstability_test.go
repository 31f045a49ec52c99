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

// fakeMoved is a run of n images with a stability.json, written by hand: replaced are
// the largest, nearly largest and mean changes by kind.
func fakeMoved(t *testing.T, folder string, n int, replaced map[string][][3]float64, labels ...rundir.Label) *rundir.Run {
	t.Helper()
	dir := filepath.Join(folder, fmt.Sprintf("n%d-%d", n, len(labels)))
	rundirtest.Put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": "finished", "data": {"name": "mnist", "train": {"items": %d}}, "steps": 9}`, n))
	var rows []string
	for _, kind := range []string{"fresh", "far"} {
		for _, v := range replaced[kind] {
			rows = append(rows, fmt.Sprintf(`{"kind": %q, "movement": {"loss_max": %v, "loss_p99": %v, "loss_mean": %v, "neighbours_changed": 0.5, "weights_share": 0.25}}`, kind, v[0], v[1], v[2]))
		}
	}
	rows = append(rows, `{"kind": "fresh", "movement": null, "message": "collapsed"}`)
	rundirtest.Put(t, dir, "stability.json", fmt.Sprintf(`{"schema": "tercet.stability/1", "source": {"checkpoint": "last", "step": 9}, "loss": "triplet", "replaced": [%s]}`, strings.Join(rows, ", ")))
	r, err := rundir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = append([]rundir.Label{{Key: "name", Value: dir}, {Key: "seed", Value: "0"}, {Key: "data.limit_per_class", Value: fmt.Sprint(n / 10)}}, labels...)
	return r
}

// Means, the largest and slopes by plain loops; lost retrainings do not count.
func TestNetworkStability(t *testing.T) {
	folder := t.TempDir()
	var runs []*rundir.Run
	sizes := []int{1000, 250, 4000}
	means := map[int]float64{}
	for _, n := range sizes {
		moved := map[string][][3]float64{}
		for k := range 4 {
			v := math.Pow(float64(n), -0.4) * (1 + 0.2*float64(k)*math.Cos(float64(n)))
			means[n] += v / 4
			moved["fresh"] = append(moved["fresh"], [3]float64{1 + float64(k)/10, 0.5, v})
		}
		moved["far"] = [][3]float64{{0, 0, 0}}
		runs = append(runs, fakeMoved(t, folder, n, moved))
	}
	s, err := CompareNetworkStability(runs)
	if err != nil || len(s.Curves) != 2 || len(s.Notes) != 3 || !strings.Contains(s.Notes[0], "lost and do not count: 1") {
		t.Fatalf("study %+v, error %v", s, err)
	}
	c := s.Curves[0]
	slope := plainSlope(sizes, means)
	if got := c.Rates[2]; math.Abs(got.Slope-slope) > 1e-12 || got.CI95 == nil || got.CI95[0] > slope || got.CI95[1] < slope {
		t.Errorf("rate %+v, want %v", got, slope)
	}
	if got := c.Rates[0].Slope; math.Abs(got) > 1e-12 {
		t.Errorf("slope %v of what is the same for all n", got)
	}
	for i, n := range []int{250, 1000, 4000} {
		p := c.Points[i]
		if p.N != n || p.Replaced != 4 || p.Gamma != 1.3 || math.Abs(*p.Means[0].Value-1.15) > 1e-12 || math.Abs(*p.Means[2].Value-means[n]) > 1e-15 || *p.Weights.Value != 0.25 || *p.Neighbors.Value != 0.5 {
			t.Errorf("point %d: %+v", n, p)
		}
	}
	// Nothing has moved by the other kind: no slope of a logarithm, and no picture.
	if far := s.Curves[1]; far.Kind != "far" || far.Rates[2] != nil || far.RateNotes[2] == "" {
		t.Errorf("far: %+v", far)
	}
	for _, full := range []bool{true, false} {
		table := s.Table(full)
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("row of %d cells, %d columns", len(row), len(table.Columns))
			}
		}
	}
	for _, f := range render.Formats() {
		var b strings.Builder
		if err := s.Table(false).Write(&b, f); err != nil || !strings.Contains(b.String(), "4000") {
			t.Errorf("%s: %v\n%s", f, err, b.String())
		}
	}
	if notes := strings.Join(s.Table(false).Notes, "\n"); !strings.Contains(notes, "fewer than 10 repeats") {
		t.Errorf("four replacements are called enough:\n%s", notes)
	}
	files, err := s.DrawCurves(filepath.Join(folder, "m.png"))
	if err != nil || !slices.Equal(files, []string{filepath.Join(folder, "m-mnist-fresh.png")}) {
		t.Fatalf("files %v, error %v", files, err)
	}
}

// Runs that cannot be used are named, and other keys part curves.
func TestNetworkStabilityOfWhatThereIs(t *testing.T) {
	folder := t.TempDir()
	one := map[string][][3]float64{"fresh": {{1, 0.5, 0.1}}}
	none, old, metric := fakeMoved(t, folder, 10, one), fakeMoved(t, folder, 20, one), fakeMoved(t, folder, 30, one)
	if err := os.Remove(filepath.Join(none.Dir, "stability.json")); err != nil {
		t.Fatal(err)
	}
	old.Manifest.Steps = 10
	rundirtest.Put(t, metric.Dir, "stability.json", `{"schema": "tercet.metricstability/1"}`)
	a := fakeMoved(t, folder, 40, one, rundir.Label{Key: "loss.margin", Value: "0.2"})
	b := fakeMoved(t, folder, 40, one, rundir.Label{Key: "loss.margin", Value: "0.3"}, rundir.Label{Key: "x", Value: "y"})
	s, err := CompareNetworkStability([]*rundir.Run{none, old, metric, a, b})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"tercet stability --run", "is of step 9, the run is at step 10", "is of a metric"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if len(s.Curves) != 2 || !strings.Contains(s.Curves[0].Setting, "loss.margin 0.2") || s.Curves[0].Rates[0] != nil {
		t.Errorf("curves %+v", s.Curves)
	}
	if got := s.Curves[0].RateNotes[0]; got != "a slope needs two numbers of training images or more" {
		t.Errorf("of one size: %q", got)
	}
	rundirtest.Put(t, a.Dir, "stability.json", `{"schema": "tercet.stability/9"}`)
	if _, err := CompareNetworkStability([]*rundir.Run{a}); err == nil || !strings.Contains(err.Error(), "`tercet stability` makes the file again") {
		t.Errorf("another version: %v", err)
	}
	if _, err := CompareNetworkStability([]*rundir.Run{none, metric}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), " makes it\n") || !strings.Contains(err.Error(), "is of a metric") {
		t.Errorf("nothing to compare: error %v", err)
	}
	c := fakeMoved(t, folder, 80, nil) // all were lost
	if _, err := CompareNetworkStability([]*rundir.Run{c}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "do not count: 1") {
		t.Errorf("all lost: error %v", err)
	}
	b.Manifest.Data.Test.Items = 1000
	d := fakeMoved(t, folder, 160, one)
	measuredBy(t, d, "stability.json", `"triplets": 40000`, `"set": "test", "items": 900`)
	measuredBy(t, b, "stability.json", `"triplets": 500, "limit": 100`, `"set": "test", "items": 100`)
	if s, err = CompareNetworkStability([]*rundir.Run{b, d}); err != nil || len(s.Notes) != 4 || !strings.Contains(s.Notes[0], "is of 100 of the 1000 test images (--limit 100)") || !strings.Contains(s.Notes[1], "different numbers of triplets: 500") {
		t.Errorf("unlike measurements: notes %q, error %v", s.Notes, err)
	}
	empty := &NetworkStability{}
	if _, err := empty.DrawCurves(filepath.Join(folder, "none")); err == nil {
		t.Error("a picture of nothing")
	}
}

// The table of metrics says where networks are shown.
func TestStabilityOfANetworkIsShownElsewhere(t *testing.T) {
	r := fakeMoved(t, t.TempDir(), 10, map[string][][3]float64{"fresh": {{1, 0.5, 0.1}}})
	if _, err := ReadStability([]string{r.Dir}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "--table network-stability shows") {
		t.Errorf("error %v", err)
	}
}
