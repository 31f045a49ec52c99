package factored

import (
	"cmp"
	"context"
	"slices"
)

// joiner joins whole clusters while that gains, the pairs of the largest
// gain first, as GAEC does, but several in a round: disjoint pairs that gain at least
// half of what the best one does, or all where they are many.
type joiner struct {
	s      *state
	search search
	best   []int32   // (k) the cluster that each had best join, -1: none
	gain   []float64 // (k) by that
	into   []int32   // (k) the cluster that it was joined to, itself if none
	touch  []bool    // (k) joined in this round
	look   []int32   // clusters to search for
	pairs  []pair
}

type pair struct {
	gain float64
	a, b int32
}

// run joins clusters until no join gains and returns the number of joins.
func (j *joiner) run(ctx context.Context) (joins int, err error) {
	s := j.s
	k := s.pack()
	j.best, j.gain, j.into, j.touch = sized(j.best, k), sized(j.gain, k), sized(j.into, k), zero(j.touch, k)
	j.look = j.look[:0]
	for c := range int32(k) {
		j.into[c] = c
		j.best[c] = -1
		j.look = append(j.look, c)
	}
	for len(j.look) > 0 {
		if err = j.find(ctx); err != nil {
			break
		}
		joins += j.match()
		if len(s.free) > len(s.size)/4 {
			j.pack()
		}
	}
	j.pack()
	return joins, err
}

// pack gives the nodes of joined clusters their labels and renumbers all clusters.
func (j *joiner) pack() {
	s := j.s
	for i, l := range s.labels {
		for j.into[l] != l {
			l = j.into[l]
		}
		s.labels[i] = l
	}
	to := make([]int32, len(s.size))
	k := int32(0)
	for c, n := range s.size {
		to[c] = k
		if n > 0 {
			k++
		}
	}
	for c, n := range s.size {
		if n > 0 {
			at := to[c]
			j.gain[at], j.into[at], j.best[at] = j.gain[c], at, j.best[c]
			if o := j.best[c]; o >= 0 && s.size[o] > 0 {
				j.best[at] = to[o]
			}
		}
	}
	for i, c := range j.look {
		j.look[i] = to[c]
	}
	s.pack()
	j.best, j.gain, j.into = j.best[:k], j.gain[:k], j.into[:k]
}

// find looks for the best partner of each cluster of look.
func (j *joiner) find(ctx context.Context) error {
	s := j.s
	j.search.prepare(s)
	if err := j.search.run(ctx, nil, j.look); err != nil {
		return err
	}
	for i, c := range j.look {
		j.best[c] = -1
		o := j.search.best[i]
		if o < 0 || s.size[o] == 0 {
			continue
		}
		doubt := doubt * float64(s.size[c]) * float64(s.size[o]) * (s.f.t + 2*s.f.most)
		if float64(j.search.score[i]) < -doubt {
			continue
		}
		if g := s.between(c, o); g > s.least(c)+s.least(o) {
			j.best[c], j.gain[c] = o, g
		}
	}
	return nil
}

// match joins pairs by falling gain and lists the clusters whose partner has to be
// looked for again.
func (j *joiner) match() (joins int) {
	s := j.s
	j.pairs = j.pairs[:0]
	for c, o := range j.best {
		if o >= 0 && j.into[c] == int32(c) {
			j.pairs = append(j.pairs, pair{j.gain[c], min(int32(c), o), max(int32(c), o)})
		}
	}
	slices.SortFunc(j.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
	})
	clear(j.touch)
	many := len(j.pairs) > many
	for _, p := range j.pairs {
		if !many && p.gain < j.pairs[0].gain/2 {
			break
		}
		a, b := p.a, p.b
		if j.touch[a] || j.touch[b] {
			if !many {
				continue
			}
			for j.into[a] != a {
				a = j.into[a]
			}
			for j.into[b] != b {
				b = j.into[b]
			}
			if a == b || s.between(a, b) <= s.least(a)+s.least(b) {
				continue
			}
		}
		j.touch[a], j.touch[b] = true, true
		s.merge(a, b)
		j.into[b], j.best[b] = a, -1
		joins++
	}
	j.look = j.look[:0]
	for c := range j.into {
		if j.into[c] != int32(c) {
			continue
		}
		if o := j.best[c]; j.touch[c] || o >= 0 && j.touch[o] {
			j.look = append(j.look, int32(c))
		}
	}
	return joins
}

// many is the number of pairs from which on a round joins all, also several
// into one, where each still gains when its turn comes.
const many = 256

// merge adds the sums of cluster b to those of a and frees b. Labels stay.
func (s *state) merge(a, b int32) {
	sa, sb := s.of(a), s.of(b)
	for i, v := range sb {
		sa[i] += v
	}
	s.square[a] += s.square[b]
	s.size[a] += s.size[b]
	s.size[b] = 0
	s.fresh[a] = fresh
	s.release(b)
}
