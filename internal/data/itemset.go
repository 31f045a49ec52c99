package data

import (
	"context"
	"crypto/sha256"
)

// ItemSet are the items of a dataset as they are stored: whole, before any distortion. It
// recognizes an item of another dataset as the same one, also if the two were opened
// separately.
//
// An item is known by the stored set that it was read from (its fingerprint) and its
// place there. So two stored images that look the same are two items, and an image that
// two datasets have taken from the same files is one.
type ItemSet struct {
	at      map[spot]bool
	looks   map[[sha256.Size]byte]bool
	spots   []spot // of each item
	pixels  [][sha256.Size]byte
	sources map[string]bool
}

// spot is item index of the stored set with that fingerprint.
type spot struct {
	source string
	index  int
}

// NewItemSet finds the items of ds. beside are datasets that were opened with it, such as
// its test set: of what they were read from an item is known by its place too.
//
// Errors: those of reading an item, or of ctx.
func NewItemSet(ctx context.Context, ds Dataset, beside ...Dataset) (*ItemSet, error) {
	pixels, err := itemHashes(ctx, stored{ds})
	if err != nil {
		return nil, err
	}
	spots, err := spotsOf(ctx, ds)
	if err != nil {
		return nil, err
	}
	s := &ItemSet{at: map[spot]bool{}, looks: map[[sha256.Size]byte]bool{}, spots: spots, pixels: pixels, sources: map[string]bool{}}
	for i, p := range s.spots {
		s.at[p], s.looks[s.pixels[i]], s.sources[p.source] = true, true, true
	}
	for _, b := range beside {
		spots, err := spotsOf(ctx, b)
		if err != nil {
			return nil, err
		}
		for _, p := range spots {
			s.sources[p.source] = true
		}
	}
	return s, nil
}

// Shared counts items of s: those that are items of t, same, and those that are not but
// equal one in all pixels, copies. An item from a source that t does not know counts as
// the same if all its pixels are equal.
func (s *ItemSet) Shared(t *ItemSet) (same, copies int) {
	for i, p := range s.spots {
		switch {
		case t.at[p]:
			same++
		case !t.looks[s.pixels[i]]:
		case t.sources[p.source]:
			copies++
		default:
			same++
		}
	}
	return same, copies
}

// spotsOf are those of all items.
func spotsOf(ctx context.Context, ds Dataset) ([]spot, error) {
	out := make([]spot, ds.Len())
	for i := range out {
		from, at := origin(ds, i)
		print, err := from.Fingerprint(ctx)
		if err != nil {
			return nil, err
		}
		out[i] = spot{print, at}
	}
	return out, nil
}

// origin follows item i through subsets, joined and distorted sets to the set that
// stores it, and its index there.
func origin(ds Dataset, i int) (Dataset, int) {
	for {
		switch d := ds.(type) {
		case *view:
			ds, i = d.base, d.item(i)
		case *joined:
			ds, i = d.part(i)
		case *distorted:
			ds = d.Dataset
		default:
			return ds, i
		}
	}
}

// stored reads items as they are stored.
type stored struct{ Dataset }

func (s stored) Read(i int, dst []float32) error {
	ds, at := origin(s.Dataset, i)
	return ds.Read(at, dst)
}
