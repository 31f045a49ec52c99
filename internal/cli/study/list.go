package study

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/study"
	"tercet/internal/text"
)

func newList(s *base.Streams) *cobra.Command {
	return completing(base.Command{
		Use:   "list [SPEC]",
		Paged: true,
		Short: "List the built-in studies, or the steps and tables of one",
		Long: `
Prints name and title of the built-in studies. For one study, given by its name or YAML
file, it prints the steps that tercet study run accepts and the tables that tercet report
--table prints. A step marked extra runs only if it is named.`,
		Examples: []base.Example{
			{Why: "every study", Line: "tercet study list"},
			{Why: "the steps and tables of a study", Line: "tercet study list clustering"},
		},
		Args: cobra.MaximumNArgs(1),
		Run: func(_ context.Context, args []string) error {
			if len(args) == 1 {
				return listSteps(s, args[0])
			}
			return listStudies(s)
		},
	}.Build(), completeNothing)
}

func entry(spec *study.Spec) printed.StudyEntry {
	return printed.StudyEntry{Name: spec.Name, Title: spec.Title, About: spec.About, Steps: spec.StepNames(), Tables: spec.Names()}
}

func listStudies(s *base.Streams) error {
	doc := printed.Studies{Schema: record.StudiesSchema, Studies: []printed.StudyEntry{}}
	table := &render.Table{Columns: []render.Column{{Name: "study"}, {Name: "about"}}}
	for _, spec := range study.BuiltIn() {
		doc.Studies = append(doc.Studies, entry(spec))
		table.Rows = append(table.Rows, []render.Cell{render.Text(spec.Name), render.Text(spec.Title)})
	}
	return s.Result(doc, func(w io.Writer) error { return table.Write(w, "text") })
}

// listSteps prints the steps of one study.
func listSteps(s *base.Streams, choice string) error {
	spec, err := ReadSpec(choice)
	if err != nil {
		return err
	}
	own := entry(spec)
	for _, step := range spec.Steps {
		own.Details = append(own.Details, printed.StudyStep{Name: step.Name, About: step.About, Extra: step.Extra, Configs: step.Configs, Tables: step.Tables})
	}
	doc := printed.Studies{Schema: record.StudiesSchema, Studies: []printed.StudyEntry{own}}
	return s.Result(doc, func(w io.Writer) error { return writeStudy(w, own, spec.Tables) })
}

// columns is the width of a terminal that text is broken for.
const columns = 80

// writeStudy writes a paragraph on the study, one on each step, and one on each table.
func writeStudy(w io.Writer, e printed.StudyEntry, tables []study.Table) error {
	out := text.Wrap(e.Title+". "+e.About, columns, "") + "\nsteps:\n"
	for _, step := range e.Details {
		name, about := step.Name, step.About
		if step.Extra {
			name += " (extra)"
		}
		if about == "" {
			about = "tables: " + strings.Join(step.Tables, ", ")
		}
		out += text.Wrap(name+": "+about, columns, "  ")
	}
	out += "\ntables:\n"
	for _, t := range tables {
		out += text.Wrap(t.Name+": "+t.Title, columns, "  ")
	}
	_, err := io.WriteString(w, out)
	return err
}
