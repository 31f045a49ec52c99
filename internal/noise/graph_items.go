package noise

import (
	"fmt"

	"tercet/internal/rng"
)

// items returns the images that the graph is made of: all of them, or the reduced set of
// Dense, class by class as the paper's Algorithm 2 gives them, drawn without
// replacement unless Replacement is set.
func (o GraphOptions) items(truth []int32, classes int) ([]int32, error) {
	n := len(truth)
	if o.Scenario != Dense {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		return all, nil
	}
	images := o.Pairs / 2
	if images > n && !o.Replacement {
		return nil, fmt.Errorf("noise: pair graph: %d pairs need a reduced set of %d images, and there are %d; ask for at most %d pairs", o.Pairs, images, n, 2*n)
	}
	members := byClass(truth, nil, classes)
	s := rng.New(o.Seed, "noise/graph/images", o.Draw)
	items := make([]int32, 0, images)
	for c, m := range members {
		want := images / classes
		if c < images%classes {
			want++
		}
		if want < 2 {
			return nil, fmt.Errorf("noise: pair graph: %d pairs of %d classes take %d image of class %d, and a chain needs two; ask for at least %d pairs", o.Pairs, classes, want, c, 4*classes)
		}
		if o.Replacement && len(m) > 0 {
			for range want {
				items = append(items, m[s.IntN(len(m))])
			}
			continue
		}
		if want > len(m) {
			return nil, fmt.Errorf("noise: pair graph: %d pairs of %d classes take %d images of class %d, which has %d; ask for fewer pairs or leave the class out", o.Pairs, classes, want, c, len(m))
		}
		choose(m, want, s)
		items = append(items, m[:want]...)
	}
	return items, nil
}

// lists returns each seen class's items in the order of its chain.
func (o GraphOptions) lists(items, truth, seen []int32, classes int) ([][]int32, error) {
	lists := byClass(seen, items, classes)
	before := byClass(truth, items, classes)
	s := rng.New(o.Seed, "noise/graph/chains", o.Draw)
	for c, l := range lists {
		if len(l) < 2 {
			was := ""
			if len(before[c]) != len(l) {
				was = fmt.Sprintf(" after label noise, and %d before", len(before[c]))
			}
			return nil, fmt.Errorf("noise: pair graph: class %d has %d of the %d images%s; a chain needs two: take more images of it, less noise, or leave the class out", c, len(l), len(items), was)
		}
		if o.Order == Shuffled {
			s.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		}
	}
	return lists, nil
}

// byClass returns the items (nil: all) of each class, in their order.
func byClass(labels, items []int32, classes int) [][]int32 {
	members := make([][]int32, classes)
	if items == nil {
		for i, y := range labels {
			members[y] = append(members[y], int32(i))
		}
		return members
	}
	for _, i := range items {
		members[labels[i]] = append(members[labels[i]], i)
	}
	return members
}

// choose puts n items of m, drawn without replacement, first.
func choose(m []int32, n int, s *rng.Stream) {
	for i := range n {
		j := i + s.IntN(len(m)-i)
		m[i], m[j] = m[j], m[i]
	}
}
