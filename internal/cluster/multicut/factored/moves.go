package factored

import (
	"context"
	"math"
	"slices"

	"tercet/internal/par"
)

// mover improves a clustering by moving single nodes, to other clusters or to
// new ones of their own. Rounds have two parts: a search proposes a move to each
// node, on all threads; the proposals are then checked and done one after another,
// by float64 costs with the clusters as they are by then.
//
// Nodes that nothing has come near since they were last looked at are left out: what
// a node costs with a cluster changes by at most a known amount for each node that
// joins or leaves it.
type mover struct {
	s       *state
	search  search
	nodes   []int32   // to look at in this round
	other   []int32   // (n) best other cluster when last looked at, -1: there was none
	slack   []float64 // (n) by how much staying was better then, at least, plus fall and rise as they were
	fall    []float64 // (k) bound of what staying in each cluster has lost by joins and leavings
	rise    float64   // bound of what any other cluster has gained
	gone    []int     // (k) nodes that left each cluster in this round
	come    []int     // (k) nodes that joined it
	born    []int32   // clusters founded in this round
	joined  []bool    // (k) nodes that were alone and are no longer
	founds  []int32   // the first of these, which later nodes look at
	changed []int32   // clusters that others changed
}

func newMover(s *state) *mover {
	m := &mover{s: s, other: make([]int32, s.f.n), slack: make([]float64, s.f.n)}
	s.renumbered = m.renumber
	m.forget()
	return m
}

// renumber follows the clusters' new numbers, of which there are k. Nodes whose best
// other cluster is no more are left with any other one.
func (m *mover) renumber(to []int32, k int) {
	for len(m.fall) < len(to) {
		m.fall = append(m.fall, 0)
	}
	for c, at := range to {
		m.fall[at] = m.fall[c]
	}
	m.fall = m.fall[:k]
	for i, c := range m.other {
		if c >= 0 {
			m.other[i] = min(to[c], int32(k-1))
		}
	}
}

// forget has all nodes looked at again.
func (m *mover) forget() {
	for i := range m.slack {
		m.slack[i], m.other[i] = math.Inf(-1), -1
	}
	m.fall = zero(m.fall, 0)
	m.rise = 0
}

// doubt is the part of the largest costs that float32 may get wrong: moves
// which seem to lose less are checked.
const doubt = 0x1p-20

// rounds moves nodes until none gains or most rounds are over, and returns the number
// of moves.
func (m *mover) rounds(ctx context.Context, most int) (moves int, err error) {
	for range most {
		done, err := m.round(ctx)
		moves += done
		if err != nil || done == 0 {
			return moves, err
		}
	}
	return moves, nil
}

func (m *mover) round(ctx context.Context) (moves int, err error) {
	s, f := m.s, m.s.f
	s.pack()
	for len(m.fall) < len(s.size) {
		m.fall = append(m.fall, 0)
	}
	if err := m.see(ctx); err != nil {
		return 0, err
	}
	m.nodes = m.nodes[:0]
	for i, v := range m.slack {
		if v <= m.fall[s.labels[i]]+m.rise {
			m.nodes = append(m.nodes, int32(i))
		}
	}
	if len(m.nodes) == 0 {
		return 0, nil
	}
	m.search.prepare(s)
	if err := m.search.run(ctx, m.nodes, nil); err != nil {
		return 0, err
	}
	m.gone, m.come = zero(m.gone, len(s.size)), zero(m.come, len(s.size))
	m.joined = zero(m.joined, len(s.size))
	m.founds, m.born = m.founds[:0], m.born[:0]
	for i, v := range m.nodes {
		best, score := m.search.best[i], float64(m.search.score[i])
		stay := float64(m.search.own[i]) - f.t
		own := s.labels[v]
		m.other[v] = best
		if score < 0 && s.size[own] > 1 { // else it is alone already
			score = 0
		}
		lead := stay - score - m.doubt(own, best, score)
		m.slack[v] = lead + m.fall[own] + m.rise
		if lead <= 0 && m.try(v, best) {
			moves++
		}
	}
	m.drift()
	m.meet()
	for c := range s.fresh {
		s.fresh[c] &^= unseen
	}
	for _, c := range m.born {
		s.fresh[c] |= unseen
	}
	return moves, nil
}

