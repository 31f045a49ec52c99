package sources

import (
	"maps"
	"sync"
	"weak"

	"tercet/internal/data/glyphs"
)

// drawnFrom is what sets are drawn from: options, apart from their pointer.
type drawnFrom struct {
	options glyphs.Options
	knobs   glyphs.Knobs
}

// drawnSets are the sets that are still in memory, training and test: a command opens its
// data more than once, and so do the runs of a sweep. Nobody changes a set. They keep
// nothing from the collector.
type drawnSets struct {
	sync.Mutex
	sets map[drawnFrom][2]weak.Pointer[glyphs.Set]
}

var drawn = drawnSets{sets: map[drawnFrom][2]weak.Pointer[glyphs.Set]{}}

// open is glyphs.Open, but that sets that are there are not drawn again.
func (d *drawnSets) open(o glyphs.Options) (train, test *glyphs.Set, err error) {
	from := drawnFrom{options: o, knobs: *o.Knobs}
	from.options.Knobs = nil
	d.Lock()
	defer d.Unlock()
	if p, ok := d.sets[from]; ok {
		if train, test = p[0].Value(), p[1].Value(); train != nil && (test != nil || o.TestClasses < 0) {
			return train, test, nil
		}
	}
	if train, test, err = glyphs.Open(o); err != nil {
		return nil, nil, err
	}
	maps.DeleteFunc(d.sets, func(_ drawnFrom, p [2]weak.Pointer[glyphs.Set]) bool { return p[0].Value() == nil })
	d.sets[from] = [2]weak.Pointer[glyphs.Set]{weak.Make(train), weak.Make(test)}
	return train, test, nil
}
