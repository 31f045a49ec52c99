package newimages

import (
	"context"
	"fmt"
	"path/filepath"

	"tercet/internal/data"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/record"
)

// Images are what a network is applied to.
type Images interface {
	Len() int
	// Read writes image i as the network takes it, and returns its size in its file. It
	// is safe for concurrent use.
	Read(i int, dst []float32) (width, height int, err error)
	// Items says what the images are.
	Items() []store.Item
	// Root is the folder that paths of items are below.
	Root() string
	// Fingerprint changes with the images, their labels and roles.
	Fingerprint(ctx context.Context) (string, error)
	// Files are those that pixels are read from when they are needed; none where
	// Fingerprint is of the pixels.
	Files() []string
}

// listed are the images of a table.
type listed struct {
	*data.Unseen
	t *table.Table
}

// Images are those of a table, as the network takes them.
func (n *Network) Images(t *table.Table) (Images, error) {
	u, err := n.images(t)
	if err != nil {
		return nil, err
	}
	return &listed{u, t}, nil
}

func (l *listed) Root() string { return l.t.Root }

func (l *listed) Fingerprint(context.Context) (string, error) { return l.t.Fingerprint(), nil }

func (l *listed) Files() []string {
	out := make([]string, len(l.t.Items))
	for i := range out {
		out[i] = l.t.File(i)
	}
	return out
}

func (l *listed) Items() []store.Item {
	out := make([]store.Item, len(l.t.Items))
	for i := range out {
		it := &l.t.Items[i]
		out[i] = store.Item{Path: it.Path, Role: it.Role, Sequence: it.Sequence, Category: it.Category, Box: it.Box}
		if it.Label >= 0 {
			out[i].Label = l.t.Classes[it.Label]
		}
	}
	return out
}

// split is a split of a run.
type split struct {
	data.Dataset
	name   string
	broken []record.BrokenImage // of the data, of any split
}

func (s *split) Read(i int, dst []float32) (width, height int, err error) {
	if names, ok := s.Dataset.(data.Namer); ok && data.IsImage(filepath.Base(names.ItemName(i))) {
		if width, height, err = data.ImageSize(names.ItemName(i)); err != nil {
			return 0, 0, err
		}
		return width, height, s.Dataset.Read(i, dst)
	}
	height, width, _ = s.Shape()
	return width, height, s.Dataset.Read(i, dst)
}

func (s *split) Root() string { return "" }

func (s *split) Files() (out []string) {
	for i := range s.Len() {
		if file, ok := data.ReadsFile(s.Dataset, i); ok {
			out = append(out, file)
		}
	}
	return out
}

func (s *split) Items() []store.Item {
	out := make([]store.Item, s.Len())
	names, _ := s.Dataset.(data.Namer)
	for i := range out {
		it := &out[i]
		*it = store.Item{Label: s.Classes()[s.Labels()[i]], Role: table.Test}
		if s.name == "train" {
			it.Role = table.Train
		}
		if from := data.TableItem(s.Dataset, i); from != nil {
			it.Role, it.Sequence, it.Category, it.Box = from.Role, from.Sequence, from.Category, from.Box
		}
		if names != nil {
			it.Path = names.ItemName(i)
		}
		if it.Path == "" { // of a file of many images
			it.Path = fmt.Sprintf("%s/%d", s.name, i)
		}
	}
	return out
}
