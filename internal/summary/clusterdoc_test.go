package summary

import (
	"strings"
	"testing"

	"tercet/internal/rundir/rundirtest"
)

// Both schemas of cluster.json are read; numbers that a method has not are left out.
func TestClusterDocuments(t *testing.T) {
	const head = `"source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16}, "sizes": [120, 50, 20], "clusters": 3, "cost": {"seconds": 1},
 "clustering": {"nmi": {"value": 0.75, "definition": "nmi(arithmetic)"}}`
	for _, tc := range []struct {
		text   string
		has    []string
		hasNot []string
	}{
		{`{"schema": "tercet.cluster/1", "options": {"method": "kmeans"}, "objective": 12.5, "lower_bound": null, "gap": null, "threshold": null, ` + head + `}`,
			[]string{"objective", "12.5000", "0.7500"}, []string{"lower bound", "threshold", "noise"}},
		{`{"schema": "tercet.cluster/2", "options": {"method": "multicut"}, "objective": -12.5, "lower_bound": -13, "gap": 0.04, "threshold": 0.875, ` + head + `}`,
			[]string{"-12.5000", "lower bound", "-13.0000", "0.0400", "threshold", "0.8750"}, []string{"noise"}},
		{`{"schema": "tercet.cluster/2", "options": {"method": "hdbscan"}, "objective": null, "noise": 10, "lower_bound": null, "gap": null, "threshold": null, ` + head + `}`,
			[]string{"noise", "10"}, []string{"objective", "gap"}},
	} {
		r := rundirtest.Fake(t, t.TempDir(), 0, "finished", map[string]string{"cluster.json": tc.text})
		var b strings.Builder
		if err := clusterTable(r).Write(&b, "text"); err != nil {
			t.Fatal(err)
		}
		for _, w := range tc.has {
			if !strings.Contains(b.String(), w) {
				t.Errorf("no %q in\n%s", w, b.String())
			}
		}
		for _, w := range tc.hasNot {
			if strings.Contains(b.String(), w) {
				t.Errorf("%q in\n%s", w, b.String())
			}
		}
	}
}
