package tracker

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"tercet/internal/rundir"
)

// CSVHead is the first line of a table of CSV.
const CSVHead = "run,tag,step,epoch,seconds,value"

// CSV writes a line for each number of each run's log and results.
func CSV(w io.Writer, runs []*rundir.Run) error {
	out := csv.NewWriter(w)
	if err := out.Write(strings.Split(CSVHead, ",")); err != nil {
		return err
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for i, name := range Names(runs) {
		var failed error
		err := EachPoint(runs[i], func(p Point) {
			if failed == nil {
				failed = out.Write([]string{name, p.Tag, strconv.Itoa(p.Step), number(p.Epoch), number(p.Seconds), number(p.Value)})
			}
		})
		if err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	out.Flush()
	return out.Error()
}
