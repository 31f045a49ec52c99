package density

import (
	"math"

	"tercet/internal/cluster"
)

// condensed is the tree of clusters of at least a given size. Densities are
// 1/distance, infinite at 0.
type condensed struct {
	clusters []component // parents before their children; the first is the whole
	of       []int32     // of each row: the smallest cluster that it is in
	left     []float64   // of each row: the density at which it leaves that cluster
}

// component is one from the density at which it splits off to that at which it
// splits or dissolves.
type component struct {
	parent    int32
	birth     float64
	stability float64 // sum over its rows of how long they stay
	longest   float64 // largest finite density at which rows leave it
	split     bool    // into other clusters
}

// condense follows components from the whole downwards.
func condense(l *levels, least int) *condensed {
	t := &condensed{clusters: []component{{parent: -1}}, of: make([]int32, l.n), left: make([]float64, l.n)}
	type visit struct{ node, cluster int32 }
	stack := []visit{{node: int32(l.n + len(l.nodes) - 1)}}
	if len(l.nodes) == 0 { // a single row
		stack = nil
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		node := &l.nodes[int(v.node)-l.n]
		density := 1 / node.distance // of 0: infinite
		parts := l.parts[node.first:node.end]
		large := 0
		for _, p := range parts {
			if l.size(p) >= least {
				large++
			}
		}
		if node.distance == 0 { // equal rows: nothing splits them
			large = 0
		}
		for _, p := range parts {
			switch {
			case large == 0 || l.size(p) < least:
				t.leave(v.cluster, l.rows(p), density)
			case large == 1:
				stack = append(stack, visit{p, v.cluster})
			default:
				t.stay(v.cluster, l.size(p), density)
				t.clusters[v.cluster].split = true
				stack = append(stack, visit{p, int32(len(t.clusters))})
				t.clusters = append(t.clusters, component{parent: v.cluster, birth: density})
			}
		}
	}
	return t
}

// leave takes rows out of cluster c.
func (t *condensed) leave(c int32, rows []int32, density float64) {
	for _, i := range rows {
		t.of[i], t.left[i] = c, density
	}
	t.stay(c, len(rows), density)
}

// stay counts rows that are in c up to a density.
func (t *condensed) stay(c int32, rows int, density float64) {
	v := &t.clusters[c]
	v.stability += float64(float64(rows) * (density - v.birth))
	if !math.IsInf(density, 1) {
		v.longest = max(v.longest, density)
	}
}

// leaves are the clusters that do not split.
func (t *condensed) leaves() []bool {
	chosen := make([]bool, len(t.clusters))
	for c := 1; c < len(chosen); c++ {
		chosen[c] = !t.clusters[c].split
	}
	return chosen
}

// excessOfMass are the clusters with the largest sum of stabilities of which none lies
// in another; of equal sums the one with the larger clusters.
func (t *condensed) excessOfMass() []bool {
	chosen := make([]bool, len(t.clusters))
	within := make([]float64, len(t.clusters)) // the best sum of its parts
	for c := len(t.clusters) - 1; c > 0; c-- {
		v := &t.clusters[c]
		chosen[c] = !v.split || within[c] <= v.stability
		if chosen[c] {
			within[c] = v.stability
		}
		within[v.parent] += within[c]
	}
	return t.outermost(chosen)
}

// outermost leaves out those that lie in others.
func (t *condensed) outermost(chosen []bool) []bool {
	inside := make([]bool, len(chosen))
	for c := 1; c < len(chosen); c++ {
		parent := t.clusters[c].parent
		if inside[c] = chosen[parent] || inside[parent]; inside[c] {
			chosen[c] = false
		}
	}
	return chosen
}

// above replaces chosen clusters that split off below the distance epsilon by the
// first around them that did not, or the outermost.
func (t *condensed) above(chosen []bool, epsilon float64) []bool {
	out := make([]bool, len(chosen))
	for c := range chosen {
		if !chosen[c] {
			continue
		}
		at := int32(c)
		for t.clusters[at].birth*epsilon > 1 && t.clusters[at].parent > 0 {
			at = t.clusters[at].parent
		}
		out[at] = true
	}
	return t.outermost(out)
}

// result gives rows the chosen cluster that they are in.
func (t *condensed) result(chosen []bool) *Result {
	in := make([]int32, len(chosen)) // the chosen cluster around each, or -1
	for c := range chosen {
		switch {
		case chosen[c]:
			in[c] = int32(c)
		case c == 0:
			in[c] = -1
		default:
			in[c] = in[t.clusters[c].parent]
		}
	}
	r := &Result{Labels: make([]int32, len(t.of)), Probabilities: make([]float64, len(t.of))}
	for i, c := range t.of {
		c = in[c]
		r.Labels[i] = c
		if c < 0 {
			r.Noise++
			continue
		}
		r.Probabilities[i] = 1
		if longest := t.clusters[c].longest; t.left[i] < longest {
			r.Probabilities[i] = t.left[i] / longest
		}
	}
	r.Sizes = cluster.Numbered(r.Labels, len(chosen))
	return r
}
