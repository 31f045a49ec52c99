package metric

import "slices"

// classes maps labels of any int32 value to dense class numbers, in ascending
// order of label.
type classes struct {
	label []int32 // class -> label
	of    []int32 // item -> class
	size  []int   // class -> number of items
}

func classesOf(labels []int32) classes {
	distinct := slices.Clone(labels)
	slices.Sort(distinct)
	distinct = slices.Clip(slices.Compact(distinct))
	c := classes{label: distinct, of: make([]int32, len(labels)), size: make([]int, len(distinct))}
	for i, l := range labels {
		k, _ := slices.BinarySearch(distinct, l)
		c.of[i] = int32(k)
		c.size[k]++
	}
	return c
}

// find returns the class of a label, or -1.
func (c *classes) find(label int32) int {
	if k, ok := slices.BinarySearch(c.label, label); ok {
		return k
	}
	return -1
}

// places are the classes of labels, -1 for those that there are not.
func (c *classes) places(labels []int32) []int32 {
	out := make([]int32, len(labels))
	for i, l := range labels {
		out[i] = int32(c.find(l))
	}
	return out
}

// groups lists the items of each class in ascending order: those of class k are
// item[start[k]:start[k+1]].
type groups struct {
	start []int
	item  []int32
}

func (c *classes) groups() groups {
	g := groups{start: make([]int, len(c.size)+1), item: make([]int32, len(c.of))}
	for k, n := range c.size {
		g.start[k+1] = g.start[k] + n
	}
	next := slices.Clone(g.start)
	for i, k := range c.of {
		g.item[next[k]] = int32(i)
		next[k]++
	}
	return g
}

func (g *groups) of(k int) []int32 { return g.item[g.start[k]:g.start[k+1]] }
