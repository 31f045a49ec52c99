package data

import (
	"context"
	"crypto/sha256"

	"tercet/internal/record/printed"
)

// lookKey is the begin of an item's hash: long enough that two items with the same
// have the same pixels.
type lookKey [16]byte

// fewLooks is the number of items that are compared in one pass over the data. What is
// known of an item takes 30 bytes or so, which may be more than the item.
var fewLooks = 1 << 20

// passes returns in how many passes n items are compared: few even where there are
// very many.
func passes(n int) int {
	return (n + max(fewLooks, n/16) - 1) / max(fewLooks, n/16)
}

// eachLook calls f with the items of ds, in order, whose hashes fall into the pass.
func eachLook(ctx context.Context, ds Dataset, pass, of int, f func(i int, k lookKey)) error {
	return eachHash(ctx, ds, func(i int, hash *[sha256.Size]byte) {
		if of == 1 || int(hash[sha256.Size-1])%of == pass {
			f(i, lookKey(hash[:]))
		}
	})
}

// duplicates counts the items that equal an earlier one.
func duplicates(ctx context.Context, s *printed.SetStats, ds Dataset) error {
	labels, of := ds.Labels(), passes(ds.Len())
	first := map[lookKey]int32{} // label of the first of each kind
	for pass := range of {
		clear(first)
		err := eachLook(ctx, ds, pass, of, func(i int, k lookKey) {
			seen, ok := first[k]
			switch {
			case !ok:
				first[k] = labels[i]
				return
			case seen != labels[i]:
				s.Conflicts++
			}
			s.Duplicates++
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Overlap returns how many items of b have the pixels of some item of a: training
// images among those of the test set.
func Overlap(ctx context.Context, a, b Dataset) (int, error) {
	if err := SameShape(a, b); err != nil {
		return 0, err
	}
	n, of := 0, passes(a.Len())
	in := map[lookKey]bool{}
	for pass := range of {
		clear(in)
		if err := eachLook(ctx, a, pass, of, func(_ int, k lookKey) { in[k] = true }); err != nil {
			return 0, err
		}
		err := eachLook(ctx, b, pass, of, func(_ int, k lookKey) {
			if in[k] {
				n++
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}
