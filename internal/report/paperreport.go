package report

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/attack"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/text"
)

// PaperReport sets runs beside the numbers of a paper's table, schema
// tercet.papertable/1. Numbers are fractions; TMA and ES:D are as they are.
type PaperReport struct {
	Schema    string       `json:"schema"`
	Table     string       `json:"table"`
	Title     string       `json:"title"`
	Source    string       `json:"source"`
	Setup     string       `json:"setup"`
	Variants  []string     `json:"variants"`
	Columns   []string     `json:"columns"`
	Rows      []PaperEntry `json:"rows"`
	Unmatched []string     `json:"unmatched"` // runs of no row
	Notes     []string     `json:"notes"`
}

// PaperEntry is a row: what the paper has, and what the runs give.
type PaperEntry struct {
	Label string      `json:"label"`
	Data  string      `json:"data,omitempty"`
	Eta   int         `json:"eta,omitempty"`
	Cell  []string    `json:"cell,omitempty"` // row and column of a grid
	Paper *PaperScore `json:"paper"`          // nil where the paper has no such row
	Ours  []PaperOurs `json:"ours"`
}

// PaperScore are the paper's numbers, or collapse.
type PaperScore struct {
	Collapsed  bool               `json:"collapsed"`
	Scores     map[string]float64 `json:"scores,omitempty"`
	Recomputed *float64           `json:"ers_recomputed,omitempty"` // from the ten scores
}

// PaperOurs are runs of one row that differ in nothing but the seed, in one
// variant of the attacks.
type PaperOurs struct {
	Name       string                `json:"run"`
	Variant    string                `json:"variant"`
	Data       string                `json:"data"`
	Eta        int                   `json:"eta,omitempty"`
	N          int                   `json:"n"` // runs whose training is over
	Dirs       []string              `json:"runs"`
	Seeds      []uint64              `json:"seeds"`
	Status     map[record.Status]int `json:"status"`
	Scores     map[string]Estimate   `json:"scores"` // of the finished runs
	Recomputed *float64              `json:"ers_recomputed,omitempty"`

	word  string // in place of numbers where no run is finished: *collapse*
	alone bool   // the row has no other kind of runs

	leftOut []string // notes on columns without a mean
	runs    []*rundir.Run
	caution string // what is to be said of them
}

// Variants reads what --variant chooses.
func Variants(choice string) ([]string, error) {
	switch choice {
	case "published", "fixed":
		return []string{choice}, nil
	case "both":
		return []string{"published", "fixed"}, nil
	}
	return nil, fmt.Errorf("there is no variant %q; choose published, fixed or both", choice)
}

// ComparePaper fills a table that Check has passed with runs. name is what the
// table is called; variants are those of the attacks, published, fixed or both.
func ComparePaper(t *PaperTable, name string, runs []*rundir.Run, variants []string) (*PaperReport, error) {
	of, left, err := t.assign(runs)
	if err != nil {
		return nil, err
	}
	out := &PaperReport{
		Schema: record.PaperTableSchema, Table: name, Title: t.Title, Source: t.Source, Setup: t.Setup,
		Variants: variants, Columns: t.Columns, Rows: []PaperEntry{}, Unmatched: []string{}, Notes: []string{},
	}
	for _, r := range left {
		out.Unmatched = append(out.Unmatched, r.Dir)
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		e := PaperEntry{Label: row.Label, Data: row.Data, Eta: row.Eta, Cell: row.Cell, Ours: []PaperOurs{}}
		if row.collapsed || row.numbers != nil {
			e.Paper = &PaperScore{Collapsed: row.collapsed, Scores: row.numbers}
			e.Paper.Recomputed = recomputed(func(key string) (float64, bool) { v, ok := row.numbers[key]; return v, ok })
		}
		kinds := &Summary{}
		if len(of[i]) > 0 {
			kinds.group(of[i], false)
			partByAttack(kinds)
		}
		for _, g := range kinds.Groups {
			out.Notes = append(out.Notes, kinds.pooled(g)...)
			for _, v := range variants {
				o := ours(g, v, t.Columns)
				o.alone = len(kinds.Groups) == 1
				e.Ours = append(e.Ours, o)
				out.Notes = append(out.Notes, o.leftOut...)
			}
		}
		out.Rows = append(out.Rows, e)
	}
	out.caution()
	out.Notes = append(out.Notes, out.remarks(t, of, runs)...)
	return out, nil
}

