package multicut

// klClusters are the clusters of a search. Numbers of clusters that run empty are
// used again.
type klClusters struct {
	label   []int32
	groups  [][]int32 // nodes of each cluster
	place   []int32   // of each node in its group
	own     []float64 // of each node: sum of its costs with its cluster
	changed []int32   // round of each cluster's last change
	whole   []bool    // clusters that may come apart: no split was tried since the last change
	free    []int32   // numbers of clusters that are empty, to be looked at again
}

func newKLClusters(labels []int32) *klClusters {
	n := len(labels)
	p := &klClusters{label: make([]int32, n), place: make([]int32, n), own: make([]float64, n)}
	copy(p.label, labels)
	room := make([]int32, n) // for the nodes of all clusters as they are
	for _, size := range Renumber(p.label) {
		p.groups[p.add()], room = room[:0:size], room[size:]
	}
	for i, l := range p.label {
		p.put(int32(i), l)
	}
	return p
}

// add appends an empty cluster.
func (p *klClusters) add() int32 {
	p.groups, p.changed, p.whole = append(p.groups, nil), append(p.changed, 0), append(p.whole, true)
	return int32(len(p.groups) - 1)
}

// empty returns an empty cluster.
func (p *klClusters) empty() int32 {
	for len(p.free) > 0 {
		a := p.free[len(p.free)-1]
		if len(p.groups[a]) == 0 {
			return a
		}
		p.free = p.free[:len(p.free)-1]
	}
	a := p.add()
	p.free = append(p.free, a)
	return a
}

// touch notes that a cluster has changed.
func (p *klClusters) touch(a, round int32) {
	p.changed[a], p.whole[a] = round, true
	if len(p.groups[a]) == 0 {
		p.free = append(p.free, a)
	}
}

// put enters a node that is in no group into a cluster.
func (p *klClusters) put(v, a int32) {
	p.label[v], p.place[v] = a, int32(len(p.groups[a]))
	p.groups[a] = append(p.groups[a], v)
}

// move puts a node into another cluster. The sums own are the caller's.
func (p *klClusters) move(v, to int32) {
	group := p.groups[p.label[v]]
	last := group[len(group)-1]
	group[p.place[v]], p.place[last] = last, p.place[v]
	p.groups[p.label[v]] = group[:len(group)-1]
	p.put(v, to)
}

// reset makes labels, of numbers in use, the clusters, as if none had changed. The
// sums own are the caller's.
func (p *klClusters) reset(labels []int32) {
	p.free = p.free[:0]
	for a := range p.groups {
		p.groups[a], p.changed[a], p.whole[a] = p.groups[a][:0], 0, false
	}
	for v, l := range labels {
		p.put(int32(v), l)
	}
	for a, group := range p.groups {
		if len(group) == 0 {
			p.free = append(p.free, int32(a))
		}
	}
}
