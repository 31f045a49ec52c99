package cli

import (
	"io"
	"os"
	"path/filepath"

	"tercet/internal/report"
)

// Names of the tables that compare clusterings; they set no paper's numbers beside
// ours, since there are none.
const (
	clusteringTable       = "clustering"
	clusteringDifferences = "clustering-differences"
)

// runClusteringTable compares losses and ways of clustering under label noise.
func runClusteringTable(s *Streams, o reportOptions) error {
	if len(o.metrics) > 0 || len(o.groupBy) > 0 || o.out != "" || o.variant != "published" || len(o.grid) > 0 {
		return usagef("--table %s has its own columns and rows: leave --metric, --group-by, --out, --variant and --grid out", o.table)
	}
	if len(o.runs) == 0 {
		return usagef("name the runs to compare: tercet report --table %s RUN...", o.table)
	}
	runs, err := readRuns(s, o.runs)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if err := r.ReadClusterings(); err != nil {
			return reportError(err)
		}
	}
	study, err := report.CompareClusterings(runs)
	if err != nil {
		return &ExitError{ExitUsage, err}
	}
	if o.curves != "" {
		if err := os.MkdirAll(filepath.Dir(o.curves), 0o755); err != nil {
			return err
		}
		files, err := study.Curves(o.curves)
		if err != nil {
			return err
		}
		for _, f := range files {
			s.Note("wrote %s", f)
		}
	}
	table := study.Table()
	if o.table == clusteringDifferences {
		table = study.DifferencesTable()
	}
	return s.Result(study, func(w io.Writer) error { return table.Write(w, o.format) })
}
