package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/robustness"
	"tercet/internal/rundir"
	"tercet/internal/summary"
)

// BandTable is the table of worst cases and certificates over the budget.
const BandTable = "worst-band"

// runBandTable prints, for each run with a worst case, what is proven and what is broken over
// the budget.
func runBandTable(s *base.Streams, o options) error {
	if err := ownTable(o); err != nil {
		return err
	}
	runs, err := ReadTableRuns(s, o.runs)
	if err != nil {
		return err
	}
	d := printed.Bands{Schema: record.BandSchema, Bands: []printed.Band{}, Notes: []string{}}
	for _, r := range runs {
		if r.Worst == nil {
			d.Notes = append(d.Notes, fmt.Sprintf("no worst.json in %s; tercet attack --suite worst --run %s makes it", r.Dir, r.Dir))
			continue
		}
		list, err := robustness.BandsOf(filepath.Base(r.Dir), r.Worst, r.Certify)
		if err != nil {
			return RunsError(fmt.Errorf("%w: %s: %w", rundir.ErrRun, r.Dir, err))
		}
		certified := false
		for _, b := range list {
			certified = certified || b.Method != ""
		}
		if !certified {
			d.Notes = append(d.Notes, fmt.Sprintf("no certificate of the weights, norm, queries and one of the galleries of %s/worst.json", r.Dir))
		}
		d.Bands = append(d.Bands, list...)
	}
	if len(d.Bands) == 0 {
		return RunsError(fmt.Errorf("%w: nothing to compare: %s", rundir.ErrRun, strings.Join(d.Notes, "; ")))
	}
	if o.curves != "" {
		if err := drawTable(s, func(base string) ([]string, error) { return robustness.DrawBands(d.Bands, base) }, o.curves); err != nil {
			return err
		}
	}
	table := bandTable(&d, base.Bare(o.format))
	return s.Result(d, func(w io.Writer) error { return table.Write(w, o.format) })
}

// bandTable has a row for each point; people see every fifth.
func bandTable(d *printed.Bands, all bool) *render.Table {
	t := &render.Table{
		Title:   "worst case over the budget",
		Columns: []render.Column{{Name: "run"}, {Name: "gallery"}, {Name: "attack"}, {Name: "method"}, {Name: "queries"}, {Name: "norm"}, {Name: "eps", Digits: 4}, {Name: "certified", Percent: true}, {Name: "unbroken", Percent: true}, {Name: "unknown", Percent: true}},
		Notes: append([]string{
			"certified: share of the queries that are proven; unbroken: share that no perturbation found breaks",
			"below the budget of the attack, unbroken is by the smallest perturbation known for each query; an attack at the smaller budget would break more",
		}, d.Notes...),
	}
	if !slices.ContainsFunc(d.Bands, func(b printed.Band) bool { return b.Other }) {
		t.Notes[0] += "; R@1 under any attack lies between the two"
	}
	for _, b := range d.Bands {
		if b.Other {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: the certificate is of the network under noise and the attack of the network itself: they do not bound each other", b.Run))
		}
		for k, p := range b.Points {
			if !all && k%5 != 0 {
				continue
			}
			row := []render.Cell{render.Text(b.Run), render.Text(b.Gallery), render.Text(b.Attack), render.Text(b.Method), render.Int(b.Queries), render.Text(b.Norm), render.Number(p.Eps), render.Missing(), summary.Measured(p.Unbroken), render.Missing()}
			if p.Certified != nil {
				row[7] = summary.Measured(*p.Certified)
			}
			if p.Unknown != nil {
				row[9] = render.Number(*p.Unknown)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
