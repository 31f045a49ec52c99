// Package table is what readers of annotated datasets produce: a list of items, each
// with its file, label, role, and what the dataset's own files say about it. No pixels.
package table

import (
	"fmt"
	"image"
	"path/filepath"
	"strings"
)

// Role says what an item is for. An item of a test set may be query and gallery at once.
type Role uint8

const (
	// Train items are trained on; their classes are in no other role.
	Train Role = 1 << iota
	// Query items are searched for.
	Query
	// Gallery items are searched in.
	Gallery
	// Test is the role of items of test sets without a gallery apart: each is searched
	// for among all others.
	Test = Query | Gallery
)

// Roles are the roles that one item can have.
func Roles() []Role { return []Role{Train, Query, Gallery, Test} }

// String returns train, query, gallery or query+gallery.
func (r Role) String() string {
	switch r {
	case Train:
		return "train"
	case Query:
		return "query"
	case Gallery:
		return "gallery"
	case Test:
		return "query+gallery"
	}
	return fmt.Sprintf("role %d", uint8(r))
}

// Item is one image, or one box of it.
type Item struct {
	Path    string // below the table's root, with slashes, or absolute
	Label   int32  // index of the table's classes
	Role    Role
	ClassID string // as the dataset numbers the class
	ImageID string // as the dataset numbers the image, "" where it does not
	// Category is the coarser class, Sequence the group of images that do not count as
	// found for each other; "" where there is none.
	Category, Sequence string
	Box                image.Rectangle // the part of the image that counts; empty: all of it
	Size               int64           // of the file in bytes; 0 until Stat
}

// Table is the items of a dataset, in the order of its annotation.
type Table struct {
	Root    string // folder that paths are below
	Items   []Item
	Classes []string // name by label
	Notes   []string // what was read otherwise than one may think, each a line for people
}

// File returns the path of item i.
func (t *Table) File(i int) string {
	p := filepath.FromSlash(t.Items[i].Path)
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(t.Root, p)
}

// Is reports that an item has one of the roles in r.
func (it *Item) Is(r Role) bool { return it.Role&r != 0 }

// Pick returns the indices of the items that have one of the roles in r, in order.
func (t *Table) Pick(r Role) []int {
	var out []int
	for i := range t.Items {
		if t.Items[i].Is(r) {
			out = append(out, i)
		}
	}
	return out
}

// Count is how much there is of something.
type Count struct {
	Images, Classes int
}

// Count counts the items that have one of the roles in r, and their classes.
func (t *Table) Count(r Role) Count {
	var c Count
	seen := make([]bool, len(t.Classes))
	for i := range t.Items {
		if it := &t.Items[i]; it.Is(r) {
			c.Images++
			if !seen[it.Label] {
				seen[it.Label] = true
				c.Classes++
			}
		}
	}
	return c
}

// Overlap returns the labels that training and test have in common.
func (t *Table) Overlap() []int32 {
	roles := make([]Role, len(t.Classes))
	for i := range t.Items {
		roles[t.Items[i].Label] |= t.Items[i].Role
	}
	var out []int32
	for y, r := range roles {
		if r&Train != 0 && r&Test != 0 {
			out = append(out, int32(y))
		}
	}
	return out
}

// Without returns t without the items that drop is true of, and without classes that
// have no items then.
func (t *Table) Without(drop func(i int) bool) *Table {
	out := &Table{Root: t.Root, Notes: t.Notes}
	index := make([]int32, len(t.Classes))
	for i := range t.Items {
		if !drop(i) {
			out.Items = append(out.Items, t.Items[i])
			index[t.Items[i].Label] = 1
		}
	}
	for y, name := range t.Classes {
		if index[y] == 1 {
			index[y] = int32(len(out.Classes))
			out.Classes = append(out.Classes, name)
		}
	}
	for i := range out.Items {
		out.Items[i].Label = index[out.Items[i].Label]
	}
	return out
}

// Junk reports the names of files that file managers and archivers leave, which no reader
// takes for images.
func Junk(name string) bool {
	return strings.HasPrefix(name, ".") || strings.EqualFold(name, "Thumbs.db")
}
