// Package published has the tables that papers print, as configs/tables/*.yaml describe them,
// and sets runs below their rows.
package published

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/study"
	"tercet/internal/study/observe"
)

// Table describes a table of a paper: its rows with the printed numbers, and which runs
// belong to a row. It is a Table of its own kind: rows are in the paper's order, each with
// the runs that fit it below.
type Table struct {
	Name    string   `yaml:"-"`
	Title   string   `yaml:"title"`
	Aliases []string `yaml:"aliases"` // other names, such as tab7
	By      string   `yaml:"by"`      // whose numbers they are, "paper" where it is empty
	Heading string   `yaml:"heading"` // of the column of labels, "defense" where it is empty
	Source  string   `yaml:"source"`  // where the numbers stand
	Setup   string   `yaml:"setup"`   // data, network and attack of the paper
	Columns []string `yaml:"columns"` // in the paper's order
	Rows    []Row    `yaml:"rows"`

	scores []publishedScore // of Columns
}

// Row is one row of a paper.
type Row struct {
	Label string `yaml:"label"`
	Data  string `yaml:"data"` // the paper's data set
	Eta   int    `yaml:"eta"`  // PGD steps; 0 where nothing is crafted
	// Cell are the row and the column of this row where the table is laid out as a
	// grid; all rows have it, or none.
	Cell []string `yaml:"cell"`
	// Match are conditions on config keys, without "config." before them.
	Match observe.Where `yaml:"match"`
	// Paper is a list of numbers as the paper prints them, one for each column,
	// null where it has none; or the word collapse; or nothing.
	Paper any `yaml:"paper"`

	collapsed bool
	numbers   map[string]study.Estimate // by column; fractions where columns are percent
}

// publishedScore is a column that papers have and the score that it shows.
type publishedScore struct {
	name, key string
	attacked  bool // of attack.json, otherwise of eval.json
	percent   bool
	low, high float64 // of what a paper can print
}

// in is the score's key in a variant of the attacks.
func (s publishedScore) in(variant string) string {
	if s.attacked && variant != "fixed" {
		return s.key + "(" + variant + ")"
	}
	return s.key
}

// ersOfTen heads ERS computed from the ten scores of its row: it checks the arithmetic of
// the paper, and ours.
const ersOfTen = "ERS of the ten"

// publishedScores are all that papers have, in the order of Zhou and Patel: of evaluations,
// then those of the suite ers.
var publishedScores = func() []publishedScore {
	list := []publishedScore{
		{"R@1", "recall@1", false, true, 0, 100}, {"R@2", "recall@2", false, true, 0, 100},
		{"R@4", "recall@4", false, true, 0, 100}, {"R@8", "recall@8", false, true, 0, 100}, {"R@10", "recall@10", false, true, 0, 100},
		{"mAP", "map", false, true, 0, 100}, {"NMI", "nmi", false, true, 0, 100},
	}
	attacks, _ := attack.Suite("ers")
	for _, key := range attack.Keys(attacks) {
		s, _ := attack.ScoreNamed(key)
		c := publishedScore{name: key, key: key, attacked: true, percent: s.Unit == attack.Fraction}
		if c.low, c.high = s.Unit.Range(); c.percent {
			c.low, c.high = 100*c.low, 100*c.high
		}
		if key == attack.ERS { // not clipped: see attack.RobustnessScore
			c.low, c.high = -100, 200
		}
		list = append(list, c)
	}
	return list
}()

// Read decodes a paper's table and checks it: its config keys, too, since a key
// that no config has would match no run, without a word. file is named in errors.
func Read(text []byte, file, name string) (*Table, error) {
	p := &Table{Name: name}
	if err := config.ReadDocument(text, file, p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, &config.Error{File: file, Msg: err.Error()}
	}
	known := map[string]bool{}
	for _, k := range config.Keys() {
		known[k.Key] = true
	}
	for i, r := range p.Rows {
		for _, key := range r.Match.Sources() {
			if !known[key] {
				return nil, &config.Error{File: file, Key: fmt.Sprintf("rows[%d].match.%s", i+1, key), Msg: "unknown config key; `tercet config keys` lists them"}
			}
		}
	}
	return p, nil
}

// attacks says that the table has columns of attacks, or rows with crafting.
func (p *Table) attacks() bool {
	return slices.ContainsFunc(p.scores, func(s publishedScore) bool { return s.attacked }) ||
		slices.ContainsFunc(p.Rows, func(r Row) bool { return r.Eta > 0 })
}

