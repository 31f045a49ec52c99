package cluster

import (
	"context"
	"math"
	"sort"

	"tercet/internal/rng"
)

// seedChunk is the number of rows whose potential is summed at a time; partial
// sums are added in order, whatever the number of threads.
const seedChunk = 1024

// seed picks the first centers by greedy k-means++, for several starts in step:
// of 2+floor(ln k) rows drawn with probability proportional to their squared
// distance to the nearest center so far, the one that leaves the least sum of
// such distances. Each start has a stream of its own.
func seed(ctx context.Context, starts []*lloyd, streams []*rng.Stream) error {
	p := starts[0].data
	all := make([]*seeding, len(starts))
	for i, l := range starts {
		all[i] = newSeeding(l)
		all[i].trying = []int{streams[i].IntN(p.n)}
	}
	for c := range starts[0].k {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c > 0 {
			for i, s := range all {
				for t := range s.rows {
					s.rows[t] = s.draw(streams[i])
				}
				s.trying = append(s.trying[:0], s.rows...)
			}
		}
		p.trying.run(all)
		for _, s := range all {
			best := s.least()
			s.take(best)
			s.l.setCenter(c, s.trying[best])
		}
	}
	return nil
}

type seeding struct {
	l       *lloyd
	chunks  int         // of rows
	rows    []int       // room for the candidates of a round
	trying  []int       // rows that are candidates of this round
	dist    [][]float32 // of each trial: squared distance of each row to the nearest center with that candidate added
	nearest []float32   // squared distance to the nearest center; 0 beyond the last row
	chunk   []float64   // of each chunk of rows, the sum of nearest up to its end
	sums    []float64   // (trials, chunks)
}

func newSeeding(l *lloyd) *seeding {
	n, room := l.data.n, l.data.packed.Cols()
	trials := 2 + int(math.Log(float64(l.k)))
	chunks := ceilDiv(n, seedChunk)
	s := &seeding{l: l, chunks: chunks, rows: make([]int, trials), dist: make([][]float32, trials),
		nearest: make([]float32, room), sums: make([]float64, trials*chunks)}
	for t := range s.dist {
		s.dist[t] = make([]float32, room)
	}
	for i := range n {
		s.nearest[i] = float32(math.Inf(1))
	}
	return s
}

// least returns the candidate of the last trial with the least potential, the
// first of equals.
func (s *seeding) least() int {
	best, least := 0, math.Inf(1)
	for t := range s.trying {
		var sum float64
		for _, v := range s.sums[t*s.chunks : (t+1)*s.chunks] {
			sum += v
		}
		if sum < least {
			best, least = t, sum
		}
	}
	return best
}

// take makes candidate t of the last trial a center.
func (s *seeding) take(t int) {
	s.nearest, s.dist[t] = s.dist[t], s.nearest
	s.chunk = s.chunk[:0]
	var sum float64
	for _, v := range s.sums[t*s.chunks : (t+1)*s.chunks] {
		sum += v
		s.chunk = append(s.chunk, sum)
	}
}

// draw picks a row with probability proportional to nearest, any row where all
// are 0.
func (s *seeding) draw(r *rng.Stream) int {
	n := s.l.data.n
	total := s.chunk[len(s.chunk)-1]
	if !(total > 0) {
		return r.IntN(n)
	}
	u := float64(r.Float64() * total)
	c := sort.Search(len(s.chunk), func(c int) bool { return s.chunk[c] > u })
	if c == len(s.chunk) {
		c--
	}
	if c > 0 {
		u -= s.chunk[c-1]
	}
	last := -1
	for i := c * seedChunk; i < min(n, (c+1)*seedChunk); i++ {
		if v := float64(s.nearest[i]); v > 0 {
			last = i
			if u -= v; u < 0 {
				return i
			}
		}
	}
	if last < 0 { // only where rounding put u at the border of an all-zero chunk
		return c * seedChunk
	}
	return last
}