// ours gives mean and interval over the runs of a kind.
func ours(g *Group, variant string, columns []string) PaperOurs {
	o := PaperOurs{
		Name: g.Name, Variant: variant, Data: g.runs[0].Manifest.Data.Name, Eta: etaOf(g.runs[0]),
		Dirs: g.Dirs, Seeds: g.Seeds, Status: g.Status, Scores: map[string]Estimate{},
	}
	o.runs = g.runs
	var kept []*rundir.Run
	for _, r := range g.runs {
		if r.Finished() {
			kept = append(kept, r)
		}
	}
	o.N = len(kept) + g.Status["collapsed"] + g.Status["diverged"]
	switch {
	case len(kept) > 0:
	case g.Status["collapsed"] > 0:
		o.word = "*collapse*"
	case g.Status["diverged"] > 0:
		o.word = "*diverged*"
	default:
		o.word = "*unfinished*"
	}
	for _, name := range columns {
		c, _ := paperColumnOf(name)
		var values []float64
		e := Estimate{}
		if why := unlikePaper(kept, c, variant); why != "" {
			o.leftOut = append(o.leftOut, rundir.LeftOut(o.Name, []string{name}, map[string]string{name: why})...)
			continue
		}
		for _, r := range kept {
			v, ok := paperScoreOf(r, c, variant)
			if !ok {
				continue
			}
			values = append(values, v.Value)
			e.Definition = v.Definition
			if len(kept) == 1 {
				e.CI95 = v.CI95 // over queries; several runs have that over seeds
			}
		}
		if len(values) == 0 {
			continue
		}
		mean, low, high := stat.MeanInterval(values)
		e.N, e.Value, e.cell = len(values), &mean, render.Number(mean)
		switch {
		case len(values) > 1:
			e.CI95, e.cell = &[2]float64{low, high}, render.Interval(mean, low, high)
		case e.CI95 != nil:
			e.cell = render.Interval(mean, e.CI95[0], e.CI95[1]).Brief()
		}
		o.Scores[name] = e
	}
	o.Recomputed = recomputed(func(key string) (float64, bool) {
		e, ok := o.Scores[key]
		if !ok {
			return 0, false
		}
		return *e.Value, true
	})
	return o
}

// paperScoreOf returns a run's score for a column.
func paperScoreOf(r *rundir.Run, c paperColumn, variant string) (metric.Value, bool) {
	switch {
	case !c.attacked && r.Eval != nil:
		return rundir.AllScores(r.Eval.Evaluated).Get(c.key)
	case c.attacked && r.Attack != nil:
		return metric.Scores(r.Attack.Scores[variant]).Get(c.key)
	}
	return metric.Value{}, false
}

// paperSetting is what that score depends on; nil where the run lacks it.
func paperSetting(r *rundir.Run, c paperColumn, variant string) []rundir.Label {
	v, ok := paperScoreOf(r, c, variant)
	switch {
	case !ok:
		return nil
	case c.attacked:
		return append(rundir.AttackSetting(r.Attack), rundir.Label{Key: "definition", Value: v.Definition})
	}
	return append(rundir.EvalSetting(r.Eval, c.key), rundir.Label{Key: "definition", Value: v.Definition})
}

// unlikePaper says in what that score of runs is not measured in the same way.
func unlikePaper(runs []*rundir.Run, c paperColumn, variant string) string {
	settings, dirs := make([][]rundir.Label, len(runs)), make([]string, len(runs))
	for i, r := range runs {
		settings[i], dirs[i] = paperSetting(r, c, variant), r.Dir
	}
	_, why := rundir.UnlikeParts(settings, dirs)
	return why
}

// etaOf is the number of PGD steps that a run's training crafts with, 0 without
// crafting: HM whose destination is its source trains on clean images.
func etaOf(r *rundir.Run) int {
	steps, ok := r.Label("defense.pgd.steps")
	source, _ := sourceMiner(r)
	destination, _ := r.Label("defense.destination.name")
	n := 0
	if _, err := fmt.Sscan(steps, &n); !ok || err != nil || source != "" && source == destination {
		return 0
	}
	return n
}

// recomputed is ERS of the ten scores, nil where one of them is not there.
func recomputed(value func(key string) (float64, bool)) *float64 {
	for _, c := range paperColumns {
		if _, ok := value(c.name); c.attacked && c.name != attack.ERS && !ok {
			return nil
		}
	}
	ers := attack.RobustnessScore(func(key string) float64 { v, _ := value(key); return v })
	return &ers
}

// ersTolerance is how far a printed ERS may be from that of the printed scores: as
// a fraction, 0.1 of the percent that papers print.
const ersTolerance = 0.001

// disagrees reports whether the paper's ERS does not follow from its ten scores.
func (p *PaperScore) disagrees() bool {
	printed, ok := p.Scores[attack.ERS]
	return ok && p.Recomputed != nil && math.Abs(printed-*p.Recomputed) > ersTolerance
}

