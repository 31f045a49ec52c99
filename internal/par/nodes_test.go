package par

import (
	"slices"
	"testing"
	"testing/fstest"
)

func sockets(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return m
}

func TestNodesOf(t *testing.T) {
	every := func(int) bool { return true }
	two := map[string]string{"online": "0-1", "node0/cpulist": "0-1,4-5", "node1/cpulist": "2-3,6-7"}
	for _, c := range []struct {
		name    string
		files   map[string]string
		allowed func(int) bool
		want    [][]int
	}{
		{"two nodes", two, every, [][]int{{0, 1, 4, 5}, {2, 3, 6, 7}}},
		{"some processors", two, func(p int) bool { return p > 2 && p < 6 }, [][]int{{4, 5}, {3}}},
		{"processors of one node", two, func(p int) bool { return p < 2 }, nil},
		{"one node", map[string]string{"online": "0", "node0/cpulist": "0-7"}, every, nil},
		{"memory alone", map[string]string{"online": "0,2", "node0/cpulist": "0", "node2/cpulist": ""}, every, nil},
		{"no such folder", nil, every, nil},
		{"a node is missing", map[string]string{"online": "0-2", "node0/cpulist": "0", "node1/cpulist": "1"}, every, nil},
		{"no numbers", map[string]string{"online": "0-1", "node0/cpulist": "0-x", "node1/cpulist": "1"}, every, nil},
		{"too many", map[string]string{"online": "0-1", "node0/cpulist": "0-99999999999", "node1/cpulist": "1"}, every, nil},
	} {
		got := nodesOf(sockets(c.files), c.allowed)
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNodeFor(t *testing.T) {
	even, odd := [][]int{{0, 1, 4, 5}, {2, 3, 6, 7}}, [][]int{{0}, {1, 2, 3}}
	for _, c := range []struct {
		name    string
		nodes   [][]int
		threads int
		want    []int // of workers 1, 2, ...
	}{
		{"a thread for each processor", even, 8, []int{0, 0, 0, 1, 1, 1, 1}},
		{"two for each", even, 16, []int{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"uneven nodes", odd, 4, []int{1, 1, 1}},
		{"fewer threads than processors", even, 7, []int{-1, -1, -1, -1, -1, -1}},
		{"one node", nil, 8, []int{-1, -1}},
	} {
		for i, want := range c.want {
			if got := nodeFor(c.nodes, i+1, c.threads); got != want {
				t.Errorf("%s: worker %d is of node %d, want %d", c.name, i+1, got, want)
			}
		}
	}
	if got := nodeFor(even, 9, 8); got != 0 { // hired for more threads
		t.Errorf("worker 9 of 8 threads is of node %d", got)
	}
}
