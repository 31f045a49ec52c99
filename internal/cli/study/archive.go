package study

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rundir"
)

func newArchive(s *base.Streams) *cobra.Command {
	var out string
	var logs bool
	return base.Command{
		Use:   "archive RUNS... --out FILE",
		Short: "Archive the documents of runs in one zip file",
		Long: `
Writes an archive with the config and the result documents of each run, and the SHA-256 of
each file. Weights and pictures are left out, and logs unless --events is given. tercet
report and tercet study report read the archive like a folder: 'FILE.zip' names all of its
runs, 'FILE.zip/mnist-*' some of them. The same documents give the same bytes.`,
		Examples: []base.Example{
			{Why: "archive all runs, for publication", Line: "tercet study archive 'runs/*' --out results.zip"},
		},
		Args:  cobra.MinimumNArgs(1),
		Exits: []int{base.ExitData},
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVarP(&out, "out", "o", "", "write the archive to `FILE`, which ends in .zip")
			cmd.Flags().BoolVar(&logs, "events", false, "also include events.jsonl of each run, for tables about the course of training")
		},
		Run: func(_ context.Context, args []string) error { return writeArchive(s, args, out, logs) },
	}.Build()
}

func writeArchive(s *base.Streams, patterns []string, out string, logs bool) error {
	if !strings.HasSuffix(strings.ToLower(out), ".zip") {
		return base.Usagef("--out is %q; give a file that ends in .zip", out)
	}
	dirs, err := rundir.Find(patterns)
	if err != nil {
		return report.RunsError(err)
	}
	n, err := rundir.Archive(out, dirs, logs)
	if err != nil {
		return report.RunsError(err)
	}
	doc := printed.Archive{Schema: record.ArchiveSchema, File: out, Runs: len(dirs), Files: n}
	return s.Line(doc, "%s: %d files of %d runs", out, n, len(dirs))
}
