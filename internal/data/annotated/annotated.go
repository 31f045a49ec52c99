// Package annotated has the sources of data whose items an annotation lists: a file of
// class, role and path of each image. Each source is a reader that makes a table; what
// becomes of the images is the same for all.
package annotated

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

// Source is a source of data with an annotation.
type Source interface {
	data.Source
	// Annotation reads it, and no image. The classes of training and test are
	// disjoint, unless the source's keys allow others. The error wraps fault.ErrMissing or
	// fault.ErrFormat.
	Annotation() (*table.Table, error)
	// part says that a part of the dataset will do.
	part() bool
}

func register[S Source](name, doc string, defaults S) {
	data.Family.Register(component.Component[data.Source]{Name: name, Doc: doc, Defaults: defaults})
}

// Names are the sources with an annotation.
func Names() []string {
	var out []string
	for _, c := range data.Family.All() {
		if _, ok := c.Defaults.(Source); ok {
			out = append(out, c.Name)
		}
	}
	return out
}

// Files reads the annotation of s and looks for the images, whose sizes the table has
// then. Of a part of a dataset, images that are not there are left out, with a note.
func Files(s Source) (*table.Table, error) {
	t, err := s.Annotation()
	if err != nil || !s.part() {
		if err == nil {
			err = t.Stat()
		}
		return t, err
	}
	gone := t.Missing()
	if len(gone) == 0 {
		return t, nil
	}
	note := fmt.Sprintf("%d of %d images were not found and were left out: %s", len(gone), len(t.Items), t.Names(gone))
	t = t.Without(func(i int) bool {
		_, found := slices.BinarySearch(gone, i)
		return found
	})
	t.Notes = append(t.Notes, note)
	if len(t.Items) == 0 {
		return nil, fault.Missing(nil, "none of the images is below %s", t.Root)
	}
	return t, t.Check()
}

// open is Open of all sources here.
func open(ctx context.Context, s Source, o data.Options) (data.Dataset, data.Dataset, error) {
	switch o.Split.Kind {
	case "", "file", "none":
	default:
		return nil, nil, fmt.Errorf("data %s comes with its split, and scores are compared on it: leave data.split.kind at file", o.Name)
	}
	t, err := Files(s)
	if err != nil {
		return nil, nil, err
	}
	whole := len(t.Items)
	if t, err = o.Readable(ctx, t); err == nil && len(t.Items) < whole {
		t = onlyFound(t)
		err = t.Check()
	}
	if err != nil {
		return nil, nil, err
	}
	return data.FromTable(ctx, t, o)
}

// leftOut is what data.Passing asks for.
func leftOut(s Source) string {
	t, err := Files(s)
	if err != nil {
		return "" // opening the source says so
	}
	return strings.Join(t.Notes, "; ")
}
