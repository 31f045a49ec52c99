package data

import "tercet/internal/rng"

// OfClasses returns the items of n classes that the seed chooses among those
// with items in train and in test, matched by name; test may be nil. Both sets
// then have these n classes, numbered from 0 in train's order. The choice of
// fewer classes is part of the choice of more. n = 0 keeps all, as they are.
func OfClasses(train, test Dataset, n int, seed uint64) (Dataset, Dataset, error) {
	if n == 0 {
		return train, test, nil
	}
	if n < 2 {
		return nil, nil, unfit("%d class(es) of the data; want at least 2, or 0 for all", n)
	}
	common := filled(train)
	where := "the data have"
	if test != nil {
		where = "training and test set share"
		other := filled(test)
		for name := range common {
			if !other[name] {
				delete(common, name)
			}
		}
	}
	var order []int32 // of train's classes
	for k, name := range train.Classes() {
		if common[name] {
			order = append(order, int32(k))
		}
	}
	if n > len(order) {
		hint := ""
		if test != nil && len(order) == 0 {
			hint = "; with a split by class they share none by design"
		}
		return nil, nil, unfit("%d classes of the data: %s %d with items%s", n, where, len(order), hint)
	}
	chosen := make(map[string]int32, n)
	var classes []string
	take := make([]bool, len(train.Classes()))
	for _, k := range rng.Shuffled(order, rng.New(seed, "data/classes"))[:n] {
		take[k] = true
	}
	for k, name := range train.Classes() {
		if take[k] {
			chosen[name] = int32(len(classes))
			classes = append(classes, name)
		}
	}
	train = only(train, chosen, classes)
	if test != nil {
		test = only(test, chosen, classes)
	}
	return train, test, nil
}

// filled returns the names of the classes that have items.
func filled(ds Dataset) map[string]bool {
	out := make(map[string]bool)
	for _, y := range ds.Labels() {
		out[ds.Classes()[y]] = true
	}
	return out
}

// only returns the items of the chosen classes under their new numbers.
func only(ds Dataset, chosen map[string]int32, classes []string) Dataset {
	var idx []int
	var labels []int32
	for i, y := range ds.Labels() {
		if k, ok := chosen[ds.Classes()[y]]; ok {
			idx = append(idx, i)
			labels = append(labels, k)
		}
	}
	return subset(ds, idx, labels, classes)
}
