package multicut

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/rng"
)

func graphEdges(g *Graph) []Edge {
	var edges []Edge
	g.Each(func(i, j int32, cost float64) { edges = append(edges, Edge{i, j, cost}) })
	return edges
}

func TestReadGraph(t *testing.T) {
	text := "# a graph\r\n\n MULTICUT \r\nc made by hand\n1 0 2.5\n\t2  1\t-1e-3\n0 1 -.5\n4 3 +1\n3 5 0\n# the end\n0 6 0\n2 6 0"
	g, report, err := ReadGraph(strings.NewReader(text), "x.txt")
	if err != nil {
		t.Fatal(err)
	}
	if want := []Edge{{0, 1, 2}, {0, 6, 0}, {1, 2, -1e-3}, {2, 6, 0}, {3, 4, 1}, {3, 5, 0}}; !slices.Equal(graphEdges(g), want) || g.Nodes() != 7 {
		t.Errorf("%d nodes, edges %v", g.Nodes(), graphEdges(g))
	}
	if want := (ReadReport{Nodes: 7, Edges: 6, Duplicates: 1, Zeros: 3, Isolated: 2, Absent: 15, Components: 4}); *report != want {
		t.Errorf("report %+v, want %+v", *report, want)
	}
	notes := strings.Join(report.Notes(), "\n")
	for _, want := range []string{"1 edge was added", "3 pairs cost 0", "2 nodes have no edge", "15 pairs have no edge", "do not repel", "4 components"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

func TestReadGraphHasNothingToNote(t *testing.T) {
	_, report, err := ReadGraph(strings.NewReader("MULTICUT\n0 1 1\n0 2 1\n1 2 -1\n"), "x")
	if err != nil || report.Notes() != nil || report.Components != 1 {
		t.Errorf("%+v, %v, %v", report, report.Notes(), err)
	}
}

func TestReadGraphNamesFileAndLine(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                {"x.txt:", "empty"},
		"# nothing\n":                     {"x.txt:", "empty"},
		"MULTICUT\n":                      {"x.txt:", "no edge"},
		"MULTICUTS\n0 1 1":                {"x.txt:1:", "MULTICUTS", "want MULTICUT"},
		"\n0 1 1":                         {"x.txt:2:", "want MULTICUT"},
		"MULTICUT\n0 1":                   {"x.txt:2:", `"0 1"`, "two nodes and a cost"},
		"MULTICUT\n0 1 2 3":               {"x.txt:2:", "two nodes and a cost"},
		"MULTICUT\n0 1 1\n\n-1 0 1":       {"x.txt:4:", `"-1" is not a node`},
		"MULTICUT\n0 1.5 1":               {"x.txt:2:", `"1.5" is not a node`},
		"MULTICUT\n0 2147483647 1":        {"x.txt:2:", "is not a node"},
		"MULTICUT\n0 1 one":               {"x.txt:2:", `"one" is not a cost`},
		"MULTICUT\n0 1 NaN":               {"x.txt:2:", "is not a cost"},
		"MULTICUT\n0 1 -inf":              {"x.txt:2:", "is not a cost"},
		"MULTICUT\n0 1 1e999":             {"x.txt:2:", "is not a cost"},
		"MULTICUT\n0 1 1\n3 3 1":          {"x.txt:3:", "node 3 with itself"},
		"MULTICUT\n1 2 1\n2 3 1":          {"x.txt:", "1 of the nodes 0 to 3", "the first is 0", "without gaps"},
		"MULTICUT\n0 1 1\n5 6 1":          {"x.txt:", "2 edges cannot reach", "0 to 6"},
		"MULTICUT\n0 1 1\n0 2147483646 1": {"x.txt:", "without gaps"},
		"MULTICUT\n0 1 1e308\n0 1 1e308":  {"x.txt:", "add up"},
		"MULTICUT\n0 1 1 " + strings.Repeat("1", 1<<17): {"x.txt:2:", "longer"},
	} {
		_, _, err := ReadGraph(strings.NewReader(text), "x.txt")
		if !errors.Is(err, ErrInput) {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%.40q: %v: lacks %q", text, err, w)
			}
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("disk on fire") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestGraphFilesReportBrokenDisks(t *testing.T) {
	if _, _, err := ReadGraph(failing{}, "x.txt"); err == nil || !strings.Contains(err.Error(), "x.txt:1: disk on fire") {
		t.Error(err)
	}
	g, err := NewGraph(2, []Edge{{0, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGraph(failing{}, g); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Error(err)
	}
}

func TestWrittenGraphsAreReadBack(t *testing.T) {
	r := rng.New(13, "text")
	for trial := range 50 {
		n := 2 + trial
		_, g := gaecSparse(t, r, n, float64(trial%5)/10, 0)
		var text bytes.Buffer
		if err := writeGraph(&text, g); err != nil {
			t.Fatal(err)
		}
		back, report, err := ReadGraph(&text, "x")
		if err != nil {
			t.Fatal(err)
		}
		left := slices.DeleteFunc(graphEdges(back), func(e Edge) bool { return e.Cost == 0 })
		if back.Nodes() != n || !slices.Equal(left, graphEdges(g)) || report.Duplicates != 0 {
			t.Fatalf("%d nodes, edges %v, want %d, %v", back.Nodes(), left, n, graphEdges(g))
		}
	}
	one, err := NewGraph(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeGraph(&bytes.Buffer{}, one); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}

func TestNewGraphSortsLikeACompareSort(t *testing.T) {
	r := rng.New(14, "sort")
	edges := make([]Edge, 400)
	sums := map[[2]int32]float64{}
	for e := range edges {
		i, j := int32(r.IntN(20)), int32(r.IntN(20))
		if i == j {
			j = (i + 1) % 20
		}
		edges[e] = Edge{i, j, r.NormFloat64()}
		sums[[2]int32{min(i, j), max(i, j)}] += edges[e].Cost
	}
	given := slices.Clone(edges)
	g, err := NewGraph(20, edges)
	if err != nil || !slices.Equal(edges, given) {
		t.Fatal("the argument has changed", err)
	}
	found := map[[2]int32]float64{}
	g.Each(func(i, j int32, cost float64) { found[[2]int32{i, j}] = cost })
	if !reflect.DeepEqual(found, sums) || g.Edges() != len(sums) || g.Duplicates() != 400-len(sums) {
		t.Errorf("%v\nwant %v", found, sums)
	}
	if _, err := NewGraph(3, []Edge{{0, 1, math.MaxFloat64}, {1, 2, -math.MaxFloat64}}); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}

// writeGraph writes g as ReadGraph reads it, costs with all digits. A node without
// edges gets one of cost 0. A graph of one node has no such file: an error.
func writeGraph(w io.Writer, g *Graph) error {
	if g.n == 1 {
		return fmt.Errorf("%w: a graph of one node has no edge to write", ErrInput)
	}
	out := bufio.NewWriter(w)
	var line []byte
	put := func(i, j int32, cost float64) {
		line = strconv.AppendInt(line[:0], int64(i), 10)
		line = strconv.AppendInt(append(line, ' '), int64(j), 10)
		line = append(strconv.AppendFloat(append(line, ' '), cost, 'g', -1, 64), '\n')
		out.Write(line) // Flush returns the first error
	}
	out.WriteString(graphHeader + "\n")
	for i := range int32(g.n) {
		to, cost := g.Neighbors(i)
		for e, j := range to {
			if j > i {
				put(i, j, cost[e])
			}
		}
		switch first, _ := g.Neighbors(0); {
		case len(to) > 0:
		case i == 0:
			put(0, 1, 0)
		case i > 1 || len(first) > 0:
			put(0, i, 0)
		}
	}
	return out.Flush()
}
