package table

import (
	"fmt"
	"image"
	"path"
	"path/filepath"
	"strings"

	"tercet/internal/data/fault"
)

// Check returns an error unless t is sound: CheckItems, the class of each query is in the
// gallery, and some query can find another image than itself or of its sequence.
//
// Classes in both training and test are no error: see Overlap.
func (t *Table) Check() error {
	if err := t.CheckItems(); err != nil {
		return err
	}
	return t.checkQueries()
}

// CheckItems returns an error unless there are items, each has a file below the root that
// no other item has with the same box, a class and one of Roles, and each class has a name
// of its own and items. It names the item by its place, from 1.
func (t *Table) CheckItems() error {
	if len(t.Items) == 0 {
		return fault.Bad("%s: no items", t.Root)
	}
	type key struct {
		path string
		box  image.Rectangle
	}
	seen := make(map[key]int, len(t.Items))
	sizes := make([]int, len(t.Classes))
	for i := range t.Items {
		it := &t.Items[i]
		if err := t.checkItem(it); err != nil {
			return fault.Of(fault.ErrFormat, err, "item %d", i+1)
		}
		k := key{it.Path, it.Box}
		if at, twice := seen[k]; twice {
			return fault.Bad("items %d and %d are the same image: %s", at+1, i+1, it.Path)
		}
		seen[k] = i
		sizes[it.Label]++
	}
	names := make(map[string]bool, len(t.Classes))
	for y, n := range sizes {
		if n == 0 {
			return fault.Bad("class %s has no items", t.Classes[y])
		}
		if names[t.Classes[y]] {
			return fault.Bad("two classes are called %s", t.Classes[y])
		}
		names[t.Classes[y]] = true
	}
	return nil
}

func (t *Table) checkItem(it *Item) error {
	switch {
	case it.Path == "":
		return fmt.Errorf("no path")
	case strings.ContainsAny(it.Path, "\x00\n\r"):
		return fmt.Errorf("path %q has a line break or a zero byte", it.Path)
	case !filepath.IsAbs(filepath.FromSlash(it.Path)) && !filepath.IsLocal(filepath.FromSlash(it.Path)):
		return fmt.Errorf("path %s leaves the folder of the data", it.Path)
	case Junk(path.Base(it.Path)):
		return fmt.Errorf("%s is not an image", it.Path)
	case it.Label < 0 || int(it.Label) >= len(t.Classes):
		return fmt.Errorf("%s: label %d of %d classes", it.Path, it.Label, len(t.Classes))
	case it.Role != Train && it.Role != Query && it.Role != Gallery && it.Role != Test:
		return fmt.Errorf("%s: neither train nor query nor gallery", it.Path)
	case it.Box != (image.Rectangle{}) && (it.Box.Min.X < 0 || it.Box.Min.Y < 0 || it.Box.Empty()):
		return fmt.Errorf("%s: box from %d,%d to %d,%d", it.Path, it.Box.Min.X, it.Box.Min.Y, it.Box.Max.X, it.Box.Max.Y)
	}
	return nil
}

// checkQueries returns an error if the class of a query is not in the gallery, or if no
// query can find anything.
func (t *Table) checkQueries() error {
	found := make([]bool, len(t.Classes))
	for i := range t.Items {
		if it := &t.Items[i]; it.Is(Gallery) {
			found[it.Label] = true
		}
	}
	lost, first := 0, 0
	for i := range t.Items {
		if it := &t.Items[i]; it.Is(Query) && !found[it.Label] {
			if lost++; lost == 1 {
				first = i
			}
		}
	}
	if n := t.Count(Query).Images; lost == 0 && n > 0 && t.Lost() == n {
		return fault.Unfit("none of the %d queries can find anything: the images of their classes in the gallery are the queries themselves or of their sequences; give each class another image or sequence", n)
	}
	if lost == 0 {
		return nil
	}
	it := &t.Items[first]
	return fault.Unfit("%d of %d queries have no image of their class in the gallery; the first is item %d, %s, of class %s: take them out or give the gallery such an image", lost, t.Count(Query).Images, first+1, it.Path, t.Classes[it.Label])
}

// Lost counts the queries that can find nothing: of those of their class in the gallery,
// all are the query itself or of its sequence. Scores leave them out.
func (t *Table) Lost() int {
	gallery := make([]int, len(t.Classes)) // items of each class
	type group struct {
		label    int32
		sequence string
	}
	groups := map[group]int{} // of these, those of each sequence
	for i := range t.Items {
		if it := &t.Items[i]; it.Is(Gallery) {
			gallery[it.Label]++
			if it.Sequence != "" {
				groups[group{it.Label, it.Sequence}]++
			}
		}
	}
	lost := 0
	for i := range t.Items {
		it := &t.Items[i]
		if !it.Is(Query) {
			continue
		}
		found := gallery[it.Label]
		switch {
		case it.Sequence != "":
			found -= groups[group{it.Label, it.Sequence}]
		case it.Is(Gallery):
			found--
		}
		if found < 1 {
			lost++
		}
	}
	return lost
}
