package sources

import (
	"slices"
	"sync"

	"tercet/internal/data/glyphs"
)

// drawnPair is a training set and a test set, with what they were drawn from.
type drawnPair struct {
	from        glyphs.Options // without its pointer
	knobs       glyphs.Knobs
	train, test *glyphs.Set
}

// drawnSets are the sets that were drawn last, the latest at the end: a command opens its
// data more than once, and so do the runs of a sweep. Nobody changes a set.
type drawnSets struct {
	sync.Mutex
	list  []drawnPair
	bound int // bytes of all images
}

var drawn = drawnSets{bound: 32 << 20}

// open is glyphs.Open, but that sets drawn shortly before are not drawn again.
func (d *drawnSets) open(o glyphs.Options) (train, test *glyphs.Set, err error) {
	p := drawnPair{from: o, knobs: *o.Knobs}
	p.from.Knobs = nil
	d.Lock()
	defer d.Unlock()
	if i := slices.IndexFunc(d.list, func(q drawnPair) bool { return q.from == p.from && q.knobs == p.knobs }); i >= 0 {
		p = d.list[i]
		d.list = append(slices.Delete(d.list, i, i+1), p)
		return p.train, p.test, nil
	}
	if p.train, p.test, err = glyphs.Open(o); err != nil {
		return nil, nil, err
	}
	d.list = append(d.list, p)
	for d.bytes() > d.bound {
		d.list = slices.Delete(d.list, 0, 1)
	}
	return p.train, p.test, nil
}

func (d *drawnSets) bytes() (n int) {
	for _, p := range d.list {
		n += p.train.Bytes() + p.test.Bytes()
	}
	return n
}
