package batch

import (
	"fmt"
	"slices"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/rng"
)

const balancedName = "balanced"

func init() {
	Samplers.Register(component.Component[SamplerKeys]{Name: balancedName, Doc: "every class equally often, however many images it has", Defaults: Balanced{Classes: 16, PerClass: 4}})
}

// Balanced draws every class equally often, and every image of a class equally often.
type Balanced struct {
	Classes     int  `yaml:"classes" check:">=2,<=1000000" doc:"classes in a batch"`
	PerClass    int  `yaml:"per_class" check:">=2,<=1000000" doc:"images of each class in a batch"`
	Replacement bool `yaml:"replacement" doc:"draw images with replacement; otherwise no image is repeated before all others of its class were drawn"`
	Categories  int  `yaml:"categories" check:">=0,<=1000000" doc:"number of coarser classes in a batch, each with the same number of classes; 0: ignore coarser classes"`
}

// Check implements component.Checker.
func (k Balanced) Check() []component.Fault {
	if k.Categories > 0 && k.Classes%k.Categories != 0 {
		return []component.Fault{component.Faultf("categories", "must divide batch.classes (%d), is %d: each category gives equally many classes", k.Classes, k.Categories)}
	}
	return nil
}

// Layout implements SamplerKeys.
func (k Balanced) Layout() string { return MPerClass{k.Classes, k.PerClass}.Layout() }

// Rows implements SamplerKeys.
func (k Balanced) Rows() int { return k.Classes * k.PerClass }

// ClassesPerBatch implements OfClasses.
func (k Balanced) ClassesPerBatch() int { return k.Classes }

// balanced takes the classes of a batch from a deck of all classes, or of the classes of
// categories that are taken from a deck of all categories, and the images of a class from a
// deck of its own or at random. Decks are shuffled again when they are used up. Classes of
// one item are left out. An epoch has as many rows as there are items, or fewer.
type balanced struct {
	groups
	p, m, steps int
	replacement bool
	categories  int       // in a batch, 1 without
	classes     [][]int32 // usable ones of each category
}

// New implements ByLabels.
func (k Balanced) New(ds data.Dataset, o Options) (Sampler, error) {
	if k.Classes < 2 || k.PerClass < 2 || k.Categories < 0 || k.Categories > 0 && k.Classes%k.Categories != 0 {
		return nil, fmt.Errorf("sampler %s: %d classes of %d categories with %d samples each in a batch; want at least 2 classes and samples, and equally many classes of each category", balancedName, k.Classes, k.Categories, k.PerClass)
	}
	g := grouped(ds, o)
	if err := g.needTwo(balancedName); err != nil {
		return nil, err
	}
	s := &balanced{groups: g, p: k.Classes, m: k.PerClass, replacement: k.Replacement, categories: max(1, k.Categories)}
	items, at := 0, map[string]int{}
	for class, members := range g.members {
		if len(members) < 2 {
			continue
		}
		items += len(members)
		name := ""
		if k.Categories > 0 {
			if it := data.TableItem(ds, int(members[0])); it != nil {
				name = it.Category
			}
			if name == "" {
				return nil, fault.Unfit("sampler %s: class %s has no category; batch.categories needs data with categories: sop, inshop, or a table with a column category", balancedName, ds.Classes()[class])
			}
		}
		c, known := at[name]
		if !known {
			c = len(s.classes)
			at[name] = c
			s.classes = append(s.classes, nil)
		}
		s.classes[c] = append(s.classes[c], int32(class))
	}
	each := s.p / s.categories
	s.classes = slices.DeleteFunc(s.classes, func(c []int32) bool { return len(c) < each })
	if len(s.classes) < s.categories {
		if k.Categories > 0 {
			return nil, fault.Unfit("sampler %s: %d categories have %d classes of two samples or more, but a batch needs %d such categories", balancedName, len(s.classes), each, s.categories)
		}
		return nil, fault.Unfit("sampler %s: fewer than %d classes have two samples or more; ask for fewer", balancedName, s.p)
	}
	if s.steps = items / s.BatchSize(); s.steps == 0 {
		return nil, fault.Unfit("sampler %s: %d samples make no batch of %d x %d", balancedName, items, s.p, s.m)
	}
	return s, nil
}

func (s *balanced) Plan(epoch int) [][]int32 {
	r := rng.New(s.seed, "sampler/balanced", uint64(epoch))
	categories, classes := deck{}, make([]deck, len(s.classes))
	for c, list := range s.classes {
		categories.all = append(categories.all, int32(c))
		classes[c].all = list
	}
	images := make([]deck, len(s.members))
	rows := make([]int32, 0, s.steps*s.BatchSize())
	for range s.steps {
		for _, c := range categories.draw(s.categories, r) {
			for _, k := range classes[c].draw(s.p/s.categories, r) {
				images[k].all = s.members[k]
				rows = s.images(&images[k], rows, r)
			}
		}
	}
	return cut(rows, s.BatchSize(), true)
}

// images appends the images of a class, different ones as long as it has some.
func (s *balanced) images(d *deck, rows []int32, r *rng.Stream) []int32 {
	for left := s.m; left > 0; {
		if s.replacement {
			rows = append(rows, d.all[r.IntN(len(d.all))])
			left--
			continue
		}
		n := min(left, len(d.all))
		rows = append(rows, d.draw(n, r)...)
		left -= n
	}
	return rows
}

func (s *balanced) Steps() int     { return s.steps }
func (s *balanced) BatchSize() int { return s.p * s.m }
func (s *balanced) Layout() string { return MPerClass{s.p, s.m}.Layout() }

// deck gives its cards in random order, again and again.
type deck struct{ all, left []int32 }

// draw takes n different cards, at most as many as there are.
func (d *deck) draw(n int, r *rng.Stream) []int32 {
	out := make([]int32, 0, n)
	for len(out) < n {
		i := slices.IndexFunc(d.left, func(card int32) bool { return !slices.Contains(out, card) })
		if i < 0 {
			d.left = append(d.left, rng.Shuffled(d.all, r)...)
			continue
		}
		out = append(out, d.left[i])
		d.left = slices.Delete(d.left, i, i+1)
	}
	return out
}
