package summary

import (
	"strings"
	"testing"

	"tercet/internal/render"
)

// rendered is a table in one of the formats.
func rendered(t *testing.T, table *render.Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}
