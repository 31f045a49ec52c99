package report

import (
	"os"
	"path/filepath"
	"slices"

	"tercet/internal/cli/base"
	"tercet/internal/study"
)

// drawnTables are the names of those that have a picture.
func drawnTables() []string {
	return append(study.BuiltInTables((*study.Table).Draws), StabilityTable, BandTable)
}

// Draws says whether a table has a picture.
func Draws(table string) bool { return slices.Contains(drawnTables(), table) }

// ownTable refuses options that a table with its own columns and rows has no use for.
func ownTable(o options) error {
	if len(o.metrics) > 0 || len(o.groupBy) > 0 || o.out != "" || o.variant != "published" || len(o.grid) > 0 {
		return base.Usagef("--table %s has its own columns and rows: leave --metric, --group-by, --page, --variant and --grid out", o.table)
	}
	if len(o.runs) == 0 {
		return base.Usagef("name the runs to compare: tercet report --table %s RUN...", o.table)
	}
	return nil
}

// drawTable draws the pictures of a table and names their files.
func drawTable(s *base.Streams, draw func(base string) ([]string, error), base string) error {
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return err
	}
	files, err := draw(base)
	if err != nil {
		return err
	}
	for _, f := range files {
		s.Note("wrote %s", f)
	}
	return nil
}
