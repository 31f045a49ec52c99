package multicut

import (
	"context"
	"math"
)

// factoredMover improves a clustering by moving single nodes, to other clusters or to
// new ones of their own. Rounds have two parts: a search proposes a move to each
// node, on all threads; the proposals are then checked and done one after another,
// by float64 costs with the clusters as they are by then.
//
// Nodes that nothing has come near since they were last looked at are left out: what
// a node costs with a cluster changes by at most a known amount for each node that
// joins or leaves it.
type factoredMover struct {
	s      *factoredState
	search factoredSearch
	nodes  []int32   // to look at in this round
	other  []int32   // (n) best other cluster when last looked at, -1: there was none
	slack  []float64 // (n) by how much staying was better then, plus fall and rise as they were
	fall   []float64 // (k) bound of what staying in each cluster has lost by joins and leavings
	rise   float64   // bound of what any other cluster has gained
	gone   []int     // (k) nodes that left each cluster in this round
	come   []int     // (k) nodes that joined it
	founds []int32   // clusters founded in this round
}

func newFactoredMover(s *factoredState) *factoredMover {
	m := &factoredMover{s: s, other: make([]int32, s.f.n), slack: make([]float64, s.f.n)}
	m.forget()
	return m
}

// forget has all nodes looked at again: clusters were joined, split or renumbered.
func (m *factoredMover) forget() {
	for i := range m.slack {
		m.slack[i] = math.Inf(-1)
	}
	m.fall = factoredZero(m.fall, 0)
	m.rise = 0
}

// factoredDoubt is the part of the largest costs that float32 may get wrong: moves
// which seem to lose less are checked.
const factoredDoubt = 0x1p-20

// rounds moves nodes until none gains or most rounds are over, and returns the number
// of moves.
func (m *factoredMover) rounds(ctx context.Context, most int) (moves int, err error) {
	for range most {
		done, err := m.round(ctx)
		moves += done
		if err != nil || done == 0 {
			return moves, err
		}
	}
	return moves, nil
}

func (m *factoredMover) round(ctx context.Context) (moves int, err error) {
	s, f := m.s, m.s.f
	if len(s.free) > 0 {
		s.pack()
		m.forget()
	}
	for len(m.fall) < len(s.size) {
		m.fall = append(m.fall, 0)
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
	m.gone, m.come = factoredZero(m.gone, len(s.size)), factoredZero(m.come, len(s.size))
	m.founds = m.founds[:0]
	for i, v := range m.nodes {
		best, score := m.search.best[i], float64(m.search.score[i])
		stay := float64(m.search.own[i]) - f.t
		own := s.labels[v]
		m.other[v] = best
		if score < 0 {
			best = -1
			if s.size[own] > 1 { // else it is alone already
				score = 0
			}
		}
		m.slack[v] = stay - score + m.fall[own] + m.rise
		doubt := factoredDoubt * (float64(s.size[own])*(f.t+2*f.most) + math.Abs(score))
		if stay-score <= doubt && m.try(v, best) {
			moves++
		}
	}
	m.drift()
	return moves, nil
}

// try moves v to cluster to, or to one founded in this round, or to one of its own,
// whichever gains most, if any does.
func (m *factoredMover) try(v, to int32) bool {
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
		if len(m.founds) < factoredFounds {
			m.founds = append(m.founds, best)
		}
		for len(m.fall) < len(s.size) {
			m.fall, m.gone, m.come = append(m.fall, 0), append(m.gone, 0), append(m.come, 0)
		}
	}
	s.move(v, best)
	m.gone[from]++
	m.come[best]++
	m.slack[v] = math.Inf(-1)
	return true
}

// factoredFounds is the most new clusters of a round that later nodes look at.
const factoredFounds = 32

// least is the gain that a move from a cluster, or a join or split of it, must have,
// well above what float64 sums lose.
func (s *factoredState) least(c int32) float64 {
	return 1e-12*float64(s.size[c]+1)*(s.f.t+s.f.most) + 1e-9*s.f.t
}

// drift raises the bounds by what this round's moves can have changed.
func (m *factoredMover) drift() {
	f := m.s.f
	far := max(0, 4*f.most-f.t) // the most that a pair can cost
	rise := 0.0
	for c := range m.gone {
		gone, come := float64(m.gone[c]), float64(m.come[c])
		m.fall[c] += come*far + gone*f.t
		rise = max(rise, gone*far+come*f.t)
	}
	m.rise += rise
}
