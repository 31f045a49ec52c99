package glyphs

import (
	"slices"
	"sync"
)

// last are the sets that were drawn last: runs of a sweep draw their images once.
var last = kept{bytes: 16 << 20}

// kept are sets whose images have together at most so many bytes.
type kept struct {
	sync.Mutex
	bytes int
	sets  []drawn // the one asked for last is last
}

// drawn is what Open returned for options, whose knobs are apart from them: two
// pointers to equal knobs differ.
type drawn struct {
	options     Options
	knobs       Knobs
	train, test *Set
}

func (d drawn) bytes() int {
	n := len(d.train.pixels)
	if d.test != nil {
		n += len(d.test.pixels)
	}
	return n
}

// open returns the sets of complete options, drawn if they are not kept.
func (k *kept) open(o Options) (train, test *Set, err error) {
	k.Lock()
	defer k.Unlock()
	d := drawn{options: o, knobs: *o.Knobs}
	d.options.Knobs = nil
	if i := slices.IndexFunc(k.sets, func(was drawn) bool { return was.options == d.options && was.knobs == d.knobs }); i >= 0 {
		d = k.sets[i]
		k.sets = slices.Delete(k.sets, i, i+1)
	} else if d.train, d.test, err = draw(o); err != nil {
		return nil, nil, err
	}
	k.sets = append(k.sets, d)
	sum := 0
	for i, d := range slices.Backward(k.sets) {
		if sum += d.bytes(); sum > k.bytes {
			k.sets = slices.Delete(k.sets, 0, i+1)
			break
		}
	}
	return d.train, d.test, nil
}
