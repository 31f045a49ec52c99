package embed

import (
	"context"
	"slices"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/progress"
)

// atOnce bounds the memory of the images of a batch and of what a network makes of them.
const atOnce = 512 << 20

// Rows returns how many images m embeds at a time: batch, or fewer where they are so large
// that the network would need more than 512 MiB for them. Embeddings do not depend on it.
func Rows(m *nn.Model, batch int) int { return max(1, min(batch, atOnce/m.ImageBytes())) }

// Batches returns the embeddings (N, D) of all items of ds, at most batch at a time; see
// Rows.
func Batches(ctx context.Context, m *nn.Model, ds data.Dataset, batch int, say progress.Count) (*array.Array, error) {
	h, w, c := ds.Shape()
	n := ds.Len()
	batch = min(Rows(m, batch), n)
	out := array.New(n, m.Dim())
	x := array.New(batch, h, w, c)
	ids := make([]int, 0, batch)
	for lo := 0; lo < n; lo += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids = ids[:0]
		for i := lo; i < min(lo+batch, n); i++ {
			ids = append(ids, i)
		}
		x.SetRows(len(ids))
		if err := data.Gather(ctx, ds, ids, x); err != nil {
			return nil, err
		}
		if lo == 0 {
			if err := m.CheckInput(x); err != nil {
				return nil, err
			}
		}
		copy(out.Data[lo*m.Dim():], m.Embed(x, nn.Eval).Data)
		say(min(lo+batch, n), n)
	}
	return out, nil
}

// Pixels returns the raw images of ds as vectors (N, H*W*C): the baseline that
// an embedding has to beat.
func Pixels(ctx context.Context, ds data.Dataset) (*array.Array, error) {
	h, w, c := ds.Shape()
	out := array.New(ds.Len(), h, w, c)
	ids := make([]int, ds.Len())
	for i := range ids {
		ids[i] = i
	}
	if err := data.Gather(ctx, ds, ids, out); err != nil {
		return nil, err
	}
	return array.Of(out.Data, ds.Len(), h*w*c)
}

// leastPerClass is the number of items of a class below which sample takes fewer
// classes instead of fewer items: with less, most items would have next to none
// of their class to be found by.
const leastPerClass = 5

// Sample takes at most limit items of ds: those of spread.
func Sample(ds data.Dataset, limit int) (data.Dataset, error) {
	return Subset(ds, Spread(ds, limit))
}

// Subset is that of the items ids, nil for all.
func Subset(ds data.Dataset, ids []int) (data.Dataset, error) {
	if ids == nil {
		return ds, nil
	}
	return data.Subset(ds, ids)
}

// Spread lists at most limit items of ds, in their order, evenly over the whole:
// the same number of each class, or, where that would be less than
// leastPerClass, some classes whole. It is nil where all are taken, as 0 asks for.
func Spread(ds data.Dataset, limit int) []int {
	n := ds.Len()
	if limit <= 0 || limit >= n {
		return nil
	}
	var classes [][]int
	at := make([][]int, len(ds.Classes()))
	for i, y := range ds.Labels() {
		at[y] = append(at[y], i)
	}
	for _, items := range at {
		if len(items) > 0 {
			classes = append(classes, items)
		}
	}
	each, take := limit/len(classes), len(classes)
	if each < leastPerClass {
		each, take = n, min(take, max(2, limit*len(classes)/n))
	}
	var ids []int
	for c := range take {
		items := classes[c*len(classes)/take]
		m := min(each, len(items), limit-len(ids))
		for i := range m {
			ids = append(ids, items[i*len(items)/m])
		}
	}
	slices.Sort(ids)
	return ids
}
