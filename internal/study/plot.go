package study

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/study/observe"
	"tercet/internal/text"
)

// Plot says how rows are drawn: scores against a field, with a color for each series.
type Plot struct {
	Title   string         `yaml:"title"`
	Picture []string       `yaml:"picture"` // fields with a picture for each value; the first names files, others where they vary
	Panel   []string       `yaml:"panel"`   // fields with a panel for each value, as far as they vary
	Series  []string       `yaml:"series"`  // fields with a color for each value
	X       string         `yaml:"x"`       // a field, or step or epoch for points during training
	XLabel  string         `yaml:"x_label"`
	LogX    bool           `yaml:"log_x"`
	Y       []Line         `yaml:"y"`
	YLabel  string         `yaml:"y_label"` // of all lines in one panel; else each score has panels of its own
	Begins  observe.Where  `yaml:"begins"`  // rows that begin each line, such as those without noise
	Titles  []observe.Case `yaml:"titles"`  // other words for values of Panel
	// Differences draws the scores of Y less those that Against says, as dots with intervals:
	// a line for each value of X, a panel for each score, the largest first one on top.
	Differences bool `yaml:"differences"`
	// Rates draws the table's slopes on logarithmic axes, with the scores of Y as lines;
	// OneScale gives the panels of a row one scale.
	Rates    bool   `yaml:"rates"`
	OneScale bool   `yaml:"one_scale"`
	Note     string `yaml:"note"`
}

// Line is a score in a picture.
type Line struct {
	Score   string `yaml:"score"`
	Label   string `yaml:"label"`
	Form    string `yaml:"form"`
	Percent bool   `yaml:"percent"`
	Log     bool   `yaml:"log"`
	Exact   bool   `yaml:"exact"` // has no interval to draw
	Of      string `yaml:"of"`    // the score of a slope that it is drawn with
}

// check refuses what cannot be drawn.
func (p *Plot) check(t *Table) error {
	if p.X == "" || len(p.Y) == 0 && !p.Rates || len(p.Picture) == 0 {
		return fmt.Errorf("plot: give picture, x and y")
	}
	names := slices.Concat(p.Picture, p.Panel, p.Series)
	if !p.points() {
		names = append(names, p.X)
	}
	for _, name := range names {
		if t.Field(name) == nil {
			return fmt.Errorf("plot: unknown field %q", name)
		}
	}
	if p.Differences && (t.Against == nil || p.points()) {
		return fmt.Errorf("plot: differences need against, and x a field")
	}
	for _, l := range p.Y {
		if t.Score(l.Score) == nil && !slices.Contains(t.reduced(), l.Score) && t.Observe.Events[l.Score] == "" {
			return fmt.Errorf("plot: unknown score %q", l.Score)
		}
		if l.Form != "" && !slices.Contains(render.Forms(), l.Form) {
			return fmt.Errorf("plot: unknown form %q; valid: %s", l.Form, strings.Join(render.Forms(), ", "))
		}
	}
	return nil
}

// points says that lines are of evaluations during training.
func (p *Plot) points() bool { return p.X == "step" || p.X == "epoch" }

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9.]+`)

// pictureFile is the path of a picture without its ending.
func pictureFile(base, title string) string {
	return base + "-" + strings.Trim(notInNames.ReplaceAllString(title, "-"), "-")
}

// draw writes the pictures.
func (p *Plot) draw(d *Document, base string) ([]string, error) {
	if p.Rates {
		return p.drawRates(d, base)
	}
	if p.Differences {
		return p.drawDifferences(d, base)
	}
	rows := d.Rows
	if len(rows) > 0 && rows[0].curve != nil && !p.points() {
		rows = nil
		for _, r := range d.Rows {
			rows = append(rows, r.curve...)
		}
	}
	colors := p.colors(rows)
	groups, order := observe.GroupBy(rows, func(row *Row) string { return p.words(row, p.Picture, rows, ", ") })
	var out []string
	for _, title := range order {
		c := &render.LineChart{Title: p.Title + ": " + title, Note: note(groups[title])}
		c.Panels = p.panels(groups[title], colors)
		if c.Cols = min(len(c.Panels), 3); len(c.Panels) == 4 {
			c.Cols = 2
		}
		if p.YLabel == "" {
			c.Cols = p.across(groups[title])
		}
		file := pictureFile(base, title)
		if err := c.Write(file); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// note says what the lines are.
func note(rows []*Row) string {
	low, high := rows[0].N, rows[0].N
	for _, r := range rows {
		low, high = min(low, r.N), max(high, r.N)
	}
	if high == 1 {
		return "one seed: no intervals"
	}
	seeds := text.Plural(high, "seed", "seeds")
	if low < high {
		seeds = fmt.Sprintf("%d to %s", low, seeds)
	}
	return "over " + seeds + "; lines and bars: mean with its 95 % interval of Student's t, or median with quartiles where the table has those"
}
