package cli

import (
	"io"

	"tercet/internal/report"
)

// Tables of what tercet eval --stability and --gap have measured of triplet metric
// learning.
const (
	stabilityTable  = "stability"
	stabilityChecks = "stability-checks"
)

// runStabilityTable sets measurements beside the bounds, or lists what claims were judged
// by.
func runStabilityTable(s *Streams, o reportOptions) error {
	if err := ownTable(o); err != nil {
		return err
	}
	study, err := report.ReadStability(o.runs)
	if err != nil {
		return reportError(err)
	}
	if o.curves != "" {
		if err := drawStudy(s, study.Curves, o.curves); err != nil {
			return err
		}
	}
	table := study.Table(report.StabilityLayout{Settings: bare(o.format), Exact: bare(o.format)})
	if o.table == stabilityChecks {
		table = study.ChecksTable()
	}
	return s.Result(study, func(w io.Writer) error { return table.Write(w, o.format) })
}
