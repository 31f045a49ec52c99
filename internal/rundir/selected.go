package rundir

import (
	"fmt"

	"tercet/internal/names"
	"tercet/internal/text"
)

// onTest says how test images have chosen the weights whose scores are shown: "stopping
// step", "best checkpoint", or "" where they have not.
func (r *Run) onTest() string { return r.Manifest.ChosenOnTest(r.Of.Checkpoint) }

// Chosen are runs of which test images have chosen something: the best checkpoint or the
// stopping step.
type Chosen struct {
	What string
	Dirs []string
}

// ChosenOnTest lists the runs whose weights test images have chosen.
func ChosenOnTest(runs []*Run) []Chosen {
	var out []Chosen
	for _, what := range []string{"best checkpoint", "stopping step"} {
		c := Chosen{What: what}
		for _, r := range runs {
			if r.onTest() == what {
				c.Dirs = append(c.Dirs, r.Dir)
			}
		}
		if c.Dirs != nil {
			out = append(out, c)
		}
	}
	return out
}

// selected names the runs whose weights test images have chosen: their test scores are
// too good.
func selected(runs []*Run) []string {
	var out []string
	for _, c := range ChosenOnTest(runs) {
		if runs[0].Of.Full().Split != names.Test { // no test score is shown
			out = append(out, fmt.Sprintf("the %s was chosen on test images: %s", c.What, text.Some(c.Dirs)))
			continue
		}
		out = append(out, fmt.Sprintf("the %s was chosen on test images, so the test scores are too good: %s; data.split.validation holds out images to choose by", c.What, text.Some(c.Dirs)))
	}
	return out
}

// SelectedOn says how test images have chosen weights of the runs; "" where they have not.
func SelectedOn(runs []*Run) string {
	for _, r := range runs {
		if what := r.onTest(); what != "" {
			return what + " chosen on test images"
		}
	}
	return ""
}

// SelectionColumn heads what SelectedOn says.
const SelectionColumn = "selection"
