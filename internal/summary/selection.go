package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// SelectOptions say what is selected and by what.
type SelectOptions struct {
	Options // Metrics are those shown of the selected
	// Split and Metric are what is selected by: the metric's mean over the runs of a
	// configuration.
	Split, Metric string
}

// Selection is a configuration selected among others, schema tercet.selection/1.
type Selection struct {
	Schema     string `json:"schema"`
	Split      string `json:"split"` // of the images selected by
	Metric     string `json:"metric"`
	Checkpoint string `json:"checkpoint"`
	Higher     bool   `json:"higher_is_better"`
	// Candidates are the configurations with the score that they are selected by, the
	// best first; Missing those of which some run lacks it.
	Candidates []Candidate `json:"candidates"`
	Missing    []string    `json:"missing"`
	// Selected is the first of the candidates with its scores on the images of
	// ScoredSplit.
	Selected    *Group   `json:"selected"`
	ScoredSplit string   `json:"scored_split"`
	Metrics     []string `json:"metrics"`
	Notes       []string `json:"notes"`

	perRun  bool
	columns []string
	unlike  []string // why configurations have no mean of the score
	summary *Summary // of the selected
	runs    []*rundir.Run
}

// Candidate is a configuration that could be selected.
type Candidate struct {
	Name  string   `json:"run"`
	Dirs  []string `json:"runs"`
	Score Estimate `json:"score"`

	group *Group
}

// Select returns the configuration whose runs have the best mean of a score on one split,
// with its scores on another. by and scored are the same runs in the same order, read with
// the results of the two. A configuration of which a run lacks the score is no candidate;
// of equal ones the first by name is taken, and a note says so. An error wraps ErrRun
// where there is no candidate, or where the candidates are not measured
// alike, such as on other images.
func Select(by, scored []*rundir.Run, o SelectOptions) (*Selection, error) {
	sel := &Selection{
		Schema: record.SelectionSchema, Split: o.Split, Metric: o.Metric, Checkpoint: by[0].Of.Checkpoint,
		Candidates: []Candidate{}, Missing: []string{}, ScoredSplit: scored[0].Of.Split, perRun: o.PerRun,
	}
	var err error
	if sel.Higher, err = HigherIsBetter(o.Metric); err != nil {
		return nil, err
	}
	grouped, err := Summarize(by, Options{Metrics: []string{o.Metric}, GroupBy: o.GroupBy, PerRun: o.PerRun})
	if err != nil {
		if slices.ContainsFunc(by, func(r *rundir.Run) bool { return len(r.Scores()) > 0 }) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: nothing to select by: %s", rundir.ErrRun, rundir.Without("eval", by))
	}
	sel.Metric, sel.columns = grouped.Metrics[0], grouped.columns
	sel.rank(grouped)
	if len(sel.Candidates) == 0 {
		return nil, fmt.Errorf("%w: no candidate: %s", rundir.ErrRun, strings.Join(sel.noCandidates(), "; "))
	}
	if err := sel.comparable(); err != nil {
		return nil, err
	}
	return sel, sel.score(by, scored, o)
}

// rank fills the candidates, the best first.
func (sel *Selection) rank(grouped *Summary) {
	for _, g := range grouped.Groups {
		e := g.Scores[sel.Metric]
		if why := g.LeftOut[sel.Metric]; why != "" {
			sel.Missing, sel.unlike = append(sel.Missing, g.Name), append(sel.unlike, g.Name+": "+why)
			continue
		}
		if e.N < g.N || e.Value == nil || math.IsNaN(*e.Value) {
			sel.Missing = append(sel.Missing, g.Name)
			continue
		}
		sel.Candidates = append(sel.Candidates, Candidate{g.Name, g.Dirs, e, g})
	}
	slices.SortStableFunc(sel.Candidates, func(a, b Candidate) int {
		c := render.CompareValues(*a.Score.Value, *b.Score.Value)
		if sel.Higher {
			c = -c
		}
		if c == 0 {
			return text.Natural(a.Name, b.Name)
		}
		return c
	})
}

// score fills in the scores of the selected on the other split, and the notes.
func (sel *Selection) score(by, scored []*rundir.Run, o SelectOptions) error {
	best := sel.Candidates[0]
	var runs []*rundir.Run
	for i, r := range by {
		if slices.Contains(best.group.runs, r) {
			runs = append(runs, scored[i])
		}
	}
	metrics := o.Metrics
	if len(metrics) == 0 {
		metrics = sel.present(runs)
	}
	sum, err := Summarize(runs, Options{Metrics: metrics, GroupBy: o.GroupBy, PerRun: o.PerRun})
	if err != nil {
		return err
	}
	sel.Metrics, sel.Selected = sum.Metrics, sum.Groups[0]
	sel.Selected.Name, sel.Selected.Labels = best.Name, best.group.Labels
	sel.Notes = sel.notes()
	for _, note := range append(sel.limits(), sum.Notes...) {
		sel.Notes = lists.AppendNew(sel.Notes, note)
	}
	sel.summary, sel.runs = sum, runs
	return nil
}

