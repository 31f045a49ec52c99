package batch

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/rng"
)

const perClassName = "m-per-class"

func init() {
	Samplers.Register(component.Component[SamplerKeys]{Name: perClassName, Doc: "some classes, some images of each", Defaults: MPerClass{Classes: 16, PerClass: 4}})
}

// MPerClass draws classes, then images of each.
type MPerClass struct {
	Classes  int `yaml:"classes" check:">=2,<=1000000" doc:"classes in a batch"`
	PerClass int `yaml:"per_class" check:">=2,<=1000000" doc:"images of each class in a batch"`
}

// Layout implements SamplerKeys.
func (k MPerClass) Layout() string {
	if k.PerClass != 2 {
		return LayoutGeneral
	}
	return LayoutPairs
}

// Rows implements SamplerKeys.
func (k MPerClass) Rows() int { return k.Classes * k.PerClass }

// ClassesPerBatch implements OfClasses.
func (k MPerClass) ClassesPerBatch() int { return k.Classes }

// New implements ByLabels.
func (k MPerClass) New(ds data.Dataset, o Options) (Sampler, error) {
	if k.Classes < 2 || k.PerClass < 2 {
		return nil, fmt.Errorf("sampler %s: %d classes with %d samples each in a batch; want at least 2 of both", perClassName, k.Classes, k.PerClass)
	}
	g := grouped(ds, o)
	if err := g.needTwo(perClassName); err != nil {
		return nil, err
	}
	s := &perClass{groups: g, p: k.Classes, m: k.PerClass}
	counts, usable := s.counts()
	if usable < k.Classes {
		return nil, fault.Unfit("sampler %s: %d classes have two samples or more, but a batch needs %d; ask for at most %d classes", perClassName, usable, k.Classes, usable)
	}
	if n := len(g.labels); n < s.BatchSize() {
		return nil, fault.Unfit("sampler %s: %d samples make no batch of %d x %d", perClassName, n, k.Classes, k.PerClass)
	}
	s.steps = dealSteps(counts, k.Classes)
	return s, nil
}

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
