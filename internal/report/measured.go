package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/text"
)

// measureOptions are those that measurements have to share to be compared.
type measureOptions struct {
	Triplets int `json:"triplets"`
	Limit    int `json:"limit"` // images of a set at most; 0: all
}

// measuredHead is what the documents of measurements of networks begin with.
type measuredHead struct {
	Schema  string         `json:"schema"`
	Source  record.Source  `json:"source"`
	Options measureOptions `json:"options"`
}

// readMeasured reads the file that `tercet eval FLAG` has written of each run. What has
// none, or one of other weights or of a metric, is named in notes, as is what was measured
// unlike the others. Where no run is left, they are an error that wraps ErrRun.
func readMeasured[D any](runs []*rundir.Run, file, schema, command string, head func(*D) *measuredHead) (used []*rundir.Run, results []*D, notes []string, err error) {
	notes = []string{}
	for _, r := range runs {
		d := new(D)
		path := filepath.Join(r.Dir, file)
		found, err := rundir.ReadDocument(path, d, schema, record.MetricSchema)
		h := head(d)
		switch {
		case err != nil:
			return nil, nil, nil, err
		case !found:
			notes = append(notes, fmt.Sprintf("no %s; tercet %s --run %s makes it", path, command, text.ShellWord(r.Dir)))
		case h.Schema != schema:
			notes = append(notes, fmt.Sprintf("%s is of a metric: --table stability shows it", path))
		case !rundir.SourceOf(h.Source).Standard():
			notes = append(notes, fmt.Sprintf("%s is of the %s, not of the test images, checkpoint last: left out", path, rundir.SourceOf(h.Source).Words()))
		case h.Source.Step != r.Manifest.Steps:
			notes = append(notes, fmt.Sprintf("%s is of step %d, the run is at step %d; tercet %s --run %s makes it again", path, h.Source.Step, r.Manifest.Steps, command, text.ShellWord(r.Dir)))
		default:
			used, results = append(used, r), append(results, d)
		}
	}
	if used == nil {
		return nil, nil, nil, nothingMeasured(notes)
	}
	heads := map[string]*measuredHead{}
	for i, r := range used {
		h := head(results[i])
		heads[r.Dir] = h
		notes = append(notes, partlyJudged(r, file, h.Source, h.Options.Limit)...)
	}
	notes = append(notes, unlike(used, heads)...)
	return used, results, notes, nil
}

// nothingMeasured is the error of a study without a run, for the reasons in notes.
func nothingMeasured(notes []string) error {
	return fmt.Errorf("%w: nothing to compare\n%s", rundir.ErrRun, strings.Join(notes, "\n"))
}

// partlyJudged says that a measurement was limited to a part of the images.
func partlyJudged(r *rundir.Run, file string, from record.Source, limit int) []string {
	d := r.Manifest.Data
	all := d.Test.Items
	if from.Set == "validation" && d.Validation != nil {
		all = d.Validation.Items
	}
	if limit == 0 || from.Items >= all && limit >= d.Train.Items {
		return nil
	}
	return []string{fmt.Sprintf("%s is of %d of the %d %s images (--limit %d)", filepath.Join(r.Dir, file), from.Items, all, from.Set, limit)}
}

// unlike finds what runs were measured by, as the heads say of their directories, that
// makes them incomparable.
func unlike(runs []*rundir.Run, heads map[string]*measuredHead) []string {
	out := rundir.Differ(runs, "runs are measured on different numbers of triplets", func(r *rundir.Run) string { return fmt.Sprint(heads[r.Dir].Options.Triplets) })
	out = append(out, rundir.Differ(runs, "runs are evaluated on different sets", func(r *rundir.Run) string { return heads[r.Dir].Source.Set })...)
	return append(out, rundir.Differ(runs, "runs are evaluated at different checkpoints", func(r *rundir.Run) string { return heads[r.Dir].Source.Checkpoint })...)
}

// estimateOf is a mean with Student's interval, where there are two values.
func estimateOf(values []float64) Estimate {
	mean, low, high := stat.MeanInterval(values)
	e := Estimate{Value: &mean, N: len(values), cell: render.Number(mean)}
	if len(values) > 1 {
		e.CI95, e.cell = &[2]float64{low, high}, render.Interval(mean, low, high)
	}
	return e
}

func dropConstant(t *render.Table) {
	t.DropConstant("n", "noise", "peak", "parameters", "rate", "name", "verdict")
}
