package batch

import (
	"fmt"

	"tercet/internal/data/fault"
	"tercet/internal/rng"
)

// perClass puts M items of each of P different classes in a batch. Every class
// is shuffled and cut into groups of M. A last group that is short is filled
// with items of the class that were used already this epoch, different ones as
// long as the class has M items. Classes of one sample are left out; so are
// groups of a class that has more of them than there are batches. Rows come
// class by class; with M = 2 they are pairs.
type perClass struct {
	groups
	p, m, steps int
}

func newPerClass(g groups, o SamplerOptions) (Sampler, error) {
	if o.Classes < 2 || o.PerClass < 2 {
		return nil, fmt.Errorf("sampler %s: %d classes with %d samples each in a batch; want at least 2 of both", o.Name, o.Classes, o.PerClass)
	}
	if err := g.needTwo(o.Name); err != nil {
		return nil, err
	}
	s := &perClass{groups: g, p: o.Classes, m: o.PerClass}
	counts, usable := s.counts()
	if usable < o.Classes {
		return nil, fault.Unfit("sampler %s: %d classes have two samples or more, but a batch needs %d; ask for at most %d classes", o.Name, usable, o.Classes, usable)
	}
	if n := len(g.labels); n < s.BatchSize() {
		return nil, fault.Unfit("sampler %s: %d samples make no batch of %d x %d", o.Name, n, o.Classes, o.PerClass)
	}
	s.steps = dealSteps(counts, o.Classes)
	return s, nil
}

// counts returns the groups of each class, and the number of classes that have
// any.
func (s *perClass) counts() (counts []int, usable int) {
	counts = make([]int, len(s.members))
	for k, m := range s.members {
		if len(m) > 1 {
			counts[k] = (len(m) + s.m - 1) / s.m
			usable++
		}
	}
	return counts, usable
}

func (s *perClass) Plan(epoch int) [][]int32 {
	r := rng.New(s.seed, "sampler/m-per-class", uint64(epoch))
	order := make([][]int32, len(s.members))
	for k, m := range s.members {
		order[k] = rng.Shuffled(m, r)
	}
	counts, _ := s.counts()
	classes := deal(counts, s.p, s.steps, r)
	used := make([]int, len(s.members))
	rows := make([]int32, 0, s.m*len(classes))
	for _, k := range classes {
		for range s.m {
			rows = append(rows, order[k][used[k]%len(order[k])])
			used[k]++
		}
	}
	return cut(rows, s.BatchSize(), true)
}

func (s *perClass) Steps() int     { return s.steps }
func (s *perClass) BatchSize() int { return s.p * s.m }
func (s *perClass) Layout() string {
	if s.m == 2 {
		return LayoutPairs
	}
	return LayoutGeneral
}

// shuffle takes the items in random order, or in their own order where random
// is false.
type shuffle struct {
	groups
	size     int
	random   bool
	dropLast bool
}

func newShuffle(g groups, o SamplerOptions) (Sampler, error) {
	if o.Size < 1 {
		return nil, fmt.Errorf("sampler %s: batches of %d; want at least 1", o.Name, o.Size)
	}
	s := &shuffle{groups: g, size: o.Size, random: o.Name == "shuffle"}
	s.dropLast = s.random && o.DropLast
	if n := len(g.labels); n == 0 || (s.random && n < o.Size) {
		return nil, fault.Unfit("sampler %s: %d samples make no batch of %d", o.Name, n, o.Size)
	}
	return s, nil
}

func (s *shuffle) Plan(epoch int) [][]int32 {
	ids := make([]int32, len(s.labels))
	for i := range ids {
		ids[i] = int32(i)
	}
	if s.random {
		ids = rng.Shuffled(ids, rng.New(s.seed, "sampler/shuffle", uint64(epoch)))
	}
	return cut(ids, s.size, s.dropLast)
}

func (s *shuffle) Steps() int     { return batches(len(s.labels), s.size, s.dropLast) }
func (s *shuffle) BatchSize() int { return s.size }
func (s *shuffle) Layout() string { return LayoutGeneral }
