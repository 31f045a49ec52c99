package multicut

import (
	"fmt"
	"math"
)

// edgeList is the edges of a file. Where it is full, and again where it has four times as
// many, those of the same two nodes are added up, and it grows only where many are left: a
// file may say one edge a million times.
type edgeList struct {
	edges []Edge
	given int     // edges that were added
	most  int32   // the largest node
	sum   float64 // of |cost| of all that were added
	left  int     // edges that were left when they were last added up
}

// firstEdges is the room of a list at first.
const firstEdges = 1 << 16

func (l *edgeList) add(e Edge) {
	if len(l.edges) == cap(l.edges) {
		l.grow()
	}
	l.edges = append(l.edges, e)
	l.given++
	l.most = max(l.most, e.I, e.J)
	l.sum += math.Abs(e.Cost)
}

// grow makes room for more edges.
func (l *edgeList) grow() {
	room := max(firstEdges, len(l.edges))
	if len(l.edges) >= 4*l.left && int(l.most) < 2*len(l.edges) { // or the nodes would take more than the edges
		l.edges = merged(int(l.most)+1, l.edges, l.edges)
		l.left = len(l.edges)
	}
	if 2*len(l.edges) > room {
		room *= 2
	}
	if room > cap(l.edges) {
		l.edges = append(make([]Edge, 0, room), l.edges...)
	}
}

// graph returns the graph of the edges, of which there are some. The list is not of use
// afterwards.
//
// Errors: a node that does not occur; costs that add up to more than a float64 holds.
func (l *edgeList) graph() (*Graph, error) {
	if err := l.checkNumbers(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	if math.IsInf(l.sum, 1) {
		return nil, errSum
	}
	n := int(l.most) + 1
	g, err := graphOf(n, merged(n, l.edges, l.edges))
	if err != nil {
		return nil, err
	}
	g.duplicates = l.given - g.Edges()
	return g, nil
}

// checkNumbers verifies that all of 0..most occur.
func (l *edgeList) checkNumbers() error {
	if int(l.most) >= 2*len(l.edges) {
		return fmt.Errorf("%d edges cannot reach all of the nodes 0 to %d: number the nodes from 0 without gaps", l.given, l.most)
	}
	seen := make([]bool, l.most+1)
	for _, e := range l.edges {
		seen[e.I], seen[e.J] = true, true
	}
	missing, first := 0, -1
	for i, s := range seen {
		if !s {
			missing++
			if first < 0 {
				first = i
			}
		}
	}
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("%d of the nodes 0 to %d have no edge, the first is %d: number the nodes from 0 without gaps, or give a node that has no edge one of cost 0", missing, l.most, first)
}
