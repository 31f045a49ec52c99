package newimages

import (
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/data/annotated"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
)

// reader returns what reads a csv file whose header says what each image is for and which
// part of it counts; nil for a plain list.
func (l *lister) reader(header []string) func(file, prefix string) error {
	switch {
	case store.Listed(header):
		return l.embedded
	case slices.Contains(header, "is_query") || slices.Contains(header, "is_gallery") || slices.Contains(header, "x_1"):
		return l.dataset
	}
	return nil
}

// dataset lists the images of a dataset's table, as data table reads it.
func (l *lister) dataset(file, prefix string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	t, err := annotated.TableOptions{Table: abs, Root: l.o.Root, Boxes: true, Overlap: true}.Annotation()
	if err != nil {
		return err
	}
	for _, it := range t.Items {
		it.Path = below(prefix, it.Path)
		l.append(it, t.Classes[it.Label])
	}
	l.t.Notes = append(l.t.Notes, t.Notes...)
	return nil
}

// embedded lists the images of an items.csv. Their paths are below the root that embed.json
// in its folder names, or below that of the options.
func (l *lister) embedded(file, prefix string) error {
	items, err := store.ReadList(file)
	if err != nil {
		return err
	}
	if l.o.Root == "" {
		doc, err := store.ReadDocument(filepath.Dir(file))
		if err != nil {
			return fault.Of(fault.ErrMissing, err, "%s: its paths are below the folder that embed.json names: put the two together, or name the folder", file)
		}
		if prefix = doc.Root; l.t.Root != "" {
			l.t.Root, prefix = doc.Root, ""
		}
	}
	for _, it := range items {
		l.append(table.Item{Path: below(prefix, filepath.FromSlash(it.Path)), Role: it.Role, Sequence: it.Sequence, Category: it.Category, Box: it.Box}, it.Label)
	}
	return nil
}

// dropTraining leaves out images to train on where there are others: scores would mix them.
func (l *lister) dropTraining() {
	train := 0
	for i := range l.t.Items {
		if l.t.Items[i].Is(table.Train) {
			train++
		}
	}
	if train == 0 || train == len(l.t.Items) {
		return
	}
	l.t.Items = slices.DeleteFunc(l.t.Items, func(it table.Item) bool { return it.Is(table.Train) })
	l.t.Notes = append(l.t.Notes, fmt.Sprintf("%d rows for training were left out; to embed them, list them alone", train))
}