// present are the scores shown of runs by default: what was selected by, and the usual.
func (sel *Selection) present(runs []*rundir.Run) []string {
	var out []string
	for _, key := range append([]string{sel.Metric}, usual...) {
		has := slices.ContainsFunc(runs, func(r *rundir.Run) bool { _, ok := r.Scores().Get(key); return ok })
		if has && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// notes say how the selection was made; the first, whether test images had a part in it.
func (sel *Selection) notes() []string {
	what, direction := "configurations by the mean over their runs of", "higher is better"
	if sel.perRun {
		what = "runs by"
	}
	if !sel.Higher {
		direction = "lower is better"
	}
	how := fmt.Sprintf("selected among %d %s %s on the %s images (%s)", len(sel.Candidates), what, sel.Metric, sel.Split, direction)
	switch sel.Split {
	case "test":
		how += "; the selection used test images, so the test scores of the selected are too good: " + option.Name("by") + " validation:" + sel.Metric + " does not"
	case "train":
		how += "; scores on training images carry little information about other images"
	default:
		how += sel.chosenByTest()
	}
	out := []string{how}
	first := sel.Candidates[0]
	var equal []string
	for _, c := range sel.Candidates[1:] {
		if render.CompareValues(*c.Score.Value, *first.Score.Value) == 0 {
			equal = append(equal, c.Name)
		}
	}
	if equal != nil {
		out = append(out, fmt.Sprintf("%s: the same %s as %s; the first by name is taken", text.Some(equal), sel.Metric, first.Name))
	}
	return append(out, sel.noCandidates()...)
}

// noCandidates says which configurations could not be selected, and why.
func (sel *Selection) noCandidates() []string {
	var out, lacking []string
	for _, name := range sel.Missing {
		if !slices.ContainsFunc(sel.unlike, func(u string) bool { return strings.HasPrefix(u, name+": ") }) {
			lacking = append(lacking, name)
		}
	}
	if lacking != nil {
		out = append(out, fmt.Sprintf("no candidates, since a run of theirs has no %s on %s images: %s", sel.Metric, sel.Split, text.Some(lacking)))
	}
	for _, u := range sel.unlike {
		out = append(out, "no candidate, since its runs are not measured in the same way: "+u)
	}
	return out
}

// Page is the page of the selected, whose notes say how it was selected.
func (sel *Selection) Page(pictures bool) *render.Page {
	sum := *sel.summary
	sum.Notes = sel.Notes
	return RunPage(&sum, sel.runs, pictures)
}

// Runs are the selected ones.
func (sel *Selection) Runs() []*rundir.Run { return sel.runs }

// Table has a row for each candidate, the best first: the score that is selected by. The
// first, the selected, also has its scores on the other split.
func (sel *Selection) Table() *render.Table {
	kind := "configurations"
	if sel.perRun {
		kind = "runs"
	}
	by := sel.Split + ":" + sel.Metric
	t := &render.Table{
		Title:   fmt.Sprintf("best of %d %s by %s", len(sel.Candidates), kind, by),
		Columns: sel.tableColumns(by), Notes: sel.Notes,
	}
	for i, c := range sel.Candidates {
		t.Rows = append(t.Rows, sel.tableRow(t.Columns, by, c, i == 0))
	}
	if len(t.Rows) > 1 {
		t.Notes = append([]string{"the first row is selected; the others show only the score that they were compared by"}, t.Notes...)
	}
	return t
}

// tableColumns are those of Table: config keys, the score selected by, the others.
func (sel *Selection) tableColumns(by string) []render.Column {
	out := render.Columns(slices.Concat([]string{"run"}, sel.columns, []string{"n", "status", "selected by"})...)
	out = append(out, render.Column{Name: by, Better: direction(sel.Metric)})
	for _, m := range sel.Metrics {
		if name := sel.ScoredSplit + ":" + m; name != by {
			out = append(out, render.Column{Name: name})
		}
	}
	if sel.Checkpoint != names.Last {
		out = append(out, render.Column{Name: checkpointColumn})
	}
	if slices.ContainsFunc(sel.Candidates, func(c Candidate) bool { return c.group.selection() != "" }) {
		out = append(out, render.Column{Name: rundir.SelectionColumn})
	}
	return out
}

// tableRow are the cells of a candidate in these columns.
func (sel *Selection) tableRow(columns []render.Column, by string, c Candidate, selected bool) []render.Cell {
	row := make([]render.Cell, len(columns))
	for i, column := range columns {
		score, scored := strings.CutPrefix(column.Name, sel.ScoredSplit+":")
		switch name := column.Name; {
		case name == "run":
			row[i] = render.Text(c.Name)
		case name == "n":
			row[i] = render.Int(c.group.N)
		case name == "status":
			row[i] = render.Text(c.group.status())
		case name == by:
			row[i] = c.Score.cell
		case name == checkpointColumn:
			row[i] = render.Text(sel.Checkpoint)
		case name == rundir.SelectionColumn:
			if what := c.group.selection(); what != "" {
				row[i] = render.Text(what)
			}
		case slices.Contains(sel.columns, name):
			row[i] = c.group.key(name)
		case selected && name == "selected by":
			row[i] = render.Text(sel.selectedBy(by))
		case selected && scored:
			row[i] = sel.Selected.Scores[score].cell
		}
	}
	return row
}

func (sel *Selection) selectedBy(by string) string {
	if sel.Split == "test" {
		return by + " (test images: too good)"
	}
	return by
}

// ParseBy reads SPLIT:SCORE.
func ParseBy(text string) (split, score string, err error) {
	split, score, ok := strings.Cut(text, ":")
	if !ok || score == "" || !slices.Contains([]string{"validation", "train", "test"}, split) {
		return "", "", fmt.Errorf("%q is not SPLIT:SCORE, such as validation:recall@1; splits are validation, train and test", text)
	}
	return split, score, nil
}
