package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
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
// where there is no candidate.
func Select(by, scored []*RunDir, o SelectOptions) (*Selection, error) {
	sel := &Selection{
		Schema: "tercet.selection/1", Split: o.Split, Metric: o.Metric, Checkpoint: by[0].Of.Checkpoint,
		Candidates: []Candidate{}, Missing: []string{}, ScoredSplit: scored[0].Of.Split, perRun: o.PerRun,
	}
	var err error
	if sel.Higher, err = HigherIsBetter(o.Metric); err != nil {
		return nil, err
	}
	grouped, err := Summarize(by, Options{Metrics: []string{o.Metric}, GroupBy: o.GroupBy, PerRun: o.PerRun})
	if err != nil {
		if slices.ContainsFunc(by, func(r *RunDir) bool { return len(r.scores()) > 0 }) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: nothing to select by: %s", ErrRun, kinds[0].missing(by))
	}
	sel.Metric, sel.columns = grouped.Metrics[0], grouped.columns
	sel.rank(grouped)
	if len(sel.Candidates) == 0 {
		return nil, fmt.Errorf("%w: no candidate: of each configuration some run has no %s on its %s images: %s", ErrRun, sel.Metric, o.Split, listed(sel.Missing))
	}
	return sel, sel.score(by, scored, o)
}

// rank fills the candidates, the best first.
func (sel *Selection) rank(grouped *Summary) {
	for _, g := range grouped.Groups {
		e := g.Scores[sel.Metric]
		if e.N < g.N || e.Value == nil || math.IsNaN(*e.Value) {
			sel.Missing = append(sel.Missing, g.Name)
			continue
		}
		sel.Candidates = append(sel.Candidates, Candidate{g.Name, g.Dirs, e, g})
	}
	slices.SortStableFunc(sel.Candidates, func(a, b Candidate) int {
		c := compareValues(*a.Score.Value, *b.Score.Value)
		if sel.Higher {
			c = -c
		}
		if c == 0 {
			return natural(a.Name, b.Name)
		}
		return c
	})
}

// score fills in the scores of the selected on the other split, and the notes.
func (sel *Selection) score(by, scored []*RunDir, o SelectOptions) error {
	best := sel.Candidates[0]
	var runs []*RunDir
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
	sel.Notes = append(sel.notes(), sum.Notes...)
	return nil
}

// present are the scores shown of runs by default: what was selected by, and the usual.
func (sel *Selection) present(runs []*RunDir) []string {
	var out []string
	for _, key := range append([]string{sel.Metric}, usual...) {
		has := slices.ContainsFunc(runs, func(r *RunDir) bool { _, ok := r.scores().Get(key); return ok })
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
		how += "; the selection used test images, so the test scores of the selected are too good: --by validation:" + sel.Metric + " does not"
	case "train":
		how += "; scores on training images carry little information about other images"
	default:
		how += "; test images had no part in this selection"
	}
	out := []string{how}
	first := sel.Candidates[0]
	var equal []string
	for _, c := range sel.Candidates[1:] {
		if compareValues(*c.Score.Value, *first.Score.Value) == 0 {
			equal = append(equal, c.Name)
		}
	}
	if equal != nil {
		out = append(out, fmt.Sprintf("%s: the same %s as %s; the first by name is taken", listed(equal), sel.Metric, first.Name))
	}
	if len(sel.Missing) > 0 {
		out = append(out, fmt.Sprintf("no candidates, since a run of theirs has no %s on %s images: %s", sel.Metric, sel.Split, listed(sel.Missing)))
	}
	return out
}

// Table has the one row of the selected: the score that it was selected by, and its
// scores on the other split.
func (sel *Selection) Table() *Table {
	g := sel.Selected
	kind := "configurations"
	if sel.perRun {
		kind = "runs"
	}
	t := &Table{
		Title:   fmt.Sprintf("best of %d %s by %s:%s", len(sel.Candidates), kind, sel.Split, sel.Metric),
		Columns: []Column{{Name: "run"}}, Notes: sel.Notes,
	}
	row := []Cell{Text(g.Name)}
	for _, k := range sel.columns {
		t.Columns, row = append(t.Columns, Column{Name: k}), append(row, g.key(k))
	}
	by := sel.Split + ":" + sel.Metric
	t.Columns = append(t.Columns, Column{Name: "n"}, Column{Name: "status"}, Column{Name: "selected by"}, Column{Name: by})
	row = append(row, Int(g.N), Text(g.status()), Text(sel.selectedBy(by)), sel.Candidates[0].Score.cell)
	for _, m := range sel.Metrics {
		if name := sel.ScoredSplit + ":" + m; name != by {
			t.Columns, row = append(t.Columns, Column{Name: name}), append(row, g.Scores[m].cell)
		}
	}
	if sel.Checkpoint != "last" {
		t.Columns, row = append(t.Columns, Column{Name: checkpointColumn}), append(row, Text(sel.Checkpoint))
	}
	if what := g.selection(); what != "" {
		t.Columns, row = append(t.Columns, Column{Name: selectionColumn}), append(row, Text(what))
	}
	t.Rows = [][]Cell{row}
	return t
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
