package multicut

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ReadReport says what a graph file holds beside edges to solve.
type ReadReport struct {
	Nodes, Edges int   // edges of different pairs
	Duplicates   int   // edges that were added to another of the same two nodes
	Zeros        int   // pairs whose edges add up to cost 0
	Isolated     int   // nodes all of whose edges cost 0: single-item clusters
	Absent       int64 // pairs without an edge
	Components   int   // connected parts, edges of cost 0 left out
}

// Notes returns the report's peculiarities, a sentence each.
func (r *ReadReport) Notes() []string {
	var notes []string
	add := func(n int64, one, many string) {
		switch {
		case n == 1:
			notes = append(notes, "1 "+one)
		case n > 1:
			notes = append(notes, strconv.FormatInt(n, 10)+" "+many)
		}
	}
	add(int64(r.Duplicates), "edge was added to another of the same nodes", "edges were added to others of the same nodes")
	add(int64(r.Zeros), "pair costs 0 in all, as if it had no edge", "pairs cost 0 in all, as if they had no edge")
	add(int64(r.Isolated), "node has no edge and is a single-item cluster", "nodes have no edge and are single-item clusters")
	add(r.Absent, "pair has no edge and costs 0 whether it is cut or not: it does not repel", "pairs have no edge and cost 0 whether they are cut or not: they do not repel")
	if r.Components > 1 {
		notes = append(notes, fmt.Sprintf("the graph has %d components without an edge between them", r.Components))
	}
	return notes
}

const graphHeader = "MULTICUT"

// ReadGraph reads a graph in the MULTICUT text format of LPMP and RAMA: a line
// MULTICUT, then a line "i j cost" for each edge, nodes numbered from 0; positive
// costs join. Blank lines and lines that begin with # or c are skipped, as LPMP
// does. Edges of the same two nodes add up.
//
// The node with the largest number tells how many there are; each must occur, so
// that numbers from 1 or of another graph are noticed. A node without edges is
// given one of cost 0.
//
// Errors name file and line: no header, no edge, a line that is not two numbers of
// nodes and a cost, an edge of a node with itself, a cost that is NaN or infinite, a
// number that does not occur.
func ReadGraph(r io.Reader, name string) (*Graph, *ReadReport, error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	var edges edgeList
	header := false
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != io.EOF {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = fmt.Errorf("%w: a line longer than any edge: is this a graph in text form?", ErrInput)
			}
			return nil, nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		end := err == io.EOF
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0 || line[0] == '#' || line[0] == 'c':
		case !header:
			if string(line) != graphHeader {
				return nil, nil, fmt.Errorf("%s:%d: %w: the first line is %s, want %s", name, number, ErrInput, excerpt(line), graphHeader)
			}
			header = true
		default:
			e, err := parseEdge(line)
			if err != nil {
				return nil, nil, fmt.Errorf("%s:%d: %w: %w", name, number, ErrInput, err)
			}
			edges.add(e)
		}
		if end {
			break
		}
	}
	switch {
	case !header:
		return nil, nil, fmt.Errorf("%s: %w: the file is empty, want a line %s and edges", name, ErrInput, graphHeader)
	case edges.given == 0:
		return nil, nil, fmt.Errorf("%s: %w: the graph has no edge", name, ErrInput)
	}
	g, err := edges.graph()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, g.report(), nil
}

// WriteGraph writes a graph as ReadGraph reads it. A node without edges gets one of cost 0,
// which changes no clustering's cost.
func WriteGraph(w io.Writer, g *Graph) error {
	out := bufio.NewWriterSize(w, 1<<16)
	line := append([]byte(graphHeader), '\n')
	add := func(i, j int32, cost float64) {
		line = strconv.AppendInt(line, int64(i), 10)
		line = strconv.AppendInt(append(line, ' '), int64(j), 10)
		line = append(strconv.AppendFloat(append(line, ' '), cost, 'g', -1, 64), '\n')
		_, _ = out.Write(line) // Flush returns the error
		line = line[:0]
	}
	for i := range int32(g.n) {
		to, cost := g.Neighbors(i)
		for e, j := range to {
			if i < j {
				add(i, j, cost[e])
			}
		}
		if len(to) == 0 && g.n > 1 {
			add(i, (i+1)%int32(g.n), 0)
		}
	}
	return out.Flush()
}

func excerpt(line []byte) string {
	if len(line) > 40 {
		return strconv.Quote(string(line[:40])) + "..."
	}
	return strconv.Quote(string(line))
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func parseEdge(line []byte) (Edge, error) {
	fields := [4][]byte{}
	count := 0
	for at := 0; at < len(line) && count < len(fields); count++ {
		from := at
		for at < len(line) && !blank(line[at]) {
			at++
		}
		fields[count] = line[from:at]
		for at < len(line) && blank(line[at]) {
			at++
		}
	}
	if count != 3 {
		return Edge{}, fmt.Errorf("%s is not an edge: want two nodes and a cost", excerpt(line))
	}
	var nodes [2]int32
	for k := range nodes {
		v, err := strconv.ParseInt(string(fields[k]), 10, 32)
		if err != nil || v < 0 || v == math.MaxInt32 {
			return Edge{}, fmt.Errorf("%s is not a node: want a whole number from 0 to %d", excerpt(fields[k]), math.MaxInt32-1)
		}
		nodes[k] = int32(v)
	}
	cost, err := strconv.ParseFloat(string(fields[2]), 64)
	switch {
	case err != nil || cost-cost != 0:
		return Edge{}, fmt.Errorf("%s is not a cost: want a finite number", excerpt(fields[2]))
	case nodes[0] == nodes[1]:
		return Edge{}, fmt.Errorf("an edge of node %d with itself: leave it out, it cannot be cut", nodes[0])
	}
	return Edge{nodes[0], nodes[1], cost}, nil
}

func (g *Graph) report() *ReadReport {
	r := &ReadReport{Nodes: g.n, Edges: g.Edges(), Duplicates: g.duplicates, Absent: int64(g.n)*int64(g.n-1)/2 - int64(g.Edges())}
	seen := make([]bool, g.n)
	var stack []int32
	for i := range int32(g.n) {
		to, cost := g.Neighbors(i)
		isolated := true
		for e, j := range to {
			if cost[e] != 0 {
				isolated = false
			} else if j > i {
				r.Zeros++
			}
		}
		if isolated {
			r.Isolated++
		}
		if seen[i] {
			continue
		}
		r.Components++
		seen[i] = true
		for stack = append(stack[:0], i); len(stack) > 0; {
			to, cost := g.Neighbors(stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			for e, j := range to {
				if cost[e] != 0 && !seen[j] {
					seen[j] = true
					stack = append(stack, j)
				}
			}
		}
	}
	return r
}
