package factored

import (
	"context"

	"tercet/internal/par"
)

// splitter divides clusters in two where that gains. A partition of a
// cluster into more parts that gains has a division in two that does: the costs cut
// by dividing off each part in turn add up to twice those between the parts.
type splitter struct {
	s       *state
	order   []int32 // nodes by cluster
	side    []bool  // of each place of order
	spare   []int32
	scratch par.Free[halves]
	sets    []set // to divide in this round
}

// set is a range of order.
type set struct {
	lo, hi, depth int
	middle        int // after a division: where the second half begins; lo or hi: undivided
}

// run tries each cluster that changed since the last time, and its halves, and
// returns the number of divisions.
func (p *splitter) run(ctx context.Context) (splits int, err error) {
	s := p.s
	k := s.pack()
	starts := sortByKey(s.labels, k, &p.order)
	p.side, p.spare = sized(p.side, len(p.order)), sized(p.spare, len(p.order))
	p.sets = p.sets[:0]
	for c := range k {
		if s.fresh[c]&unsplit != 0 && s.size[c] > 1 {
			p.sets = append(p.sets, set{lo: starts[c], hi: starts[c+1]})
		}
		s.fresh[c] &^= unsplit
	}
	var next []set
	for len(p.sets) > 0 {
		if err := ctx.Err(); err != nil {
			return splits, err
		}
		par.Do(len(p.sets), 1, p)
		next = next[:0]
		for _, t := range p.sets {
			if t.middle <= t.lo || t.middle >= t.hi {
				continue
			}
			splits++
			p.divide(t)
			if t.depth < depth {
				for _, half := range [2]set{{lo: t.lo, hi: t.middle, depth: t.depth + 1}, {lo: t.middle, hi: t.hi, depth: t.depth + 1}} {
					if half.hi-half.lo > 1 {
						next = append(next, half)
					}
				}
			}
		}
		p.sets, next = next, p.sets
	}
	return splits, nil
}

// depth is how often a set may be divided in one run: balanced halves need
// far less, and where single nodes come off one by one, moves do that faster.
const depth = 64

// divide makes the second half of a set a cluster of its own.
func (p *splitter) divide(t set) {
	s := p.s
	to := s.add()
	from := s.labels[p.order[t.lo]]
	for _, v := range p.order[t.middle:t.hi] {
		s.move(v, to)
	}
	if t.depth < depth { // both halves are tried in this run
		s.fresh[from] &^= unsplit
		s.fresh[to] &^= unsplit
	}
}

// Run divides sets [lo, hi).
func (p *splitter) Run(lo, hi int) {
	h := p.scratch.Get()
	h.f = p.s
	for i := lo; i < hi; i++ {
		t := &p.sets[i]
		t.middle = t.lo
		h.nodes, h.side = p.order[t.lo:t.hi], p.side[t.lo:t.hi]
		least := p.s.least(p.s.labels[h.nodes[0]])
		h.principal()
		if h.start(); h.settle() <= least {
			h.farthest()
			if h.start(); h.settle() <= least {
				continue
			}
		}
		// Nodes of side 0 first, in their order.
		at, rest := t.lo, p.spare[t.lo:t.lo]
		for j, v := range h.nodes {
			if h.side[j] {
				rest = append(rest, v)
			} else {
				p.order[at] = v
				at++
			}
		}
		copy(p.order[at:t.hi], rest)
		t.middle = at
	}
	h.nodes, h.side = nil, nil
	p.scratch.Put(h)
}
