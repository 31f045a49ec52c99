package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Layout is how embeddings lie in files.
type Layout struct {
	Part int  // rows of a file, where there are more; 0: one file
	Half bool // float16
}

// Finish writes the folder's files from what was added, the document last, and removes the
// unfinished ones. items are those of all rows and of the broken ones, in order. A process
// that is killed meanwhile leaves a folder that Begin takes up again.
func (w *Writer) Finish(items []Item, doc *record.Embed, l Layout) error {
	if len(items) != w.done {
		return fmt.Errorf("%d of %d items are embedded", w.done, len(items))
	}
	if w.kept == 0 {
		return fault.Bad("none of the %d images could be read; the first: %s: %s", len(items), items[w.broken[0].Item].Path, w.broken[0].Error)
	}
	if err := w.flush(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.dir, documentName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.removeOld(); err != nil {
		return err
	}
	doc.Files = nil
	part := l.Part
	if part <= 0 || part >= w.kept {
		part = w.kept
	}
	for lo := 0; lo < w.kept; lo += part {
		name := wholeName
		if part < w.kept {
			name = fmt.Sprintf(partPattern, lo/part)
		}
		file, err := w.vectors(name, lo, min(lo+part, w.kept), l.Half)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, file)
	}
	kept := w.keep(items, doc)
	var err error
	if doc.Items, err = hashed(w.dir, itemsName, len(kept), func(to io.Writer) error { return writeItems(to, kept) }); err != nil {
		return err
	}
	if err := record.Write(filepath.Join(w.dir, documentName), doc); err != nil {
		return err
	}
	err = w.Close()
	for _, name := range []string{journalName, rowsName} {
		err = errors.Join(err, os.Remove(filepath.Join(w.dir, name)))
	}
	return err
}

// Tidy removes the unfinished files that a process has left which was killed after it had
// written the document. Files that another process works on stay.
func Tidy(dir string) error {
	path := filepath.Join(dir, journalName)
	if _, err := os.Lstat(path); err == nil {
		f, err := openJournal(path)
		if errors.Is(err, ErrBusy) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
	}
	for _, name := range []string{journalName, rowsName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeOld removes the arrays of an embedding that this one replaces: readers of all npy
// files of the folder would take them for parts.
func (w *Writer) removeOld() error {
	old, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(w.dir), "embeddings_[0-9][0-9][0-9][0-9][0-9].npy"))
	if err != nil {
		return err
	}
	for _, path := range append(old, filepath.Join(w.dir, wholeName)) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// keep returns the items that have rows, with their sizes, and lists the others.
func (w *Writer) keep(items []Item, doc *record.Embed) []Item {
	bad := map[int]string{}
	for _, b := range w.broken {
		bad[b.Item] = b.Error
		doc.Broken = append(doc.Broken, record.BrokenImage{Path: items[b.Item].Path, Error: b.Error})
	}
	out := make([]Item, 0, w.kept)
	labels := map[string]bool{}
	for i, it := range items {
		if _, ok := bad[i]; ok {
			continue
		}
		it.Width, it.Height = w.sizes[len(out)][0], w.sizes[len(out)][1]
		out = append(out, it)
		if it.Label != "" {
			labels[it.Label] = true
		}
	}
	doc.Source.Items, doc.Source.Classes = len(out), len(labels)
	return out
}

// vectors writes rows [lo, hi) as an npy file.
func (w *Writer) vectors(name string, lo, hi int, half bool) (record.EmbedFile, error) {
	return hashed(w.dir, name, hi-lo, func(to io.Writer) error {
		descr := "<f4"
		if half {
			descr = "<f2"
		}
		if err := npy.WriteHeader(to, descr, hi-lo, w.dim); err != nil {
			return err
		}
		width := int64(w.dim) * 4
		from := io.NewSectionReader(w.rows, int64(lo)*width, int64(hi-lo)*width)
		if !half {
			_, err := io.Copy(to, from)
			return err
		}
		return halves(to, from, lo, w.dim)
	})
}

// halves copies float32 as float16.
func halves(to io.Writer, from io.Reader, row, dim int) error {
	in, out := make([]byte, 4*dim), make([]byte, 0, 2*dim)
	for ; ; row++ {
		if _, err := io.ReadFull(from, in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		out = out[:0]
		for i := 0; i < len(in); i += 4 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(in[i:]))
			h := npy.Half(v)
			if h&0x7c00 == 0x7c00 {
				return fault.Unfit("row %d of the embeddings has the value %v, beyond float16: write them as f32", row, v)
			}
			out = binary.LittleEndian.AppendUint16(out, h)
		}
		if _, err := to.Write(out); err != nil {
			return err
		}
	}
}

// hashed writes a file of the folder and returns what the document says of it.
func hashed(dir, name string, rows int, fill func(io.Writer) error) (record.EmbedFile, error) {
	sum := sha256.New()
	err := fsx.Write(filepath.Join(dir, name), 0o644, func(w io.Writer) error { return fill(io.MultiWriter(w, sum)) })
	return record.EmbedFile{Name: name, Rows: rows, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}
