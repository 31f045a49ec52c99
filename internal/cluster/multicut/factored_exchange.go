package multicut

import (
	"cmp"
	"context"
	"slices"

	"tercet/internal/par"
)

// factoredExchanger improves pairs of clusters, and clusters and new ones, by series
// of moves (factoredChain). All are looked at on all threads with the clusters as
// they are; then those that gain most are done, each cluster once, and those near
// them are looked at again.
type factoredExchanger struct {
	s      *factoredState
	order  []int32
	starts []int
	jobs   []factoredExchange
	touch  []bool
	chains par.Free[factoredChain]
}

type factoredExchange struct {
	a, b int32 // b = -1: a new cluster
	gain float64
	list []int32
}

// run exchanges nodes along the pairs of each node's cluster and the best other one,
// until nothing gains or rounds are over. It returns the number of exchanges.
func (x *factoredExchanger) run(ctx context.Context, other []int32, rounds int) (done int, err error) {
	s := x.s
	x.list(other, len(s.size))
	for range rounds {
		k := len(s.size)
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if len(x.jobs) == 0 {
			break
		}
		x.starts = factoredSort(s.labels, k, &x.order)
		par.Do(len(x.jobs), 1, x)
		slices.SortFunc(x.jobs, func(a, b factoredExchange) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
		})
		x.touch = factoredZero(x.touch, k)
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
		x.again(k)
	}
	for c := range s.fresh {
		s.fresh[c] &^= factoredUnpaired
	}
	return done, nil
}

// list makes jobs of all pairs that occur and of all clusters, if changed.
func (x *factoredExchanger) list(other []int32, k int) {
	s := x.s
	pairs := make([]uint64, 0, len(other))
	for i, o := range other {
		if o >= 0 && o != s.labels[i] {
			a, b := min(s.labels[i], o), max(s.labels[i], o)
			pairs = append(pairs, uint64(a)<<32|uint64(b))
		}
	}
	slices.Sort(pairs)
	x.jobs = x.jobs[:0]
	for i, p := range pairs {
		if (i == 0 || p != pairs[i-1]) && (s.fresh[p>>32]|s.fresh[uint32(p)])&factoredUnpaired != 0 {
			x.jobs = append(x.jobs, factoredExchange{a: int32(p >> 32), b: int32(uint32(p))})
		}
	}
	for c := range int32(k) {
		if s.size[c] > 2 && s.fresh[c]&factoredUnpaired != 0 {
			x.jobs = append(x.jobs, factoredExchange{a: c, b: -1})
		}
	}
}

// again keeps the jobs of clusters that changed in this round.
func (x *factoredExchanger) again(k int) {
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
func (x *factoredExchanger) apply(j factoredExchange) {
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
func (x *factoredExchanger) Run(lo, hi int) {
	c := x.chains.Get()
	for i := lo; i < hi; i++ {
		j := &x.jobs[i]
		inA := x.order[x.starts[j.a]:x.starts[j.a+1]]
		var inB []int32
		if j.b >= 0 {
			inB = x.order[x.starts[j.b]:x.starts[j.b+1]]
		}
		j.gain = c.between(x.s, inA, inB)
		j.list = append(j.list[:0], c.list...)
	}
	x.chains.Put(c)
}
