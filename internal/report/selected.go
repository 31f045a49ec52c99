package report

import (
	"fmt"
	"slices"

	"tercet/internal/names"
	"tercet/internal/render"
)

// onTest says how test images have chosen the weights whose scores are shown: "stopping
// step", "best checkpoint", or "" where they have not.
func (r *RunDir) onTest() string {
	m := r.Manifest
	split := ""
	switch {
	case m.Selection != nil:
		split = m.Selection.Split
	case m.Best == nil, slices.Contains([]string{"loss", "pair_train_accuracy"}, m.Best.Metric):
	case m.Data.Validation == nil: // older versions took the test set then
		split = "test"
	}
	switch {
	case split != "test":
		return ""
	case r.Of.Checkpoint == "best":
		return "best checkpoint"
	case m.Stopped != nil || m.Status == "finished" && m.Steps < m.Of:
		return "stopping step"
	}
	return ""
}

// onTestKinds are what onTest says of weights that test images have chosen.
var onTestKinds = []string{"best checkpoint", "stopping step"}

// chosenAs lists the runs of which test images have chosen that.
func chosenAs(what string, runs []*RunDir) []string {
	var dirs []string
	for _, r := range runs {
		if r.onTest() == what {
			dirs = append(dirs, r.Dir)
		}
	}
	return dirs
}

// selected names the runs whose weights test images have chosen: their test scores are
// too good.
func selected(runs []*RunDir) []string {
	var out []string
	for _, what := range onTestKinds {
		dirs := chosenAs(what, runs)
		switch {
		case dirs == nil:
		case runs[0].Of.full().Split != names.Test: // no test score is shown
			out = append(out, fmt.Sprintf("the %s was chosen on test images: %s", what, render.Listed(dirs)))
		default:
			out = append(out, fmt.Sprintf("the %s was chosen on test images, so the test scores are too good: %s; data.split.validation holds out images to choose by", what, render.Listed(dirs)))
		}
	}
	return out
}

const chosenOnTest = " chosen on test images"

// selection is what a row says of its runs' selection on test images.
func (g *Group) selection() string { return chosenOn(g.runs) }

// chosenOn is that of runs; "" where test images chose nothing.
func chosenOn(runs []*RunDir) string {
	for _, r := range runs {
		if what := r.onTest(); what != "" {
			return what + chosenOnTest
		}
	}
	return ""
}
