package embed

import (
	"fmt"
	"image"
	"slices"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/embed/store"
	"tercet/internal/record"
)

// Pair are two folders of embeddings as one set: the gallery, then the queries that are not
// in it.
type Pair struct {
	data.Embeddings
	Roles   *data.Roles
	Source  record.Source
	Classes []string // the name of each label
}

// ReadPair reads two folders that package store wrote, whatever roles their images have
// there. Classes are the same where their names are. An image in both is one item with both
// roles, so that it is not found for itself.
//
// Errors wrap fault.ErrUnfit where distances between the two mean nothing, and where an image
// has no label.
func ReadPair(gallery, queries string) (*Pair, error) {
	g, err := store.Read(gallery)
	if err != nil {
		return nil, err
	}
	q, err := store.Read(queries)
	if err != nil {
		return nil, err
	}
	if what := q.Doc.Network.Unlike(g.Doc.Network); what != "" {
		return nil, fault.Unfit("the queries %s and the gallery %s are not of one network, so that distances between them mean nothing: %s; embed both by one", queries, gallery, what)
	}
	p := &Pair{Embeddings: data.Embeddings{D: g.D}, Roles: &data.Roles{}}
	rows := map[string]int{} // the item of each image of the gallery
	labels, sequences := map[string]int32{}, map[string]int32{"": -1}
	for _, f := range []*store.Folder{g, q} {
		if err := f.Labeled(); err != nil {
			return nil, err
		}
		for i, it := range f.Items {
			image := place(f, i, it.Box)
			at, there := rows[image]
			if !there || f == g {
				at = p.add(f, i, number(labels, it.Label, 0), number(sequences, it.Sequence, -1))
			}
			if f == g {
				rows[image] = at
				p.Roles.Gallery = append(p.Roles.Gallery, at)
			} else {
				p.Roles.Query = append(p.Roles.Query, at)
			}
		}
	}
	slices.Sort(p.Roles.Query)
	p.Classes = make([]string, len(labels))
	for name, k := range labels {
		p.Classes[k] = name
	}
	p.Source = record.Source{Embeddings: gallery, Queries: queries, Items: p.N, Dim: p.D, Classes: len(labels), Fingerprint: p.Fingerprint()}
	return p, nil
}

// add appends row i of f.
func (p *Pair) add(f *store.Folder, i int, label, sequence int32) int {
	p.X = append(p.X, f.X[i*f.D:(i+1)*f.D]...)
	p.Labels = append(p.Labels, label)
	p.Roles.Sequence = append(p.Roles.Sequence, sequence)
	p.N++
	return p.N - 1
}

func place(f *store.Folder, i int, box image.Rectangle) string {
	return fmt.Sprint(f.Place(i), " ", box)
}

// number is that of a name: known ones have theirs, a further one takes the next, of those
// from 0 on. skip is how many names have another.
func number(of map[string]int32, name string, skip int) int32 {
	k, known := of[name]
	if !known {
		k = int32(len(of) + skip)
		of[name] = k
	}
	return k
}
