package report

import (
	"io"

	"tercet/internal/cli/base"
	"tercet/internal/theory/compare"
)

// Tables of what tercet stability and tercet gap have measured of triplet metric
// learning.
const (
	StabilityTable  = "stability"
	StabilityChecks = "stability-checks"
)

// runStabilityTable compares measurements with the bounds, or lists what claims were decided
// by.
func runStabilityTable(s *base.Streams, o options) error {
	if err := ownTable(o); err != nil {
		return err
	}
	study, err := compare.Read(o.runs)
	if err != nil {
		return RunsError(err)
	}
	if o.curves != "" {
		if err := drawTable(s, study.Curves, o.curves); err != nil {
			return err
		}
	}
	table := study.Table(compare.Layout{Settings: base.Bare(o.format), Exact: base.Bare(o.format)})
	if o.table == StabilityChecks {
		table = study.ChecksTable()
	}
	return s.Result(study, func(w io.Writer) error { return table.Write(w, o.format) })
}