func (r *PaperReport) remarks(t *PaperTable, of [][]*rundir.Run, runs []*rundir.Run) []string {
	var out []string
	for i, e := range r.Rows {
		if e.Paper != nil && e.Paper.disagrees() {
			out = append(out, fmt.Sprintf("%s: the paper prints ERS %.1f, its ten scores give %.1f",
				t.rowName(i), 100*e.Paper.Scores[attack.ERS], 100**e.Paper.Recomputed))
		}
		for _, o := range e.Ours {
			if open := len(o.Dirs) - o.N; open > 0 && o.Variant == r.Variants[0] {
				out = append(out, fmt.Sprintf("%s: unfinished and not counted: %d of %s", o.Name, open, text.Plural(len(o.Dirs), "run", "runs")))
			}
			if lost := o.Status["collapsed"] + o.Status["diverged"]; lost > 0 && lost < o.N && o.Variant == r.Variants[0] {
				out = append(out, fmt.Sprintf("%s: %d of the %d runs collapsed or diverged; the numbers are of the others", o.Name, lost, o.N))
			}
		}
	}
	if len(r.Unmatched) > 0 {
		out = append(out, "of no row of this table: "+render.Listed(r.Unmatched))
	}
	used := slices.DeleteFunc(slices.Clone(runs), func(x *rundir.Run) bool { return slices.Contains(r.Unmatched, x.Dir) })
	return append(out, r.used(used)...)
}

// used says what makes the numbers of the runs in the table less than they seem.
func (r *PaperReport) used(runs []*rundir.Run) []string {
	var out []string
	runs = slices.DeleteFunc(runs, func(x *rundir.Run) bool {
		if !x.Finished() {
			out = append(out, x.Unfinished()...)
		}
		return !x.Finished()
	})
	var noEval, noAttack, noERS []string
	for _, x := range runs {
		switch {
		case x.Eval == nil && x.Leaves("eval"), x.Attack == nil && x.Leaves("attack"):
		case x.Eval == nil:
			noEval = append(noEval, x.Dir)
		case x.Attack == nil:
			noAttack = append(noAttack, x.Dir)
		default:
			for _, v := range r.Variants {
				if _, ok := metric.Scores(x.Attack.Scores[v]).Get(attack.ERS); !ok && !slices.Contains(noERS, x.Dir) {
					noERS = append(noERS, x.Dir)
				}
			}
		}
	}
	if noEval != nil {
		out = append(out, fmt.Sprintf("no eval.json in %s; tercet eval --run %s makes it", render.Listed(noEval), text.ShellWord(noEval[0])))
	}
	if noAttack != nil {
		out = append(out, fmt.Sprintf("no attack.json in %s; tercet attack --run %s --suite ers --variant both makes it", render.Listed(noAttack), text.ShellWord(noAttack[0])))
	}
	if noERS != nil {
		out = append(out, fmt.Sprintf("not all ten scores in %s; tercet attack --run %s --suite ers --variant both makes them", render.Listed(noERS), text.ShellWord(noERS[0])))
	}
	for _, x := range runs {
		out = append(out, apart(x)...)
	}
	return append(out, rundir.TableWarnings(rundir.OnlyOf(runs, r.kinds()...), r.keys())...)
}

// keys are the scores of the columns.
func (r *PaperReport) keys() []string {
	var out []string
	for _, name := range r.Columns {
		c, _ := paperColumnOf(name)
		out = append(out, c.key)
	}
	return out
}

// kinds are the documents that the columns come from.
func (r *PaperReport) kinds() []string {
	var out []string
	for i, attacked := range []bool{false, true} {
		if slices.ContainsFunc(r.Columns, func(name string) bool { c, _ := paperColumnOf(name); return c.attacked == attacked }) {
			out = append(out, rundir.Kinds()[i])
		}
	}
	return out
}

// caution says of each row what is to be said of its runs.
func (r *PaperReport) caution() {
	var rows [][]*rundir.Run
	for _, e := range r.Rows {
		for _, o := range e.Ours {
			rows = append(rows, rundir.OnlyOf(o.runs, r.kinds()...))
		}
	}
	said := rundir.RowWarnings(rows, r.keys())
	for _, e := range r.Rows {
		for i := range e.Ours {
			e.Ours[i].caution, said = said[0], said[1:]
		}
	}
}

// apart says that the two results which a row of a table joins are not of the same
// weights and images.
func apart(r *rundir.Run) []string {
	if r.Eval == nil || r.Attack == nil {
		return nil
	}
	e, a := r.Eval.Source, r.Attack.Source
	if e.Step == a.Step && e.Set == a.Set && e.Fingerprint == a.Fingerprint {
		return nil
	}
	of := func(s record.Source) string {
		return fmt.Sprintf("checkpoint %s (step %d) on %d images of set %s", s.Checkpoint, s.Step, s.Items, s.Set)
	}
	return []string{fmt.Sprintf("%s: eval.json is of %s, attack.json of %s", r.Dir, of(e), of(a))}
}
