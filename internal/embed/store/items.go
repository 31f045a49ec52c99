package store

import (
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/fsx"
)

// Item is an image of a folder of embeddings: a line of items.csv.
type Item struct {
	Path          string // below the document's root, or absolute
	Label         string // "" for none
	Role          table.Role
	Sequence      string          // images of one sequence do not count as found for each other
	Category      string          `json:",omitempty"` // the coarser class
	Box           image.Rectangle // the part of the image; empty: all of it
	Width, Height int             // of the image in its file, 0 where they are not known
}

// columns are those of items.csv; the last one is there where an item has a category.
var columns = []string{"row", "path", "label", "role", "sequence", "box", "width", "height", "category"}

// Listed reports whether a header is that of items.csv.
func Listed(header []string) bool {
	return slices.Equal(header, columns) || slices.Equal(header, columns[:len(columns)-1])
}

func writeItems(w io.Writer, items []Item) error {
	out := csv.NewWriter(w)
	head := columns
	if !slices.ContainsFunc(items, func(it Item) bool { return it.Category != "" }) {
		head = columns[:len(columns)-1]
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for row, it := range items {
		box := ""
		if !it.Box.Empty() {
			box = fmt.Sprintf("%d %d %d %d", it.Box.Min.X, it.Box.Min.Y, it.Box.Max.X, it.Box.Max.Y)
		}
		line := []string{
			strconv.Itoa(row), it.Path, it.Label, it.Role.String(), it.Sequence, box, strconv.Itoa(it.Width), strconv.Itoa(it.Height), it.Category,
		}
		if err := out.Write(line[:len(head)]); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// maxLine bounds a line of items.csv, in bytes.
const maxLine = 1 << 20

// ReadItems reads the list of a folder's images alone.
func ReadItems(dir string) ([]Item, error) { return ReadList(filepath.Join(dir, itemsName)) }

// ReadList reads an items.csv, wherever it lies.
func ReadList(path string) ([]Item, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, fault.Missing(err, "cannot read the list of images")
	}
	defer f.Close()
	bound := fsx.NewRecords(f, maxLine)
	in := csv.NewReader(bound)
	in.ReuseRecord = true
	var out []Item
	for line := 1; ; line++ {
		rec, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fault.Of(fault.ErrFormat, err, "%s", path)
		case line == 1 && !Listed(rec):
			return nil, fault.Bad("%s:1: the columns are %.200q; want %s", path, rec, strings.Join(columns[:len(columns)-1], ","))
		case line > 1:
			it, err := parseItem(rec, len(out))
			if err != nil {
				return nil, fault.Of(fault.ErrFormat, err, "%s:%d", path, line)
			}
			out = append(out, it)
		}
		bound.Next()
	}
}

func parseItem(rec []string, row int) (it Item, err error) {
	if rec[0] != strconv.Itoa(row) {
		return it, fmt.Errorf("row %q in the place of row %d", rec[0], row)
	}
	it.Path, it.Label, it.Sequence = strings.Clone(rec[1]), strings.Clone(rec[2]), strings.Clone(rec[4])
	if len(rec) == len(columns) {
		it.Category = strings.Clone(rec[len(rec)-1])
	}
	for _, r := range table.Roles() {
		if r.String() == rec[3] {
			it.Role = r
		}
	}
	if it.Role == 0 {
		return it, fmt.Errorf("role %q; want %v", rec[3], table.Roles())
	}
	for _, v := range []struct {
		text string
		to   *int
	}{{rec[6], &it.Width}, {rec[7], &it.Height}} {
		if *v.to, err = strconv.Atoi(v.text); err != nil || *v.to < 0 {
			return it, fmt.Errorf("size %q is not a number of pixels", v.text)
		}
	}
	if rec[5] == "" {
		return it, nil
	}
	b := &it.Box
	if n, err := fmt.Sscanf(rec[5], "%d %d %d %d", &b.Min.X, &b.Min.Y, &b.Max.X, &b.Max.Y); n != 4 || err != nil || b.Empty() {
		return it, fmt.Errorf("box %q is not left, top, right and bottom", rec[5])
	}
	return it, nil
}
