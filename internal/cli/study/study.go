package study

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/study"
	"tercet/studies"
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "study",
		Short: "Run and report studies: experiments of many runs, described by one file",
		Long: `
A study is a YAML file that lists runs, the commands to execute after each, and tables
with contrasts and claims about the runs. docs/studies.md explains how to write one.`,
		Examples: []base.Example{
			{Why: "the built-in studies", Line: "tercet study list"},
			{Why: "the steps and tables of one study", Line: "tercet study list clustering"},
			{Why: "print the commands of a study without running them", Line: "tercet study run clustering --dry-run"},
			{Why: "print the tables of a study", Line: "tercet study report clustering 'runs/*'"},
		},
		Exits: []int{base.ExitData},
		Subs:  []*cobra.Command{newList(s), newRun(s), newReport(s), newArchive(s)},
	}.Build()
}

// maxSpecFile bounds a study that a user names as a file.
const maxSpecFile = 1 << 20

// ReadSpec reads a study by its name or file.
func ReadSpec(choice string) (*study.Spec, error) {
	if ext := filepath.Ext(choice); ext == ".yaml" || ext == ".yml" {
		text, err := fsx.ReadFile(choice, maxSpecFile)
		if err != nil {
			return nil, base.Usagef("the study: %v", err)
		}
		return study.Read(text, choice, strings.TrimSuffix(filepath.Base(choice), ext))
	}
	text, file, ok := studies.All.Read(choice)
	if !ok {
		return nil, base.Usagef("unknown study %q; %svalid: %s, or a .yaml file", choice, base.DidYouMean(choice, studies.All.Names()), strings.Join(studies.All.Names(), ", "))
	}
	return study.Read(text, file, choice)
}
