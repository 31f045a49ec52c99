package cli

import (
	"io"

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
	if err := ownTable(o); err != nil {
		return err
	}
	runs, err := readTableRuns(s, o.runs)
	if err != nil {
		return err
	}
	for _, r := range runs {
		r.Left = nil // noted
		if err := r.ReadClusterings(); err != nil {
			return reportError(err)
		}
	}
	noteLeft(s, runs)
	study, err := report.CompareClusterings(runs)
	if err != nil {
		return &ExitError{ExitUsage, err}
	}
	if o.curves != "" {
		if err := drawStudy(s, study.Curves, o.curves); err != nil {
			return err
		}
	}
	table := study.Table()
	if o.table == clusteringDifferences {
		table = study.DifferencesTable()
	}
	return s.Result(study, func(w io.Writer) error { return table.Write(w, o.format) })
}
