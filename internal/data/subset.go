package data

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/rng"
)

// view shows items of another dataset, in an order of its own, under labels of
// its own.
type view struct {
	labeled
	base Dataset
	idx  []int // item of base; nil: all, in order
}

func (v *view) Shape() (h, w, c int) { return v.base.Shape() }

func (v *view) item(i int) int {
	if v.idx == nil {
		return i
	}
	return v.idx[i]
}

func (v *view) Read(i int, dst []float32) error {
	if err := checkRead(v, i, dst); err != nil {
		return err
	}
	return v.base.Read(v.item(i), dst)
}

func (v *view) ItemName(i int) string {
	if n, ok := v.base.(Namer); ok {
		return n.ItemName(v.item(i))
	}
	return ""
}

func (v *view) Fingerprint(ctx context.Context) (string, error) { return v.print.of(ctx, v) }

// Subset returns items idx of ds, in that order; an item may occur again. Labels
// and classes stay, classes without items too (see Compact).
func Subset(ds Dataset, idx []int) (Dataset, error) {
	labels := make([]int32, len(idx))
	for p, i := range idx {
		if i < 0 || i >= ds.Len() {
			return nil, fmt.Errorf("subset: index %d (place %d) of a dataset of %d", i, p, ds.Len())
		}
		labels[p] = ds.Labels()[i]
	}
	return subset(ds, slices.Clone(idx), labels, ds.Classes()), nil
}

// subset looks through a view, so that views do not pile up.
func subset(ds Dataset, idx []int, labels []int32, classes []string) Dataset {
	if v, ok := ds.(*view); ok {
		if idx == nil {
			idx = v.idx
		} else if v.idx != nil {
			for p, i := range idx {
				idx[p] = v.idx[i]
			}
		}
		ds = v.base
	}
	return &view{labeled: labeled{labels: labels, classes: classes}, base: ds, idx: idx}
}

// Relabel returns ds with other labels, such as noisy ones; labels index classes.
func Relabel(ds Dataset, labels []int32, classes []string) (Dataset, error) {
	if len(labels) != ds.Len() {
		return nil, fmt.Errorf("relabel: %d labels for %d items", len(labels), ds.Len())
	}
	if err := checkLabels(labels, len(classes)); err != nil {
		return nil, err
	}
	return subset(ds, nil, labels, classes), nil
}

// Compact drops classes without items and numbers the others again, in their
// order. It returns ds where none is empty.
func Compact(ds Dataset) Dataset {
	index := make([]int32, len(ds.Classes()))
	for k := range index {
		index[k] = -1
	}
	for _, y := range ds.Labels() {
		index[y] = 0
	}
	var classes []string
	for k, name := range ds.Classes() {
		if index[k] == 0 {
			index[k] = int32(len(classes))
			classes = append(classes, name)
		}
	}
	if len(classes) == len(index) {
		return ds
	}
	labels := make([]int32, ds.Len())
	for i, y := range ds.Labels() {
		labels[i] = index[y]
	}
	return subset(ds, nil, labels, classes)
}

// LimitPerClass keeps at most n items of each class, chosen by the seed, in
// their order; n < 1 keeps all.
func LimitPerClass(ds Dataset, n int, seed uint64) Dataset {
	kept, _ := takePerClass(ds, 0, n, seed) // without a skip no class comes out empty
	return kept
}

// takePerClass puts the items of each class in an order that the seed draws,
// leaves out the first skip of them and keeps at most n of what follows, in the
// order of ds; n < 1 keeps all of that. So the same seed with (0, n) and with
// (n, m) gives sets that share no item, and (0, n) holds (0, m) for each m < n.
//
// It returns ErrUnfit where a class that has items would have none left.
func takePerClass(ds Dataset, skip, n int, seed uint64) (Dataset, error) {
	if skip = max(skip, 0); skip == 0 && n < 1 {
		return ds, nil
	}
	var keep []int
	for k, m := range ByClass(ds) {
		if len(m) > 0 && len(m) <= skip {
			return nil, unfit("data.skip_per_class: %d leaves nothing of class %s, which has %d training images; skip fewer than the smallest class has", skip, ds.Classes()[k], len(m))
		}
		if len(m) > 0 && (skip > 0 || len(m) > n) {
			m = rng.Shuffled(m, rng.New(seed, "data/limit", uint64(k)))[skip:]
		}
		if n > 0 {
			m = m[:min(n, len(m))]
		}
		for _, i := range m {
			keep = append(keep, int(i))
		}
	}
	if len(keep) == ds.Len() {
		return ds, nil
	}
	return pick(ds, keep), nil
}

// ByClass returns the items of each class, in rising order.
func ByClass(ds Dataset) [][]int32 {
	out := make([][]int32, len(ds.Classes()))
	for i, y := range ds.Labels() {
		out[y] = append(out[y], int32(i))
	}
	return out
}

// pick is Subset for indices that are known to be good; it sorts and keeps them.
func pick(ds Dataset, idx []int) Dataset {
	slices.Sort(idx)
	labels := make([]int32, len(idx))
	for p, i := range idx {
		labels[p] = ds.Labels()[i]
	}
	return subset(ds, idx, labels, ds.Classes())
}

// joined is one dataset after another.
type joined struct {
	labeled
	a, b Dataset
}

// Concat returns the items of a, then those of b. Classes are matched by name:
// those of a, then those that only b has.
func Concat(a, b Dataset) (Dataset, error) {
	if err := SameShape(a, b); err != nil {
		return nil, err
	}
	classes := slices.Clone(a.Classes())
	place := make(map[string]int32, len(classes))
	for k, name := range classes {
		place[name] = int32(k)
	}
	index := make([]int32, len(b.Classes()))
	for k, name := range b.Classes() {
		at, ok := place[name]
		if !ok {
			at = int32(len(classes))
			place[name] = at
			classes = append(classes, name)
		}
		index[k] = at
	}
	labels := slices.Clone(a.Labels())
	for _, y := range b.Labels() {
		labels = append(labels, index[y])
	}
	return &joined{labeled: labeled{labels: labels, classes: classes}, a: a, b: b}, nil
}

func (j *joined) Shape() (h, w, c int) { return j.a.Shape() }

// part returns the dataset that item i lies in, and its index there.
func (j *joined) part(i int) (Dataset, int) {
	if n := j.a.Len(); i >= n {
		return j.b, i - n
	}
	return j.a, i
}

func (j *joined) Read(i int, dst []float32) error {
	if err := checkRead(j, i, dst); err != nil {
		return err
	}
	ds, i := j.part(i)
	return ds.Read(i, dst)
}

func (j *joined) ItemName(i int) string {
	ds, i := j.part(i)
	if n, ok := ds.(Namer); ok {
		return n.ItemName(i)
	}
	return ""
}

func (j *joined) Fingerprint(ctx context.Context) (string, error) { return j.print.of(ctx, j) }
