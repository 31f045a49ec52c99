package study

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// fakeGap is a run with a gap.json.
type fakeGap struct {
	n, seed     int
	loss, wrong float64 // gaps
	// controlled are the gaps with a control variate, where they are not 0.
	controlledLoss, controlledWrong float64
	bound                           string // its keys
	options                         string
	labels                          []rundir.Label
}

func (f fakeGap) make(t *testing.T) *rundir.Run {
	t.Helper()
	dir := filepath.Join("runs", fmt.Sprintf("gap-n%d-s%d-%d", f.n, f.seed, len(f.labels)))
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": "finished", "seed": 0, "data": {"name": "mnist", "train": {"items": %d}, "test": {"items": 10000}}, "steps": 9}`, f.n))
	sides := func(v, controlled float64) string {
		out := fmt.Sprintf(`"train": {"value": 0.001}, "test": {"value": %v}, "gap": {"value": %v}`, v+0.001, v)
		if controlled != 0 {
			out += fmt.Sprintf(`, "control": {"value": 0.1}, "controlled": {"value": %v}`, controlled)
		}
		return out
	}
	if f.options == "" {
		f.options = `"triplets": 200000`
	}
	put(t, dir, "gap.json", fmt.Sprintf(`{"schema": "tercet.gap/1", "source": {"checkpoint": "last", "step": 9, "set": "test", "items": 10000}, "options": {%s}, "train": {"items": %d},
 "loss": {"name": "triplet", %s}, "triplet_error": {%s}, "bound": {%s}}`, f.options, f.n, sides(f.loss, f.controlledLoss), sides(f.wrong, f.controlledWrong), f.bound))
	return read(t, dir, append([]rundir.Label{label("name", dir), label("seed", 0), label("data.limit_per_class", f.n/10), label("data.split.seed", f.seed)}, f.labels...)...)
}

// gapBound are keys of the bounds of Theorem 1 for n images.
func gapBound(n int, vacuous bool) string {
	return fmt.Sprintf(`"delta": 0.1, "without_gamma": {"value": %v, "vacuous": %v}`, 100/math.Sqrt(float64(n)), vacuous)
}

// gapWorld has gaps that fall as n to the power -0.5 and errors as -0.7, of three draws,
// and those of another margin, of which one size has no controlled gap; bounds at a
// measured gamma are there for one size.
func gapWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	margins := [][]rundir.Label{{label("loss.margin", "0.2")}, {label("loss.margin", "0.3"), label("loss.form", "hinge")}}
	for _, n := range []int{4000, 250, 1000} {
		x := float64(n)
		for seed := range 3 {
			f := fakeGap{n: n, seed: seed, loss: 0.8 * math.Pow(x, -0.5) * (1 + 0.1*float64(seed)*math.Sin(x)), wrong: 2 * math.Pow(x, -0.7), bound: gapBound(n, true), labels: margins[0]}
			f.controlledLoss, f.controlledWrong = 0.9*f.loss, 1.1*f.wrong*(1+0.01*float64(seed))
			if n == 1000 {
				f.bound += fmt.Sprintf(`, "with_gamma": {"value": %v, "vacuous": true}`, 200+seed)
			}
			runs = append(runs, f.make(t))
			f.labels, f.loss = margins[1], -0.01
			if f.wrong = 0.3 / (1 + float64(seed)); n == 250 {
				f.controlledLoss, f.controlledWrong, f.bound = 0, 0, gapBound(n, false)
			}
			runs = append(runs, f.make(t))
		}
	}
	return runs
}

// fakeMoved is a run of n images with a stability.json: replaced are the largest, nearly
// largest and mean changes by kind. One retraining was lost.
func fakeMoved(t *testing.T, n int, replaced map[string][][3]float64, labels ...rundir.Label) *rundir.Run {
	t.Helper()
	dir := filepath.Join("runs", fmt.Sprintf("moved-n%d-%d", n, len(labels)))
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": "finished", "seed": 0, "data": {"name": "mnist", "train": {"items": %d}}, "steps": 9}`, n))
	var entries []string
	for _, kind := range []string{"fresh", "far"} {
		for _, v := range replaced[kind] {
			entries = append(entries, fmt.Sprintf(`{"kind": %q, "movement": {"loss_max": %v, "loss_p99": %v, "loss_mean": %v, "neighbours_changed": %v, "weights_share": 0.25}}`, kind, v[0], v[1], v[2], v[2]/2))
		}
	}
	entries = append(entries, `{"kind": "fresh", "movement": null, "message": "collapsed"}`)
	put(t, dir, "stability.json", fmt.Sprintf(`{"schema": "tercet.stability/1", "source": {"checkpoint": "last", "step": 9}, "loss": "triplet", "replaced": [%s]}`, strings.Join(entries, ", ")))
	return read(t, dir, append([]rundir.Label{label("name", dir), label("seed", 0), label("data.limit_per_class", n/10)}, labels...)...)
}

// movedWorld has mean changes by a fresh image that fall as n to the power -0.4; an image
// from afar changes nothing.
func movedWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	for _, n := range []int{1000, 250, 4000} {
		moved := map[string][][3]float64{"far": {{0, 0, 0}}}
		for k := range 4 {
			v := math.Pow(float64(n), -0.4) * (1 + 0.2*float64(k)*math.Cos(float64(n)))
			moved["fresh"] = append(moved["fresh"], [3]float64{1 + float64(k)/10, 0.5 + v, v})
		}
		runs = append(runs, fakeMoved(t, n, moved))
	}
	return runs
}
