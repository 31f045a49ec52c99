package study

import (
	"slices"

	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/study/observe"
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
	From                string `yaml:"from"`
	observe.Description `yaml:",inline"`
	Rows                []string   `yaml:"rows"`  // fields that make a row, which also sort rows
	Sort                []string   `yaml:"sort"`  // fields to sort rows by, if others
	Alike               []string   `yaml:"alike"` // fields within which results should be measured alike
	Config              bool       `yaml:"whole_config"`
	Repeats             bool       `yaml:"repeats"` // a row may have several results of one seed
	Best                *Best      `yaml:"best"`
	Reduce              *Reduce    `yaml:"reduce"`
	Rates               *Rates     `yaml:"rates"`
	Against             *Against   `yaml:"against"`
	Over                *Over      `yaml:"over"`
	Contrasts           []Contrast `yaml:"contrasts"`
	Claims              []Claim    `yaml:"claims"`
	Show                string     `yaml:"show"` // rows, contrasts or claims
	Columns             []string   `yaml:"columns"`
	Short               bool       `yaml:"short"` // leaves out columns in which all rows are the same, for people
	Notes               []string   `yaml:"notes"`
	Plot                *Plot      `yaml:"plot"`

	columns []column
}

// Contrast compares rows A with rows B, between runs of the same seed.
type Contrast struct {
	A    observe.Where `yaml:"a"`
	B    observe.Where `yaml:"b"`
	Same []string      `yaml:"same"`
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
	return lists.Map(s.Tables, func(t Table) string { return t.Name })
}
