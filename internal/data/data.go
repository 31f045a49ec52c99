// Package data reads datasets and splits them; package batch below it makes batches of them.
//
// Images are float32 in [0,1], row-major, channels last. Everything that is
// random comes from named streams of the run's seed.
package data

import (
	"context"
	"fmt"

	"tercet/internal/data/table"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Dataset is a set of N labeled images of one shape.
type Dataset interface {
	// Len returns N.
	Len() int
	// Shape returns height, width and channels: H, W, C.
	Shape() (h, w, c int)
	// Labels returns the class index, 0 to K-1, of each item. The caller must
	// not change it.
	Labels() []int32
	// Classes returns the K class names. The caller must not change them.
	Classes() []string
	// Read writes item i's pixels to dst, H*W*C long. It is safe for concurrent
	// use.
	Read(i int, dst []float32) error
	// Fingerprint returns the hex SHA-256 of shape, pixels and labels (see
	// Digest). The first call reads all items.
	Fingerprint(ctx context.Context) (string, error)
}

// Namer is a dataset that knows where its items come from.
type Namer interface {
	// ItemName returns the file of item i, or what else identifies it.
	ItemName(i int) string
}

// ItemName names item i of ds for messages: "item 7" or "item 7 (a/b.png)".
func ItemName(ds Dataset, i int) string {
	if n, ok := ds.(Namer); ok && i >= 0 && i < ds.Len() {
		if s := n.ItemName(i); s != "" {
			return fmt.Sprintf("item %d (%s)", i, s)
		}
	}
	return fmt.Sprintf("item %d", i)
}

// Annotated is a dataset whose items come from a table.
type Annotated interface {
	// TableItem returns what the table says about item i. The caller must not change it.
	TableItem(i int) *table.Item
}

// ReadsFile says which file item i is read from each time, and false where it is in memory
// or packed.
func ReadsFile(ds Dataset, i int) (path string, ok bool) {
	from, at := origin(ds, i)
	if d, is := from.(*decodedTable); is {
		from = d.decoded
	}
	d, is := from.(*decoded)
	if !is {
		return "", false
	}
	f, is := d.from.(*files)
	if !is {
		return "", false
	}
	return f.ItemName(at), true
}

// TableItem returns what a table says about item i of ds, through subsets and joined
// sets; nil where no table describes it.
func TableItem(ds Dataset, i int) *table.Item {
	if from, at := origin(ds, i); from != nil {
		if a, ok := from.(Annotated); ok {
			return a.TableItem(at)
		}
	}
	return nil
}

// checkRead returns an error unless i and the length of dst fit ds.
func checkRead(ds Dataset, i int, dst []float32) error {
	h, w, c := ds.Shape()
	if i < 0 || i >= ds.Len() {
		return fmt.Errorf("item %d of a dataset of %d", i, ds.Len())
	}
	if len(dst) != h*w*c {
		return fmt.Errorf("%w: item of %dx%dx%d into %d numbers", array.ErrShape, h, w, c, len(dst))
	}
	return nil
}

// Gather reads items ids of ds into dst, (len(ids), H, W, C).
func Gather(ctx context.Context, ds Dataset, ids []int, dst *array.Array) error {
	h, w, c := ds.Shape()
	if err := dst.SameShape("gathered batch", len(ids), h, w, c); err != nil {
		return err
	}
	return each(ctx, len(ids), 16, func(i int) error {
		if err := ds.Read(ids[i], dst.Row(i)); err != nil {
			return fmt.Errorf("%s: %w", ItemName(ds, ids[i]), err)
		}
		return nil
	})
}

// each calls f for 0 to n-1 on all threads and returns the error of the lowest
// index, whatever the timing; that of ctx, if it ended.
func each(ctx context.Context, n, size int, f func(i int) error) error {
	errs := make([]error, (n+size-1)/size)
	par.For(n, size, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			if err := f(i); err != nil {
				errs[lo/size] = err
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// SameShape returns an error unless a and b hold images of one shape.
func SameShape(a, b Dataset) error {
	ah, aw, ac := a.Shape()
	bh, bw, bc := b.Shape()
	if ah != bh || aw != bw || ac != bc {
		return fmt.Errorf("%w: images of %dx%dx%d and of %dx%dx%d", array.ErrShape, ah, aw, ac, bh, bw, bc)
	}
	return nil
}
