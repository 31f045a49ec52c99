package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Names of the files of a folder.
const (
	documentName = "embed.json"
	itemsName    = "items.csv"
	wholeName    = "embeddings.npy"
	partPattern  = "embeddings_%05d.npy"
	rowsName     = "partial.rows"
	journalName  = "partial.jsonl"
)

// Folder is a folder of embeddings as it was read.
type Folder struct {
	Dir   string
	Doc   *record.Embed
	Items []Item // of each row
	data.Embeddings
	// Classes are the labels that occur, in the order of Labels; Labels is nil where no
	// item has a label, and -1 for an item without one among others.
	Classes []string
}

// Is reports whether path is a folder, and so no npy file.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Files are the paths that a folder of embeddings at path is read from, none where it is no
// such folder.
func Files(path string) []string {
	if !Holds(path) {
		return nil
	}
	parts, _ := filepath.Glob(filepath.Join(path, "embeddings_*.npy")) // a bad pattern is the only error
	return append(parts, filepath.Join(path, documentName), filepath.Join(path, itemsName), filepath.Join(path, wholeName))
}

// Holds reports whether path is a folder with embeddings, whole or begun, and so no run.
func Holds(path string) bool {
	return exists(filepath.Join(path, documentName)) || exists(filepath.Join(path, journalName))
}

// ReadDocument reads what a folder says about itself, and no embeddings.
func ReadDocument(dir string) (*record.Embed, error) {
	doc, err := record.Read[record.Embed](filepath.Join(dir, documentName))
	switch {
	case err == nil:
		return doc, nil
	case exists(filepath.Join(dir, journalName)):
		return nil, fault.Missing(nil, "%s holds an embedding that was interrupted; the command that began it finishes it", dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Missing(nil, "%s has no %s: give a folder that tercet embed has written", dir, documentName)
	}
	return nil, fault.Of(fault.ErrFormat, err, "%s holds no embeddings", dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Read reads a folder. Files that are not those that were written are an error.
func Read(dir string) (*Folder, error) {
	doc, err := ReadDocument(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Doc: doc}
	f.N, f.D = doc.Source.Items, doc.Network.Dim
	if err := f.readVectors(); err != nil {
		return nil, err
	}
	if err := f.check(doc.Items); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, itemsName)
	if f.Items, err = ReadList(path); err != nil {
		return nil, err
	}
	if len(f.Items) != f.N {
		return nil, fault.Bad("%s has %d rows, and the embeddings have %d", path, len(f.Items), f.N)
	}
	f.Labels, f.Classes = labels(f.Items)
	return f, nil
}

func (f *Folder) readVectors() error {
	for _, part := range f.Doc.Files {
		if err := f.check(part); err != nil {
			return err
		}
		path := filepath.Join(f.Dir, part.Name)
		x, err := npy.Read(path)
		if err != nil {
			return err
		}
		if x.Rows() != part.Rows || x.Cols() != f.D {
			return fault.Bad("%s has shape (%d, %d), and %s says (%d, %d)", path, x.Rows(), x.Cols(), documentName, part.Rows, f.D)
		}
		if len(f.Doc.Files) == 1 {
			f.X = x.Data
			break
		}
		if f.X == nil {
			f.X = make([]float32, 0, f.N*f.D)
		}
		f.X = append(f.X, x.Data...)
	}
	if len(f.X) != f.N*f.D {
		return fault.Bad("%s: the files hold %d numbers, and %d embeddings of %d need %d", f.Dir, len(f.X), f.N, f.D, f.N*f.D)
	}
	return nil
}

// check compares a file with what is known of it.
func (f *Folder) check(file record.EmbedFile) error {
	if !filepath.IsLocal(file.Name) {
		return fault.Bad("%s names a file outside the folder: %s", filepath.Join(f.Dir, documentName), file.Name)
	}
	path := filepath.Join(f.Dir, file.Name)
	sum, err := fsx.SHA256(path)
	if err != nil {
		return fault.Missing(err, "%s cannot be read", path)
	}
	if sum != file.SHA256 {
		return fault.Bad("%s is not the file that tercet embed wrote: its SHA-256 is %s, and %s says %s", path, sum, documentName, file.SHA256)
	}
	return nil
}

// labels numbers the labels of items from 0, in the order in which they appear.
func labels(items []Item) ([]int32, []string) {
	index := map[string]int32{}
	var classes []string
	out := make([]int32, len(items))
	for i, it := range items {
		out[i] = -1
		if it.Label == "" {
			continue
		}
		k, ok := index[it.Label]
		if !ok {
			k = int32(len(classes))
			index[it.Label] = k
			classes = append(classes, it.Label)
		}
		out[i] = k
	}
	if classes == nil {
		return nil, nil
	}
	return out, classes
}

// Labeled returns an error unless all items have labels.
func (f *Folder) Labeled() error {
	for i, y := range f.Labels {
		if y < 0 {
			return fault.Unfit("%s: row %d, %s, has no label, and scores compare with true labels: embed images in folders that are their classes, or a csv file with a column label", f.Dir, i, f.Items[i].Path)
		}
	}
	if f.Labels == nil {
		return fault.Unfit("%s: no image has a label, and scores compare with true labels: embed images in folders that are their classes, or a csv file with a column label", f.Dir)
	}
	return nil
}

// Place is the absolute path of the image of row i: the same for folders of embeddings
// whose paths are below different roots.
func (f *Folder) Place(i int) string {
	path := filepath.FromSlash(f.Items[i].Path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Doc.Root, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}
