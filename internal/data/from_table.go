package data

import (
	"context"
	"image"
	"path/filepath"

	"tercet/internal/data/table"
)

// FromTable reads the images of a table: those of role train, and those of roles query and
// gallery, nil where there are none. The classes of each are numbered from 0. TableItem
// says what the role of an item is.
func FromTable(ctx context.Context, t *table.Table, o Options) (train, test Dataset, err error) {
	roles := []table.Role{table.Train, table.Test}
	sets := make([]Dataset, 2)
	opts := o.image()
	if err := opts.check(); err != nil {
		return nil, nil, err
	}
	if opts.native() {
		opts.Color = "rgb"
	}
	for k, role := range roles {
		items := t.Pick(role)
		if len(items) == 0 {
			continue
		}
		if o.Transform != nil {
			sets[k], err = decodeTable(ctx, t, items, o)
		} else {
			sets[k], err = readTable(ctx, t, items, opts)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if sets[0] == nil {
		return nil, nil, unfit("data %s: no image to train on", o.Name)
	}
	return sets[0], sets[1], nil
}

// readTable decodes some items of a table into memory.
func readTable(ctx context.Context, t *table.Table, items []int, o ImageOptions) (Dataset, error) {
	s := &scan{classes: t.Classes, boxes: make([]image.Rectangle, len(items))}
	for k, i := range items {
		s.files = append(s.files, t.File(i))
		s.labels = append(s.labels, t.Items[i].Label)
		s.boxes[k] = t.Items[i].Box
	}
	if err := readHeads(ctx, []*scan{s}); err != nil {
		return nil, allUnreadable(ctx, []*scan{s}, err)
	}
	m, err := readFolder(ctx, s, o)
	if err != nil {
		return nil, allUnreadable(ctx, []*scan{s}, err)
	}
	return Compact(&tabled{m, t, items}), nil
}

// decodeTable are some items of a table, read when they are needed. Their files were looked
// for.
func decodeTable(ctx context.Context, t *table.Table, items []int, o Options) (Dataset, error) {
	f := &files{root: t.Root, paths: make([]string, len(items)), boxes: make([]image.Rectangle, len(items)), sizes: make([]int64, len(items))}
	labels := make([]int32, len(items))
	for k, i := range items {
		it := &t.Items[i]
		f.paths[k], f.boxes[k], f.sizes[k], labels[k] = filepath.FromSlash(it.Path), it.Box, it.Size, it.Label
	}
	from, err := o.pictures(ctx, f)
	if err != nil {
		return nil, err
	}
	d, err := newDecoded(from, labels, t.Classes, *o.Transform, o.Color)
	if err != nil {
		return nil, err
	}
	return Compact(&decodedTable{d, t, items}), nil
}

// decodedTable are images of a table that are read when they are needed.
type decodedTable struct {
	*decoded
	table *table.Table
	items []int // of the table
}

// TableItem implements Annotated.
func (d *decodedTable) TableItem(i int) *table.Item { return &d.table.Items[d.items[i]] }

// tabled are images of a table in memory.
type tabled struct {
	*Memory
	table *table.Table
	items []int // of the table
}

// TableItem implements Annotated.
func (d *tabled) TableItem(i int) *table.Item { return &d.table.Items[d.items[i]] }

// Roles tell the queries of a test set from the gallery that they are searched in.
type Roles struct {
	Query, Gallery []int   // items, ascending; an item may be in both
	Sequence       []int32 // of each item: those of one sequence do not count as found for each other; -1 for none
}

// RolesOf returns the roles of a dataset's items, nil where each is searched for among all
// others: of datasets without a table, of training items, and where no item is a query or
// gallery alone or has a sequence.
func RolesOf(ds Dataset) *Roles {
	return RolesAmong(ds.Len(), func(i int) *table.Item { return TableItem(ds, i) })
}

// RolesAmong is RolesOf of n items, of which at returns what is known, nil for nothing.
func RolesAmong(n int, at func(i int) *table.Item) *Roles {
	r := &Roles{Sequence: make([]int32, n)}
	plain := true
	number := map[string]int32{"": -1}
	for i := range n {
		it := at(i)
		if it == nil || it.Is(table.Train) {
			return nil
		}
		if it.Is(table.Query) {
			r.Query = append(r.Query, i)
		}
		if it.Is(table.Gallery) {
			r.Gallery = append(r.Gallery, i)
		}
		if _, known := number[it.Sequence]; !known {
			number[it.Sequence] = int32(len(number) - 1)
		}
		r.Sequence[i] = number[it.Sequence]
		plain = plain && it.Role == table.Test && it.Sequence == ""
	}
	if plain {
		return nil
	}
	return r
}