// see makes up for changes that others made. The nodes of changed clusters are
// looked at again, and so are those of other clusters if one of the changed ones has
// come near: they are compared with these alone, or looked at again as well where
// these are many.
func (m *mover) see(ctx context.Context) error {
	s := m.s
	m.changed = m.changed[:0]
	for c, v := range s.fresh {
		if v&unseen != 0 {
			m.changed = append(m.changed, int32(c))
		}
	}
	if len(m.changed) == 0 {
		return nil
	}
	if 3*len(m.changed) > len(s.size) || float64(s.f.n)*float64(len(m.changed))*float64(s.f.d) > exact {
		m.forget()
		m.fall = zero(m.fall, len(s.size))
		return nil
	}
	m.nodes = m.nodes[:0]
	for i, c := range s.labels {
		if s.fresh[c]&unseen != 0 {
			m.slack[i] = math.Inf(-1)
		} else if m.slack[i] > m.fall[c]+m.rise {
			m.nodes = append(m.nodes, int32(i))
		}
	}
	if len(m.nodes) == 0 {
		return nil
	}
	if err := m.search.runSome(ctx, s, m.nodes, m.changed); err != nil {
		return err
	}
	par.Each(len(m.nodes), task, func(i int) {
		v := m.nodes[i]
		own := s.labels[v]
		best, score := m.search.best[i], float64(m.search.score[i])
		left := s.own(v) - score - m.doubt(own, best, score) + m.fall[own] + m.rise
		if left < m.slack[v] {
			m.slack[v], m.other[v] = left, best
		}
	})
	return nil
}

// doubt is what float32 may get wrong of the difference of the scores with two
// clusters, of which other may be none: terms of the size of the larger one cancel.
func (m *mover) doubt(own, other int32, score float64) float64 {
	f := m.s.f
	n := m.s.size[own]
	if other >= 0 {
		n = max(n, m.s.size[other])
	}
	return float64(doubt * (float64(float64(n)*(f.t+float64(2*f.most))) + math.Abs(score)))
}

// try moves v to cluster to, or to one founded in this round, or to one of its own,
// whichever gains most, if any does.
func (m *mover) try(v, to int32) bool {
	s := m.s
	from := s.labels[v]
	stay := s.own(v)
	gain := -stay
	if s.size[from] == 1 {
		gain = 0
	}
	best := int32(-1)
	look := func(c int32) {
		if c != from && s.size[c] > 0 {
			if g := s.score(v, c) - stay; g > gain {
				best, gain = c, g
			}
		}
	}
	if to >= 0 {
		look(to)
	}
	for _, c := range m.founds {
		look(c)
	}
	if gain <= s.least(from) {
		return false
	}
	if best < 0 {
		best = s.add()
		m.born = append(m.born, best)
		if len(m.founds) < founds {
			m.founds = append(m.founds, best)
		}
		for len(m.fall) < len(s.size) {
			m.fall, m.gone, m.come = append(m.fall, 0), append(m.gone, 0), append(m.come, 0)
		}
	}
	if int(best) < len(m.joined) && s.size[best] == 1 {
		m.joined[best] = true
	}
	s.move(v, best)
	m.gone[from]++
	m.come[best]++
	m.slack[v] = math.Inf(-1)
	return true
}

// founds is the most new clusters of a round that later nodes look at.
const founds = 32

// least is the gain that a move from a cluster, or a join or split of it, must have,
// well above what float64 sums lose.
func (s *state) least(c int32) float64 {
	return float64(1e-12*float64(s.size[c]+1)*(s.f.t+s.f.most)) + float64(1e-9*s.f.t)
}

// meet has those nodes looked at again that were alone, for which being so again was
// no move and is not in slack.
func (m *mover) meet() {
	if !slices.Contains(m.joined, true) {
		return
	}
	for i, c := range m.s.labels {
		if int(c) < len(m.joined) && m.joined[c] {
			m.slack[i] = math.Inf(-1)
		}
	}
}

// drift raises the bounds by what this round's moves can have changed.
func (m *mover) drift() {
	f := m.s.f
	far := max(0, float64(4*f.most)-f.t) // the most that a pair can cost
	rise := 0.0
	for c := range m.gone {
		gone, come := float64(m.gone[c]), float64(m.come[c])
		m.fall[c] += float64(come*far) + float64(gone*f.t)
		rise = max(rise, float64(gone*far)+float64(come*f.t))
	}
	m.rise += rise
}
