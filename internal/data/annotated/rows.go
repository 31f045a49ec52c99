package annotated

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

// rows are what a reader has read so far: items without labels.
type rows struct {
	items []table.Item
	names map[string]string // of classes, by their id; nil: the id is the name
	junk  int               // files of file managers and archivers that were passed over
}

// add appends an item, unless it is none.
func (r *rows) add(it table.Item) {
	if it.Path != "" && table.Junk(path.Base(it.Path)) {
		r.junk++
		return
	}
	r.items = append(r.items, it)
}

// table numbers the classes from 0 in the order of their ids.
func (r *rows) table(root string) *table.Table {
	t := &table.Table{Root: root, Items: r.items}
	index := map[string]int32{}
	var ids []string
	for i := range t.Items {
		id := t.Items[i].ClassID
		if _, ok := index[id]; !ok {
			index[id] = 0
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareIDs)
	for y, id := range ids {
		index[id] = int32(y)
		name := id
		if r.names != nil && r.names[id] != "" {
			name = r.names[id]
		}
		t.Classes = append(t.Classes, name)
	}
	for i := range t.Items {
		t.Items[i].Label = index[t.Items[i].ClassID]
	}
	if r.junk > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d rows name files of a file manager or an archiver, such as ._x.jpg, and were left out", r.junk))
	}
	return t
}

// compareIDs orders numbers by value, before texts by their bytes.
func compareIDs(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// published are the counts of a dataset as its papers print them.
type published struct {
	name                  string
	train, query, gallery table.Count
}

// finish makes the table of rows that must be the dataset p as published, or of a part of
// it.
func (p published) finish(r *rows, root string, partial bool) (*table.Table, error) {
	t := r.table(root)
	if partial {
		t = onlyFound(t)
	}
	if err := t.CheckItems(); err != nil {
		return nil, err
	}
	if both := t.Overlap(); len(both) > 0 {
		return nil, fault.Bad("%s: training and test share %d of %d classes, the first is %s; metric learning tests on classes that were not trained on", p.name, len(both), len(t.Classes), t.Classes[both[0]])
	}
	if !partial { // first, since it explains queries that find nothing
		if err := p.counts(t, root); err != nil {
			return nil, err
		}
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, nil
}

// counts returns a CountsError if the table has other numbers of images or classes.
func (p published) counts(t *table.Table, root string) error {
	for _, c := range []struct {
		role table.Role
		want table.Count
	}{{table.Train, p.train}, {table.Query, p.query}, {table.Gallery, p.gallery}} {
		if got := t.Count(c.role); got != c.want {
			what := c.role.String()
			if p.query == p.gallery && c.role != table.Train {
				what = "test"
			}
			return &CountsError{fmt.Sprintf("%s has %s for %s, and %s were read below %s: repair the files, or use a part of the dataset", p.name, count(c.want), what, count(got), root)}
		}
	}
	return nil
}

// CountsError says that there are other images than were published, which partial allows.
// It wraps fault.ErrFormat.
type CountsError struct {
	Text string // without how to allow it
}

// Error ends with what a config says.
func (e *CountsError) Error() string { return e.Text + " with data.partial: true" }

// Unwrap implements the interface of package errors.
func (e *CountsError) Unwrap() error { return fault.ErrFormat }

func count(c table.Count) string { return fmt.Sprintf("%d images of %d classes", c.Images, c.Classes) }

// onlyFound leaves out queries of classes that a part of a gallery does not have.
func onlyFound(t *table.Table) *table.Table {
	found := make([]bool, len(t.Classes))
	for i := range t.Items {
		if it := &t.Items[i]; it.Is(table.Gallery) {
			found[it.Label] = true
		}
	}
	lost := 0
	out := t.Without(func(i int) bool {
		it := &t.Items[i]
		gone := it.Is(table.Query) && !found[it.Label]
		if gone {
			lost++
		}
		return gone
	})
	if lost > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d queries have no image of their class in the gallery and were left out", lost))
	}
	return out
}
