// Package sharded is a network whose training batches are dealt to shards, and the shards
// to processes, the ranks. The number of shards decides the bits of a run; the number of
// ranks, and of threads, does not.
//
// Each rank embeds the rows of its shards; the embeddings of all rows are gathered in
// row order, so that every rank mines, and takes the loss of, the whole batch. Backward
// passes go through own rows. A shard's gradient is taken alone, and the gradients are
// added, never averaged, by the fixed binary tree over shard indices: within a rank by
// nn.Model.Deal, its upper levels here.
package sharded

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/pages"
	"tercet/internal/ranks"
)

// Model is the network as attacks, defenses and the training loop see it: of the whole
// batch.
type Model struct {
	*nn.Model
	shards     int
	statistics nn.Statistics
	comm       ranks.Comm // nil: one rank
	rank, size int

	roles int      // of the next batch
	raw   [][2]int // rows of the next batch that keep their length

	// of the last batch
	small  bool     // it is not dealt: every rank has all of it
	rows   int      // of the batch
	places [][]span // rows of each rank
	own    int      // rows of this rank
	bounds []int

	x, z, dz, dx *array.Array // own rows, in the order of the shards; gathered ones
	xView, dView array.Array  // own rows where they are in one piece
	sent, got    []float32
	got64        []float64
	flat, pieces []float32 // gradients end to end, and what other ranks sent of them
}

// New returns the network m with so many shards, a power of two. comm connects the ranks,
// which must divide the shards; it is nil where there is one. With several, the
// gradients of m are moved to one slice.
func New(m *nn.Model, shards int, statistics nn.Statistics, comm ranks.Comm) (*Model, error) {
	s := &Model{Model: m, shards: shards, statistics: statistics, comm: comm, size: 1}
	if comm != nil {
		s.rank, s.size = comm.Rank(), comm.Size()
	}
	if shards < 1 || shards&(shards-1) != 0 {
		return nil, fmt.Errorf("%d shards are not a power of two", shards)
	}
	if shards%s.size != 0 {
		return nil, fmt.Errorf("%d ranks do not divide the %d shards of a batch", s.size, shards)
	}
	if s.size > 1 {
		s.gatherGradients()
	} else {
		s.comm = nil
	}
	s.places = make([][]span, s.size)
	return s, nil
}

// Roles says that the rows of the next batch are so many runs of equal length, where
// row i of each belongs to tuple i: the shards then have whole tuples.
func (m *Model) Roles(n int) { m.roles = n }

// LeaveRaw is nn.Model.LeaveRaw for rows of the whole batch.
func (m *Model) LeaveRaw(rows ...[2]int) { m.raw = append(m.raw[:0], rows...) }

// CheckBatch is nn.Model.CheckBatch for the whole batch.
func (m *Model) CheckBatch(x *array.Array, mode nn.Mode) error { return m.Model.CheckBatch(x, mode) }

// deal plans a pass of n rows.
func (m *Model) deal(n int) {
	least := 1
	if m.statistics == nn.OfShard {
		least = 2
	}
	d, ok := deal(n, m.roles, m.shards, least)
	m.roles, m.rows, m.small = 0, n, !ok
	if m.small {
		m.Model.Deal(nn.Deal{})
		return
	}
	each := m.shards / m.size
	for r := range m.places {
		bounds := m.bounds[:0]
		m.places[r], bounds = d.rank(r*each, (r+1)*each, m.places[r][:0], bounds)
		if r == m.rank {
			m.own = length(m.places[r])
			m.Model.Deal(nn.Deal{Bounds: append([]int(nil), bounds...), Rows: n, Statistics: m.statistics, Gather: m.gatherSums()})
		}
		m.bounds = bounds
	}
}

// gatherSums is nn.Deal's Gather.
func (m *Model) gatherSums() func([]float64) []float64 {
	if m.comm == nil {
		return nil
	}
	return func(own []float64) []float64 {
		if n := len(own) * m.size; cap(m.got64) < n {
			m.got64 = make([]float64, n)
		}
		all := m.got64[:len(own)*m.size]
		m.comm.Allgather(ranks.Bytes(own), ranks.Bytes(all))
		return all
	}
}

