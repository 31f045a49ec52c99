package factored

import (
	"cmp"
	"context"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// exchanger improves pairs of clusters, and clusters and new ones, by series
// of moves (chain). All are looked at on all threads with the clusters as
// they are; then those that gain most are done, each cluster once, and those near
// them are looked at again.
type exchanger struct {
	s      *state
	order  []int32
	jobs   []exchange
	touch  []bool
	loss   []float64 // (n) what each node loses by leaving its cluster
	near   []leaving // (k)
	chains par.Free[chain]
}

// leaving is the nodes of a cluster that are nearest to leaving it.
type leaving struct {
	nodes []int32
	most  float64 // largest cost between two of them
}

type exchange struct {
	a, b int32 // b = -1: a new cluster
	gain float64
	list []int32
}

// run exchanges nodes along the pairs of each node's cluster and the best other one,
// until nothing gains or rounds are over. It returns the number of exchanges.
func (x *exchanger) run(ctx context.Context, m *mover, rounds int) (done int, err error) {
	s := x.s
	x.list(m)
	for range rounds {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if len(x.jobs) == 0 {
			break
		}
		par.Do(len(x.jobs), 1, x)
		slices.SortFunc(x.jobs, func(a, b exchange) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
		})
		x.touch = zero(x.touch, len(s.size))
		for _, j := range x.jobs {
			if j.gain <= s.least(j.a) {
				break
			}
			if x.touch[j.a] || j.b >= 0 && x.touch[j.b] {
				continue
			}
			x.touch[j.a] = true
			if j.b >= 0 {
				x.touch[j.b] = true
			}
			x.apply(j)
			done++
		}
		x.again()
	}
	for c := range s.fresh {
		s.fresh[c] &^= unpaired
	}
	return done, nil
}

// list makes jobs of all pairs that occur and of all clusters, if changed and if the
// nodes that are nearest to leaving them leave a series a chance.
func (x *exchanger) list(m *mover) {
	s := x.s
	k := len(s.size)
	x.nearest(m)
	pairs := make([]uint64, 0, len(m.other))
	for i, o := range m.other {
		if l := s.labels[i]; o >= 0 && o != l && (s.fresh[l]|s.fresh[o])&unpaired != 0 {
			pairs = append(pairs, uint64(min(l, o))<<32|uint64(max(l, o)))
		}
	}
	slices.Sort(pairs)
	x.jobs = x.jobs[:0]
	for i, p := range pairs {
		a, b := int32(p>>32), int32(uint32(p))
		if (i == 0 || p != pairs[i-1]) && x.hope(a, b) {
			x.jobs = append(x.jobs, exchange{a: a, b: b})
		}
	}
	for c := range int32(k) {
		if s.size[c] > 2 && s.fresh[c]&unpaired != 0 && x.hope(c, -1) {
			x.jobs = append(x.jobs, exchange{a: c, b: -1})
		}
	}
}

// nearest notes for each cluster the nodes that lose least by leaving it, as far as
// the mover knows, and the largest cost between two of these.
func (x *exchanger) nearest(m *mover) {
	s, f := x.s, x.s.f
	k := len(s.size)
	starts := sortByKey(s.labels, k, &x.order)
	x.loss = sized(x.loss, f.n)
	x.near = sized(x.near, k)
	par.Each(k, 4, func(c int) {
		nodes := x.order[starts[c]:starts[c+1]]
		for _, v := range nodes {
			x.loss[v] = max(0, m.slack[v]-m.fall[c]-m.rise)
		}
		slices.SortFunc(nodes, func(a, b int32) int {
			return cmp.Or(cmp.Compare(x.loss[a], x.loss[b]), cmp.Compare(a, b))
		})
		near := &x.near[c]
		near.nodes = nodes[:min(len(nodes), nearGain)]
		near.most = 0
		for i, u := range near.nodes[:min(len(near.nodes), patience)] {
			for _, v := range near.nodes[:i] {
				near.most = max(near.most, f.t-kernel.SquaredDistance(f.row(u), f.row(v)))
			}
		}
	})
}

// nearGain is the most nodes of a cluster that series are made of.
const nearGain = 64

// hope reports whether a series between two clusters could gain, as far as is noted:
// for b = -1 a and a new cluster.
func (x *exchanger) hope(a, b int32) bool {
	var room [patience]float64
	gains := room[:0]
	la, most := x.near[a].nodes, x.near[a].most
	var lb []int32
	if b >= 0 {
		lb, most = x.near[b].nodes, max(most, x.near[b].most)
	}
	for len(gains) < patience && len(la)+len(lb) > 0 {
		if len(lb) == 0 || len(la) > 0 && x.loss[la[0]] <= x.loss[lb[0]] {
			gains, la = append(gains, -x.loss[la[0]]), la[1:]
		} else {
			gains, lb = append(gains, -x.loss[lb[0]]), lb[1:]
		}
	}
	return hope(gains, most)
}

// again keeps the jobs of clusters that changed in this round.
func (x *exchanger) again() {
	s := x.s
	kept := x.jobs[:0]
	for _, j := range x.jobs {
		if (x.touch[j.a] || j.b >= 0 && x.touch[j.b]) && s.size[j.a] > 0 && (j.b < 0 || s.size[j.b] > 0) {
			kept = append(kept, j)
		}
	}
	x.jobs = kept
}

// apply moves the nodes of a job's list to the other side.
func (x *exchanger) apply(j exchange) {
	s := x.s
	to := j.b
	if to < 0 {
		to = s.add()
	}
	for _, v := range j.list {
		if s.labels[v] == j.a {
			s.move(v, to)
		} else {
			s.move(v, j.a)
		}
	}
}

// Run looks at jobs [lo, hi).
func (x *exchanger) Run(lo, hi int) {
	c := x.chains.Get()
	for i := lo; i < hi; i++ {
		j := &x.jobs[i]
		c.nodes, c.side = c.nodes[:0], c.side[:0]
		c.take(x.s, x.near[j.a].nodes, j.a, j.b)
		most := x.near[j.a].most
		if j.b >= 0 {
			c.take(x.s, x.near[j.b].nodes, j.a, j.b)
			most = max(most, x.near[j.b].most)
		}
		j.gain = c.between(x.s, j.a, j.b, most)
		j.list = append(j.list[:0], c.list...)
	}
	x.chains.Put(c)
}
