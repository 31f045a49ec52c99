package newimages

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/fsx"
)

// ListOptions say what images there are.
type ListOptions struct {
	Root   string     // paths of lists are below it; "": the folder of the list
	Labels bool       // folders are classes
	Role   table.Role // of images whose list says none
}

// maxList bounds a list of images, in bytes; maxDepth the folders inside each other, so that
// a link to a folder above ends.
const (
	maxList  = 1 << 30
	maxDepth = 32
)

// List lists images: a folder with all images below it, a csv file with a column path, a
// text file of a path a line, or image files. Items without a label have the label -1. The
// files are looked for: those that are not there are an error. Notes of the table say which
// rows of a csv were left out.
func List(paths []string, o ListOptions) (*table.Table, error) {
	l := &lister{o: o, index: map[string]int32{}, t: &table.Table{}}
	for _, path := range paths {
		if err := l.add(path, len(paths) == 1); err != nil {
			return nil, err
		}
	}
	if len(l.t.Items) == 0 {
		return nil, fault.Missing(nil, "%s: no PNG or JPEG images", strings.Join(paths, ", "))
	}
	l.dropTraining()
	return l.t, l.t.Stat()
}

type lister struct {
	o     ListOptions
	t     *table.Table
	index map[string]int32 // labels by the names of classes
}

// add lists what is at a path. Paths are below the table's root where it is the only one.
func (l *lister) add(path string, only bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return fault.Missing(err, "no such images: %s", path)
	}
	root := path
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case info.IsDir():
	case ext == ".csv" || ext == ".txt":
		if root = l.o.Root; root == "" {
			root = filepath.Dir(path)
		}
	case data.IsImage(filepath.Base(path)):
		l.item(path, "", "")
		return nil
	default:
		return fault.Bad("%s is neither a folder, nor a list (.csv, .txt), nor a PNG or JPEG image", path)
	}
	prefix := root
	if only {
		l.t.Root, prefix = root, ""
	}
	switch {
	case info.IsDir():
		return l.folder(path, prefix, "", 0)
	case strings.EqualFold(filepath.Ext(path), ".csv"):
		return l.table(path, prefix)
	}
	return l.lines(path, prefix)
}

// item appends an image.
func (l *lister) item(path, label, sequence string) {
	l.append(table.Item{Path: path, Role: l.o.Role, Sequence: sequence}, label)
}

// append appends an image of that label, "" for none.
func (l *lister) append(it table.Item, label string) {
	it.Path, it.Label = filepath.ToSlash(it.Path), -1
	if label != "" {
		k, ok := l.index[label]
		if !ok {
			k = int32(len(l.t.Classes))
			l.index[label] = k
			l.t.Classes = append(l.t.Classes, label)
		}
		it.Label, it.ClassID = k, label
	}
	l.t.Items = append(l.t.Items, it)
}

// folder lists dir/below in the order of names; the label of an image is the name of the
// folder that it is in, none in dir itself.
func (l *lister) folder(dir, prefix, below string, depth int) error {
	entries, err := os.ReadDir(filepath.Join(dir, below))
	if err != nil {
		return fault.Missing(err, "cannot list images")
	}
	if depth > maxDepth {
		return fault.Bad("%s: more than %d folders inside each other; is there a link to a folder above?", dir, maxDepth)
	}
	label := ""
	if l.o.Labels && below != "" {
		label = filepath.Base(below)
	}
	for _, e := range entries {
		name := filepath.Join(below, e.Name())
		info, err := os.Stat(filepath.Join(dir, name)) // follows links
		switch {
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "__MACOSX":
		case err == nil && info.IsDir():
			if err := l.folder(dir, prefix, name, depth+1); err != nil {
				return err
			}
		case data.IsImage(e.Name()):
			l.item(filepath.Join(prefix, name), label, "")
		}
	}
	return nil
}

// below joins a path of a list to what it is below.
func below(prefix, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(prefix, path)
}

// lines reads a text file of a path a line.
func (l *lister) lines(file, prefix string) error {
	b, err := fsx.ReadFile(file, maxList)
	if err != nil {
		return fault.Missing(err, "cannot read the list of images")
	}
	in := bufio.NewScanner(strings.NewReader(strings.TrimPrefix(string(b), "\ufeff")))
	for in.Scan() {
		if path := strings.TrimSpace(in.Text()); path != "" {
			l.item(below(prefix, path), "", "")
		}
	}
	if err := in.Err(); err != nil {
		return fault.Of(fault.ErrFormat, err, "%s", file)
	}
	return nil
}

// table reads a csv file with a header: path, and maybe label and sequence; or one whose
// columns say more, see tables.go.
func (l *lister) table(file, prefix string) error {
	b, err := fsx.ReadFile(file, maxList)
	if err != nil {
		return fault.Missing(err, "cannot read the list of images")
	}
	in := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(b), "\ufeff")))
	in.ReuseRecord = true
	var at [3]int
	for line := 1; ; line++ {
		rec, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.Of(fault.ErrFormat, err, "%s", file)
		case line == 1:
			for k, name := range []string{"path", "label", "sequence"} {
				at[k] = slices.Index(rec, name)
			}
			if at[0] < 0 {
				return fault.Bad("%s:1: no column path; columns: %.200q", file, rec)
			}
			if read := l.reader(rec); read != nil {
				return read(file, prefix)
			}
			continue
		}
		get := func(k int) string {
			if at[k] < 0 {
				return ""
			}
			return strings.Clone(strings.TrimSpace(rec[at[k]]))
		}
		if get(0) == "" {
			row, _ := in.FieldPos(0)
			return fault.Bad("%s:%d: no path", file, row)
		}
		l.item(below(prefix, get(0)), get(1), get(2))
	}
}
