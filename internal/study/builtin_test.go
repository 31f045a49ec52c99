package study

import (
	"testing"

	"tercet/studies"
)

// Every study that is built in can be read, and no two tables have one name.
func TestBuiltInStudies(t *testing.T) {
	t.Parallel()
	if got := BuiltIn(); len(got) != len(studies.All.Names()) {
		t.Errorf("%d of %d studies can be read", len(got), len(studies.All.Names()))
	}
	seen := map[string]bool{}
	for _, name := range BuiltInTables(func(*Table) bool { return true }) {
		if seen[name] {
			t.Errorf("two tables are named %s", name)
		}
		seen[name] = true
	}
}
