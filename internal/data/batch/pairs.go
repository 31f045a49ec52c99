package batch

import (
	"fmt"

	"tercet/internal/data/fault"
	"tercet/internal/rng"
)

// pairs is the sampler of Zhou & Patel's code (SPC-2): the items in random
// order, each beside a uniformly random item of its class, which may be the item
// itself. Classes are not forced to differ within a batch. As published, a short
// last batch is kept unless DropLast is set (their step counts, 53 a CUB epoch
// of 5864 images in batches of 112 pairs, tell). An item that is alone in its
// class is paired with itself.
type pairs struct {
	groups
	pairs    int
	dropLast bool
}

func newPairs(g groups, o SamplerOptions) (Sampler, error) {
	s := &pairs{groups: g, pairs: o.Pairs, dropLast: o.DropLast}
	if err := checkPairs(o, len(g.labels)); err != nil {
		return nil, err
	}
	return s, g.needTwo(o.Name)
}

func checkPairs(o SamplerOptions, n int) error {
	if o.Pairs < 2 {
		return fmt.Errorf("sampler %s: %d pairs in a batch; want at least 2", o.Name, o.Pairs)
	}
	if n < o.Pairs {
		return fault.Unfit("sampler %s: %d samples make no batch of %d pairs; ask for fewer pairs", o.Name, n, o.Pairs)
	}
	return nil
}

func (s *pairs) Plan(epoch int) [][]int32 {
	r := rng.New(s.seed, "sampler/class-pairs", uint64(epoch))
	rows := make([]int32, 2*len(s.labels))
	for i := range s.labels {
		rows[2*i] = int32(i)
	}
	r.Shuffle(len(s.labels), func(i, j int) { rows[2*i], rows[2*j] = rows[2*j], rows[2*i] })
	for i := 0; i < len(rows); i += 2 {
		m := s.members[s.labels[rows[i]]]
		rows[i+1] = m[r.IntN(len(m))]
	}
	return cut(rows, 2*s.pairs, s.dropLast)
}

func (s *pairs) Steps() int     { return batches(len(s.labels), s.pairs, s.dropLast) }
func (s *pairs) BatchSize() int { return 2 * s.pairs }
func (s *pairs) Layout() string { return LayoutPairs }

// distinctPairs is pairs with two promises more: the classes of a batch differ,
// and no item is paired with itself. All batches are full. Each item comes first
// in at most one pair per epoch; classes of one sample are left out, and so are
// items of classes that have more items than there are batches.
type distinctPairs struct {
	groups
	pairs, steps int
}

func newDistinctPairs(g groups, o SamplerOptions) (Sampler, error) {
	if err := checkPairs(o, len(g.labels)); err != nil {
		return nil, err
	}
	if err := g.needTwo(o.Name); err != nil {
		return nil, err
	}
	s := &distinctPairs{groups: g, pairs: o.Pairs}
	counts, usable := s.counts()
	if usable < o.Pairs {
		return nil, fault.Unfit("sampler %s: %d classes have two samples or more, but a batch of %d pairs needs as many classes; ask for at most %d pairs", o.Name, usable, o.Pairs, usable)
	}
	s.steps = dealSteps(counts, o.Pairs)
	return s, nil
}

// counts returns the pairs that each class can begin, and the number of classes
// that can.
func (s *distinctPairs) counts() (counts []int, usable int) {
	counts = make([]int, len(s.members))
	for k, m := range s.members {
		if len(m) > 1 {
			counts[k] = len(m)
			usable++
		}
	}
	return counts, usable
}

func (s *distinctPairs) Plan(epoch int) [][]int32 {
	r := rng.New(s.seed, "sampler/class-pairs-distinct", uint64(epoch))
	order := make([][]int32, len(s.members))
	place := make([]int, len(s.labels)) // of each item in its class
	for k, m := range s.members {
		order[k] = rng.Shuffled(m, r)
		for p, i := range m {
			place[i] = p
		}
	}
	counts, _ := s.counts()
	classes := deal(counts, s.pairs, s.steps, r)
	rows := make([]int32, 0, 2*len(classes))
	for _, k := range classes {
		m := s.members[k]
		i := order[k][0]
		order[k] = order[k][1:]
		j := r.IntN(len(m) - 1) // any but i
		if j >= place[i] {
			j++
		}
		rows = append(rows, i, m[j])
	}
	return cut(rows, 2*s.pairs, true)
}

func (s *distinctPairs) Steps() int     { return s.steps }
func (s *distinctPairs) BatchSize() int { return 2 * s.pairs }
func (s *distinctPairs) Layout() string { return LayoutPairs }