// by says whose the printed numbers are.
func (p *Table) by() string {
	if p.By == "" {
		return "paper"
	}
	return p.By
}

// check refuses a description that cannot be used and prepares its rows.
func (p *Table) check() error {
	if len(p.Columns) == 0 || len(p.Rows) == 0 {
		return fmt.Errorf("a table needs columns and rows")
	}
	p.scores = nil
	for i, name := range p.Columns {
		k := slices.IndexFunc(publishedScores, func(s publishedScore) bool { return s.name == name })
		if k < 0 {
			all := lists.Map(publishedScores, func(s publishedScore) string { return s.name })
			return fmt.Errorf("unknown column %q; valid: %s", name, strings.Join(all, ", "))
		}
		if slices.Contains(p.Columns[:i], name) {
			return fmt.Errorf("column %s is listed twice", name)
		}
		p.scores = append(p.scores, publishedScores[k])
	}
	for i := range p.Rows {
		if err := p.Rows[i].check(p); err != nil {
			return fmt.Errorf("row %d%s: %w", i+1, strings.TrimSuffix(" ("+p.Rows[i].Label+")", " ()"), err)
		}
	}
	return nil
}

func (r *Row) check(p *Table) error {
	switch {
	case r.Label == "":
		return fmt.Errorf("label is missing")
	case r.Eta < 0:
		return fmt.Errorf("eta is %d", r.Eta)
	case len(r.Cell) != len(p.Rows[0].Cell) || len(r.Cell) != 0 && len(r.Cell) != 2:
		return fmt.Errorf("cell names a row and a column, in all rows or in none")
	case len(r.Match) == 0:
		return fmt.Errorf("match names no config keys, so that every run would belong here")
	}
	if err := r.Match.Check(); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	list, isList := r.Paper.([]any)
	switch {
	case r.Paper == nil:
		return nil
	case r.Paper == "collapse":
		r.collapsed = true
		return nil
	case !isList:
		return fmt.Errorf("paper is %v; write a list of numbers, or collapse", r.Paper)
	case len(list) != len(p.scores):
		return fmt.Errorf("paper has %d numbers for %d columns", len(list), len(p.scores))
	}
	return r.print(list, p.scores)
}

// print takes the numbers that a paper prints.
func (r *Row) print(list []any, scores []publishedScore) error {
	r.numbers = map[string]study.Estimate{}
	for i, x := range list {
		s := scores[i]
		v, ok := x.(float64)
		switch n := x.(type) {
		case nil:
			continue
		case int:
			v, ok = float64(n), true
		}
		switch {
		case !ok:
			return fmt.Errorf("paper: %s is %v, not a number", s.name, x)
		case !(v >= s.low && v <= s.high):
			return fmt.Errorf("paper: %s is %v; it lies between %v and %v", s.name, v, s.low, s.high)
		case s.percent:
			v = math.Round(v*1e6) / 1e8 // 53.9 becomes the number nearest to 0.539
		}
		r.numbers[s.name] = study.Estimate{Value: v, Max: v}
	}
	addERS(r.numbers)
	return nil
}

// addERS adds ERS of the ten scores, where all are there.
func addERS(scores map[string]study.Estimate) {
	for _, s := range publishedScores {
		if _, ok := scores[s.name]; s.attacked && s.name != attack.ERS && !ok {
			return
		}
	}
	v := attack.RobustnessScore(func(key string) float64 { return scores[key].Value })
	scores[ersOfTen] = study.Estimate{Value: v, Max: v}
}

// ersTolerance is how far a printed ERS may be from that of the printed scores: as
// a fraction, 0.1 of the percent that papers print.
const ersTolerance = 0.001

// disagrees says that the paper's ERS does not follow from its ten scores.
func (r *Row) disagrees() bool {
	printed, ok := r.numbers[attack.ERS]
	ten, all := r.numbers[ersOfTen]
	return ok && all && math.Abs(printed.Value-ten.Value) > ersTolerance
}

// rowName is the label, with the row's number where several rows share it.
func (p *Table) rowName(i int) string {
	name := fmt.Sprintf("%q", p.Rows[i].Label)
	if eta := p.Rows[i].Eta; eta > 0 {
		name += fmt.Sprintf(" eta %d", eta)
	}
	return fmt.Sprintf("%s (row %d)", name, i+1)
}
