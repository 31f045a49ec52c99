package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"tercet/internal/cli/base"
	"tercet/internal/compare"
	"tercet/internal/fsx"
)

// writeQueries writes the values of each query: a row for each result and query, a column
// for each score.
func writeQueries(path string, sides []compare.Side, scores []string) error {
	stored := 0
	for _, s := range sides {
		for _, r := range s.Results {
			stored += len(r.Queries())
		}
	}
	if stored == 0 {
		return &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("--save-queries: no result stores the values of its queries; tercet eval --per-query does")}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return fsx.Write(path, 0o644, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(append([]string{"side", "from", "item"}, scores...))
		for _, s := range sides {
			for _, r := range s.Results {
				for i, item := range r.Queries() {
					row := []string{s.Name, r.From, strconv.Itoa(item)}
					for _, score := range scores {
						cell := ""
						if v, ok := r.Value(score, i); ok {
							cell = strconv.FormatFloat(v, 'g', -1, 32)
						}
						row = append(row, cell)
					}
					out.Write(row)
				}
			}
		}
		out.Flush()
		return out.Error()
	})
}
