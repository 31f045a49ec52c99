package study

import (
	"slices"

	"tercet/internal/config"
)

// Spec describes a study: the runs that it needs and the tables that compare them.
type Spec struct {
	Name   string  `yaml:"-"` // of its file
	Title  string  `yaml:"title"`
	About  string  `yaml:"about"`
	Steps  []Step  `yaml:"run"`
	Tables []Table `yaml:"tables"`
}

// Table is one comparison of runs.
type Table struct {
	Name    string   `yaml:"name"`
	Aliases []string `yaml:"aliases"`
	Title   string   `yaml:"title"`
	// From names a table of the same spec whose keys this one takes where it has none.
	From      string     `yaml:"from"`
	Observe   Observe    `yaml:"observe"`
	Fields    []Field    `yaml:"fields"`
	Scores    []Score    `yaml:"scores"`
	Rows      []string   `yaml:"rows"`  // fields that make a row, which also sort rows
	Sort      []string   `yaml:"sort"`  // fields to sort rows by, if others
	Alike     []string   `yaml:"alike"` // fields within which results should be measured alike
	Config    bool       `yaml:"whole_config"`
	Repeats   bool       `yaml:"repeats"` // a row may have several results of one seed
	Best      *Best      `yaml:"best"`
	Reduce    *Reduce    `yaml:"reduce"`
	Rates     *Rates     `yaml:"rates"`
	Against   *Against   `yaml:"against"`
	Over      *Over      `yaml:"over"`
	Contrasts []Contrast `yaml:"contrasts"`
	Claims    []Claim    `yaml:"claims"`
	Show      string     `yaml:"show"` // rows, contrasts or claims
	Columns   []string   `yaml:"columns"`
	Short     bool       `yaml:"short"` // leaves out columns in which all rows are the same, for people
	Notes     []string   `yaml:"notes"`
	Plot      *Plot      `yaml:"plot"`

	columns []column
}

// Field is a text of an observation.
type Field struct {
	Name  string   `yaml:"name"`
	From  string   `yaml:"from"`  // a source
	Cases []Case   `yaml:"cases"` // or the first that fits
	Order []string `yaml:"order"` // of values; others follow by the alphabet
	// Number sorts by value and writes 0.10 as 0.1; Descending sorts from the last value.
	Number     bool `yaml:"number"`
	Descending bool `yaml:"descending"`
	// Differing lists config keys, with their values, in which runs with the same value of
	// the field Within differ: all but those named as keys or sections.
	Differing *Differing `yaml:"differing"`
	// Options adds the options in which observations of the same value differ.
	Options *Options `yaml:"options"`
}

// Case is a value for observations that have what Where says.
type Case struct {
	Where Where  `yaml:"where"`
	As    string `yaml:"as"` // with {source}, {source|upper}, {source|percent}
}

// Differing are config keys in which runs differ.
type Differing struct {
	But    []string `yaml:"but"`
	Within string   `yaml:"within"`
	Note   string   `yaml:"note"` // instead of a column, a note that begins so
}

// Options are config keys of sections that a field of one value may differ in.
type Options struct {
	Sections []string `yaml:"sections"`
	But      []string `yaml:"but"`
	ButWhere Where    `yaml:"but_where"`
	Within   string   `yaml:"within"`
}

// Score is a number of an observation.
type Score struct {
	Name   string      `yaml:"name"`
	From   string      `yaml:"from"`   // sources or scores before it, joined by " + " and " - "
	Series *Series     `yaml:"series"` // or of the log, in place of From
	Lower  bool        `yaml:"lower_is_better"`
	Range  *[2]float64 `yaml:"range"` // of what can be; else the file is an error
	// Queries is FILE.json#PATH of the values of queries that a result may store.
	Queries string `yaml:"queries"`
	// Required makes it an error that a run lacks the number.
	Required bool `yaml:"required"`
	// Stored gives a row of one run the interval that its result stores, over queries.
	Stored bool `yaml:"stored_interval"`
	// Whole leaves out the mean of a row where one of its observations lacks the number.
	Whole bool `yaml:"whole"`
}

// Contrast sets rows against others by the same seeds.
type Contrast struct {
	A    Where    `yaml:"a"`
	B    Where    `yaml:"b"`
	Same []string `yaml:"same"`
	// Instead gives B another value of a field where there is no row of its own.
	Instead *Instead `yaml:"instead"`
	Name    string   `yaml:"name"` // with {a.FIELD} and {b.FIELD}
	Where   string   `yaml:"where"`
}

// Instead replaces a value of a field.
type Instead struct {
	Field string `yaml:"field"`
	Of    string `yaml:"of"`
	By    string `yaml:"by"`
	Where string `yaml:"where"` // in place of the contrast's
}

// Read decodes a spec and checks it. file is named in errors.
func Read(text []byte, file, name string) (*Spec, error) {
	s := &Spec{Name: name}
	if err := config.ReadDocument(text, file, s); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, &config.Error{File: file, Msg: err.Error()}
	}
	return s, nil
}

// Table finds a table by its name or another one that it has; nil where there is none.
func (s *Spec) Table(name string) *Table {
	for i := range s.Tables {
		if t := &s.Tables[i]; t.Name == name || slices.Contains(t.Aliases, name) {
			return t
		}
	}
	return nil
}

// Names lists the tables.
func (s *Spec) Names() []string {
	var out []string
	for _, t := range s.Tables {
		out = append(out, t.Name)
	}
	return out
}

func (t *Table) field(name string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i]
		}
	}
	return nil
}

func (t *Table) fieldNames() []string {
	var out []string
	for _, f := range t.Fields {
		out = append(out, f.Name)
	}
	return out
}

func (t *Table) score(name string) *Score {
	for i := range t.Scores {
		if t.Scores[i].Name == name {
			return &t.Scores[i]
		}
	}
	return nil
}

func (t *Table) scoreNames() []string {
	var out []string
	for _, s := range t.Scores {
		out = append(out, s.Name)
	}
	return out
}
