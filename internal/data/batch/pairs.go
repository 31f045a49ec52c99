package batch

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/rng"
)

const (
	classPairs        = "class-pairs"
	distinctPairsName = "class-pairs-distinct"
)

func init() {
	Samplers.Register(component.Component[SamplerKeys]{Name: classPairs, Doc: "pairs of images of one class, as published", Defaults: ClassPairs{Pairs: 56, Repeats: true}})
	Samplers.Register(component.Component[SamplerKeys]{Name: distinctPairsName, Doc: "pairs, no class twice in a batch", Defaults: ClassPairs{Pairs: 56}})
}

// ClassPairs draws pairs of images of one class. The sampler class-pairs lets
// classes repeat within a batch, as published; class-pairs-distinct does not.
type ClassPairs struct {
	Pairs   int  `yaml:"pairs" check:">=1,<=1000000" doc:"pairs in a batch: 2 x PAIRS images"`
	Repeats bool `yaml:"-"` // a class may have several pairs in a batch
}

// Check implements component.Checker.
func (k ClassPairs) Check() []component.Fault {
	if k.Pairs < 2 {
		return []component.Fault{component.Faultf("pairs", "must be at least 2, is %d: one pair has no negative", k.Pairs)}
	}
	return nil
}

// Layout implements SamplerKeys.
func (ClassPairs) Layout() string { return LayoutPairs }

// Repeating implements Repeating.
func (k ClassPairs) Repeating() bool { return k.Repeats }

// Rows implements SamplerKeys.
func (k ClassPairs) Rows() int { return 2 * k.Pairs }

// New implements ByLabels.
func (k ClassPairs) New(ds data.Dataset, o Options) (Sampler, error) {
	if k.Repeats {
		return newPairs(grouped(ds, o), k.Pairs, o.DropLast)
	}
	return newDistinctPairs(grouped(ds, o), k.Pairs)
}

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

func newPairs(g groups, n int, dropLast bool) (Sampler, error) {
	if err := checkPairs(classPairs, n, len(g.labels)); err != nil {
		return nil, err
	}
	return &pairs{groups: g, pairs: n, dropLast: dropLast}, g.needTwo(classPairs)
}

func checkPairs(name string, pairs, n int) error {
	if pairs < 2 {
		return fmt.Errorf("sampler %s: %d pairs in a batch; want at least 2", name, pairs)
	}
	if n < pairs {
		return fault.Unfit("sampler %s: %d samples make no batch of %d pairs; ask for fewer pairs", name, n, pairs)
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

func newDistinctPairs(g groups, n int) (Sampler, error) {
	if err := checkPairs(distinctPairsName, n, len(g.labels)); err != nil {
		return nil, err
	}
	if err := g.needTwo(distinctPairsName); err != nil {
		return nil, err
	}
	s := &distinctPairs{groups: g, pairs: n}
	counts, usable := s.counts()
	if usable < n {
		return nil, fault.Unfit("sampler %s: %d classes have two samples or more, but a batch of %d pairs needs as many classes; ask for at most %d pairs", distinctPairsName, usable, n, usable)
	}
	s.steps = dealSteps(counts, n)
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
