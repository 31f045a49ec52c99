package multicut

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// What is read as a graph is one: nodes in range, costs finite, edges counted, and
// the same again from its own text; everything else is ErrInput.
func FuzzReadGraph(f *testing.F) {
	for _, s := range []string{"MULTICUT\n0 1 1\n", "MULTICUT\r\n# a\n0 1 -0.5\n1 2 3e2\n0 1 1\n", "c x\nMULTICUT\n0 2 1", "MULTICUT\n0 1 NaN\n", "MULTICUT\n0 0 1\n", "0 1 1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, report, err := ReadGraph(bytes.NewReader(b), "graph.txt")
		if err != nil {
			if !errors.Is(err, ErrInput) || !strings.HasPrefix(err.Error(), "graph.txt") {
				t.Fatalf("%v is not ErrInput with the file's name", err)
			}
			return
		}
		edges := 0
		g.Each(func(i, j int32, cost float64) {
			edges++
			if i < 0 || j < 0 || i == j || int(max(i, j)) >= g.Nodes() || cost-cost != 0 {
				t.Fatalf("edge %d %d of cost %v, %d nodes", i, j, cost, g.Nodes())
			}
		})
		if g.Nodes() < 2 || edges != g.Edges() || edges != report.Edges || report.Nodes != g.Nodes() || report.Components < 1 || report.Components > g.Nodes() {
			t.Fatalf("%d nodes, %d edges, report %+v", g.Nodes(), edges, report)
		}
	})
}