// Embed returns the embeddings of all rows, in their order.
func (m *Model) Embed(x *array.Array, mode nn.Mode) *array.Array {
	m.deal(x.Rows())
	defer func() { m.raw = m.raw[:0] }()
	if m.small {
		m.Model.LeaveRaw(m.raw...)
		return m.Model.Embed(x, mode)
	}
	m.leaveRaw()
	return m.collect(&m.z, m.Model.Embed(m.pick(&m.x, &m.xView, x), mode))
}

// leaveRaw passes on which own rows keep their length.
func (m *Model) leaveRaw() {
	if len(m.raw) == 0 {
		return
	}
	var list [][2]int
	at := 0
	for _, s := range m.places[m.rank] {
		for _, r := range m.raw {
			if lo, hi := max(s.lo, r[0]), min(s.hi, r[1]); lo < hi {
				list = append(list, [2]int{at + lo - s.lo, at + hi - s.lo})
			}
		}
		at += s.hi - s.lo
	}
	m.Model.LeaveRaw(list...)
}

// Backward takes the gradient of all rows of the last Embed. The parameters' gradients,
// which must be 0 before, become those of the whole batch on every rank; the gradients of
// the images are those of all rows.
func (m *Model) Backward(dz *array.Array, need nn.Need) *array.Array {
	if m.small { // each rank takes all of it
		return m.Model.Backward(dz, need)
	}
	dx := m.Model.Backward(m.pick(&m.dz, &m.dView, dz), need)
	if need&nn.Weights != 0 && m.comm != nil {
		m.sum()
	}
	if need&nn.Input == 0 {
		return nil
	}
	return m.collect(&m.dx, dx)
}

// pick returns own rows of the batch a, in the order of the shards: in view where
// they are in one piece, else in to.
func (m *Model) pick(to **array.Array, view, a *array.Array) *array.Array {
	own, row := m.places[m.rank], len(a.Data)/a.Rows()
	if whole(own, m.rows) {
		return a
	}
	at := own[0].lo
	if whole(shifted(own, -at), m.own) {
		return header(view, a, a.Data[at*row:(at+m.own)*row], m.own)
	}
	out := sized(to, a, m.own)
	at = 0
	for _, s := range own {
		at += copy(out.Data[at:], a.Data[s.lo*row:s.hi*row])
	}
	return out
}

// collect returns the rows of all ranks in row order, given own rows.
func (m *Model) collect(to **array.Array, mine *array.Array) *array.Array {
	if m.size == 1 && whole(m.places[0], m.rows) {
		return mine
	}
	row := len(mine.Data) / mine.Rows()
	all, most := mine.Data, 0
	if m.size > 1 {
		for _, p := range m.places {
			most = max(most, length(p)*row)
		}
		m.sent, m.got = grown(m.sent, most), grown(m.got, most*m.size)
		copy(m.sent, mine.Data)
		m.comm.Allgather(ranks.Bytes(m.sent), ranks.Bytes(m.got))
		all = m.got
	}
	out := sized(to, mine, m.rows)
	for r, p := range m.places {
		at := r * most
		for _, s := range p {
			at += copy(out.Data[s.lo*row:s.hi*row], all[at:])
		}
	}
	return out
}

func shifted(list []span, by int) []span {
	out := make([]span, len(list))
	for i, s := range list {
		out[i] = span{s.lo + by, s.hi + by}
	}
	return out
}

// header makes *h an array of n rows like those of a, on data.
func header(h *array.Array, a *array.Array, data []float32, n int) *array.Array {
	h.Data, h.Shape = data, append(h.Shape[:0], a.Shape...)
	h.Shape[0] = n
	return h
}

// sized returns *to as an array of n rows like those of a.
func sized(to **array.Array, a *array.Array, n int) *array.Array {
	if *to == nil {
		*to = &array.Array{}
	}
	return header(*to, a, grown((*to).Data, n*(len(a.Data)/a.Rows())), n)
}

func grown(x []float32, n int) []float32 {
	if cap(x) < n {
		return pages.Make[float32](n)
	}
	return x[:n]
}
