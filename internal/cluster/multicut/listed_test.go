package multicut

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"tercet/internal/rng"
)

// Lists of the nearest rows make the graph that finds them itself; -1, a row in its own list
// and the order in a list change nothing. Written and read again, the graph is the same.
func TestListedAsNearest(t *testing.T) {
	t.Parallel()
	r := rng.New(8, "listed")
	const n, d, k = 90, 3, 4
	x := knnPoints(r, n, d)
	cost := func(d2 float64) float64 { return 0.7 - d2 }
	want, err := Nearest(context.Background(), x, n, d, k, 2, 5, cost)
	if err != nil {
		t.Fatal(err)
	}
	near, err := nearest(context.Background(), x, n, d, k)
	if err != nil {
		t.Fatal(err)
	}
	var lists []int32
	for i := range n {
		l := slices.Clone(near[i*k : (i+1)*k])
		slices.Reverse(l)
		lists = append(append(append(lists, int32(i)), l...), -1)
	}
	g, err := Listed(x, n, d, k+2, lists, 2, 5, cost)
	if err != nil {
		t.Fatal(err)
	}
	if !sameGraph(g, want) || g.warning == "" {
		t.Errorf("%d edges, want %d", g.Edges(), want.Edges())
	}
	var b bytes.Buffer
	if err := WriteGraph(&b, g); err != nil {
		t.Fatal(err)
	}
	again, report, err := ReadGraph(&b, "g")
	if err != nil || !sameGraph(again, want) || report.Isolated != 0 {
		t.Errorf("read again: %+v, error %v", report, err)
	}
}

func sameGraph(a, b *Graph) bool {
	return a.n == b.n && slices.Equal(a.start, b.start) && slices.Equal(a.to, b.to) && slices.Equal(a.cost, b.cost)
}

// A row that no list names stays a node of the file; bad lists are refused.
func TestListedWithoutNeighbors(t *testing.T) {
	t.Parallel()
	x := []float32{0, 1, 5, 9}
	g, err := Listed(x, 4, 1, 1, []int32{1, -1, -1, -1}, 0, 0, func(d2 float64) float64 { return 2 - d2 })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteGraph(&b, g); err != nil || b.String() != "MULTICUT\n0 1 1\n2 3 0\n3 0 0\n" {
		t.Errorf("%q, error %v", b.String(), err)
	}
	for say, lists := range map[string][]int32{"list 1 names row 4 of 4": {0, 4, 0, 0}, "list 3 names row -2": {0, 0, 0, -2}, "have 3 numbers": {0, 0, 0}} {
		if _, err := Listed(x, 4, 1, 1, lists, 0, 0, func(float64) float64 { return 1 }); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("error %v, want %q", err, say)
		}
	}
}
