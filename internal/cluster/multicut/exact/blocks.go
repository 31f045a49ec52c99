package exact

// split returns the nodes of the biconnected blocks of what is left: two blocks share
// one node at most, so that any clusterings of theirs fit together (Hopcroft and
// Tarjan 1973). Nodes without edges are in none.
func (p *piece) split() [][]int32 {
	order := make([]int32, p.n) // of discovery, from 1
	low := make([]int32, p.n)
	var blocks [][]int32
	type frame struct {
		v, parent int32
		next      int
	}
	var frames []frame
	var open []int32 // nodes not yet in a block with their parent
	count := int32(0)
	visit := func(v, parent int32) {
		count++
		order[v], low[v] = count, count
		frames = append(frames, frame{v, parent, 0})
		open = append(open, v)
	}
	for s := range int32(p.n) {
		if order[s] > 0 || len(p.adj[s]) == 0 {
			continue
		}
		visit(s, -1)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.next < len(p.adj[f.v]) {
				to := p.adj[f.v][f.next].to
				f.next++
				if order[to] == 0 {
					visit(to, f.v)
				} else if to != f.parent {
					low[f.v] = min(low[f.v], order[to])
				}
				continue
			}
			v, u := f.v, f.parent
			frames = frames[:len(frames)-1]
			if u < 0 {
				continue
			}
			low[u] = min(low[u], low[v])
			if low[v] < order[u] {
				continue
			}
			// Nothing below v reaches above u: they are a block.
			block := []int32{u}
			for {
				w := open[len(open)-1]
				open = open[:len(open)-1]
				block = append(block, w)
				if w == v {
					break
				}
			}
			blocks = append(blocks, block)
		}
		open = open[:0]
	}
	return blocks
}
