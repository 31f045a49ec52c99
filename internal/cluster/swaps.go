package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tercet/internal/par"
)

// swaps are the moves that Lloyd's algorithm cannot make: of two centers that share a
// group one goes where two groups share one. Starts that ended with such a fault are
// the usual reason why k-means misses its optimum.
//
// To take center c away costs what its rows lose by joining the clusters of their
// second nearest centers; to split a cluster in two, along its principal direction and
// by a few steps of 2-means, gains a sum as well known. Where the best gain exceeds the least cost, the swap
// is made and Lloyd's algorithm continues from there. (Local search by swaps: Kanungo et
// al. 2004; the choice of the pair is ours.)
type swaps struct {
	l      *lloyd
	rows   []int32     // by cluster
	start  []int       // (k+1)
	second []int32     // of each row: the center that is the second nearest
	cost   []float64   // of taking each center away
	gain   []float64   // of splitting each cluster
	halves [][]float64 // (2d) of each cluster: the centers of its halves
	sum    []float64   // (k, d): of its rows
	spare  par.Free[swapScratch]
}

const (
	swapLeast   = 1e-6 // of the inertia: smaller gains are left
	swapPower   = 4    // steps to the principal direction
	swapLloyd   = 6    // steps of 2-means
	swapSample  = 1024 // rows that these look at, but the last step
	swapPairs   = 16   // clusters that are cheapest to take away, and best to split, that pairs are made of
	swapChances = 3    // single swaps tried where several at once do not help
	swapHope    = .9   // of a cost that exceeds the gain: what Lloyd's algorithm may win back
	swapSure    = 2e-3 // of the inertia: a gain that is worth its iterations, however many
	swapMeasure = 3    // iterations that it takes to find swaps, about
	swapFree    = 1e8  // products that swaps may take in any case
	swapShare   = 4    // of the iterations of all starts, one in so many is for swaps of the best
)

// budget is the number of iterations that swaps may take beyond those that are worth it:
// on rows without groups each costs many and gains little.
type budget struct{ left, free int }

// budget returns that of the best of several starts, which took so many iterations in
// all. What is free of it is for the next best ones too.
func (p *points) budget(k, iterations int) *budget {
	free := swapFree / (p.n * p.d * k)
	return &budget{max(free, iterations/swapShare), free}
}

// improve makes swaps as long as they lower the inertia and the budget allows, and
// returns the inertia then. most and tolerance are those of iterate.
func (l *lloyd) improve(ctx context.Context, inertia float64, most int, tolerance float64, b *budget) (float64, error) {
	if l.k < 2 || l.k == l.data.n || !l.converged {
		return inertia, nil
	}
	s := newSwaps(l)
	var old ending
	old.keep(l)
	for better := true; better; {
		better = false
		b.left -= swapMeasure
		for _, t := range s.best(swapLeast * inertia) {
			if b.left <= 0 && t.gain < swapSure*inertia {
				continue
			}
			s.make(t.pairs)
			if err := iterate(ctx, []*lloyd{l}, most, tolerance, func(int, int) {}); err != nil {
				return 0, err
			}
			b.left -= l.iterations
			l.iterations += old.iterations
			if v := l.inertia(); v < inertia*(1-swapLeast/2) {
				inertia, better = v, true
				old.keep(l)
				break
			}
			l.restore(&old)
		}
	}
	return inertia, nil
}

func newSwaps(l *lloyd) *swaps {
	n, d := l.data.n, l.data.d
	s := &swaps{l: l, rows: make([]int32, n), start: make([]int, l.k+1), second: make([]int32, n), cost: make([]float64, l.k), sum: make([]float64, l.k*d), gain: make([]float64, l.k), halves: make([][]float64, l.k)}
	for c := range s.halves {
		s.halves[c] = make([]float64, 2*d)
	}
	return s
}

// pair is a swap: the center of from goes to one half of the cluster at to.
type pair struct {
	from, to int
	gain     float64
}

// measure fills gain and cost.
func (s *swaps) measure() {
	l := s.l
	s.sort()
	s.seconds()
	par.Each(l.k, 1, func(c int) {
		s.total(c)
	})
	par.Each(l.k, 1, func(c int) {
		s.gain[c], s.cost[c] = s.split(c), s.remove(c)
	})
}

// attempt is a set of swaps to be made at once.
type attempt struct {
	pairs []pair
	gain  float64
}

// best returns what to try: all swaps at once that gain more than least and do not
// meet, then the best ones alone.
func (s *swaps) best(least float64) []attempt {
	s.measure()
	from, to := order(s.cost, 1), order(s.gain, -1)
	var found []pair
	for _, f := range from[:min(len(from), swapPairs)] {
		for _, t := range to[:min(len(to), swapPairs)] {
			v := s.gain[t] - s.cost[f]
			if f != t && v > -swapHope*s.cost[f] {
				found = append(found, pair{f, t, v})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b pair) int { return cmp.Compare(b.gain, a.gain) })
	var together attempt
	used := map[int]bool{}
	for _, p := range found {
		near := used[p.from] || used[p.to]
		for _, i := range s.rows[s.start[p.from]:s.start[p.from+1]] {
			near = near || used[int(s.second[i])]
		}
		if !near && p.gain > least {
			used[p.from], used[p.to] = true, true
			together.pairs = append(together.pairs, p)
			together.gain += p.gain
		}
	}
	var tries []attempt
	if len(together.pairs) > 1 {
		tries = append(tries, together)
	}
	for i := range min(len(found), swapChances) {
		tries = append(tries, attempt{found[i : i+1], found[i].gain})
	}
	return tries
}

// order returns the numbers of v by ascending sign*v.
func order(v []float64, sign float64) []int {
	o := make([]int, len(v))
	for i := range o {
		o[i] = i
	}
	slices.SortStableFunc(o, func(a, b int) int { return cmp.Compare(sign*v[a], sign*v[b]) })
	return o
}

// make applies swaps to the centers.
func (s *swaps) make(pairs []pair) {
	l, d := s.l, s.l.data.d
	l.reset()
	for _, p := range pairs {
		copy(l.center[p.to*d:(p.to+1)*d], s.halves[p.to][:d])
		copy(l.center[p.from*d:(p.from+1)*d], s.halves[p.to][d:])
	}
}

// sort lists the rows of each cluster.
func (s *swaps) sort() {
	at := 0
	for c, size := range s.l.size {
		s.start[c] = at
		at += size
	}
	s.start[s.l.k] = at
	next := slices.Clone(s.start)
	for i, c := range s.l.labels {
		s.rows[next[c]] = int32(i)
		next[c]++
	}
}

// seconds fills second, as products of float32 have it.
func (s *swaps) seconds() {
	l, p := s.l, s.l.data
	l.prepare(0)
	single := make([]float32, len(l.center))
	for i, v := range l.center {
		single[i] = float32(v)
	}
	par.For(p.n, taskRows, func(lo, hi int) {
		w := p.scratch(l.k)
		for row := lo; row < hi; row += blockCols {
			end := min(row+blockCols, p.packed.Cols())
			p.packed.Dots(l.k, single, p.d, row, end, -2, w.keys, blockCols)
			for i := row; i < min(end, p.n); i++ {
				least := float32(math.Inf(1))
				for c, low := range l.low {
					if v := low + w.keys[c*blockCols+i-row]; v < least && int32(c) != l.labels[i] {
						least, s.second[i] = v, int32(c)
					}
				}
			}
		}
		p.scratches.Put(w)
	})
}
