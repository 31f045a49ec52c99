package store

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"tercet/internal/data/fault"
	"tercet/internal/fsx"
)

// Writer collects the embeddings of a folder. Rows go to a file, and a journal says how
// many of them count, always after they are on disk: what a killed process leaves is taken
// up where the journal ends.
type Writer struct {
	dir    string
	dim    int
	rows   *os.File
	buf    *bufio.Writer
	lines  *os.File
	wait   []byte // lines of the journal whose rows are not on disk yet
	synced time.Time

	done   int // items
	kept   int // rows
	sizes  [][2]int
	broken []Broken
}

// Broken is an item that could not be read.
type Broken struct {
	Item  int    `json:"item"`
	Error string `json:"error"`
}

// head is the first line of a journal.
type head struct {
	Job string `json:"job"`
	Dim int    `json:"dim"`
}

// entry is each other line: items up to Done are dealt with, Kept of them have rows.
type entry struct {
	Done   int      `json:"done"`
	Kept   int      `json:"kept"`
	Sizes  [][2]int `json:"sizes"` // width and height of the images that have rows
	Broken []Broken `json:"broken,omitempty"`
}

// flushEvery is how much work a power cut may cost.
var flushEvery = time.Second

// ErrBusy is wrapped where another process writes the folder.
var ErrBusy = errors.New("another process writes embeddings into this folder")

// ErrOther is wrapped by errors about a folder that holds another embedding.
var ErrOther = errors.New("another embedding")

// Begin begins to write a folder, or resumes what another process has begun of the same
// job, a hash of all that the rows depend on. What is there of another job is an error that
// wraps ErrOther, unless replace is set.
func Begin(dir, job string, dim int, replace bool) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, dim: dim}
	lines, err := openJournal(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	size, err := w.readJournal(lines, job)
	if errors.Is(err, ErrOther) && replace {
		*w, size, err = Writer{dir: dir, dim: dim}, 0, nil
	}
	if err == nil {
		err = cut(lines, size)
	}
	if err != nil {
		lines.Close()
		return nil, err
	}
	w.lines = lines
	if w.rows, err = openAt(filepath.Join(dir, rowsName), int64(w.kept)*int64(dim)*4); err != nil {
		w.Close()
		return nil, err
	}
	w.buf, w.synced = bufio.NewWriterSize(w.rows, 1<<18), time.Now()
	if size == 0 {
		w.add(head{job, dim})
	}
	return w, nil
}

// openJournal opens or makes a journal and locks it until it is closed, so that one process
// writes the folder.
func openJournal(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	busy, err := fsx.Lock(f)
	if err != nil && !busy {
		err = fmt.Errorf("cannot lock %s: %w; embeddings need a file system that has locks", path, err)
	}
	if err == nil { // the process before may have removed it between opening and locking
		mine, e := f.Stat()
		there, e2 := os.Stat(path)
		busy = e != nil || e2 != nil || !os.SameFile(mine, there)
	}
	if busy {
		err = fmt.Errorf("%w: %s", ErrBusy, filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openAt opens a file to append after its first size bytes.
func openAt(path string, size int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := cut(f, size); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// cut leaves the first size bytes of a file, to append after them.
func cut(f *os.File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	_, err := f.Seek(size, io.SeekStart)
	return err
}

// readJournal takes up what a journal says, and returns the length of its good lines.
func (w *Writer) readJournal(f *os.File, job string) (size int64, err error) {
	in := bufio.NewReaderSize(f, 1<<16)
	for first := true; ; first = false {
		line, err := in.ReadBytes('\n')
		if err != nil { // the last line may be half a one
			return size, nil
		}
		if first {
			var h head
			if json.Unmarshal(line, &h) != nil || h != (head{job, w.dim}) {
				return 0, fmt.Errorf("%s holds an unfinished embedding of other images, weights or options: %w", w.dir, ErrOther)
			}
		} else if !w.take(line) {
			return size, nil
		}
		size += int64(len(line))
	}
}

// take takes up a line, unless it is damaged or its rows are not there.
func (w *Writer) take(line []byte) bool {
	var e entry
	info, err := os.Stat(filepath.Join(w.dir, rowsName))
	if json.Unmarshal(line, &e) != nil || err != nil || info.Size() < int64(e.Kept)*int64(w.dim)*4 || e.Kept-w.kept != len(e.Sizes) {
		return false
	}
	w.done, w.kept = e.Done, e.Kept
	w.sizes, w.broken = append(w.sizes, e.Sizes...), append(w.broken, e.Broken...)
	return true
}

// Done is the number of items that are dealt with.
func (w *Writer) Done() int { return w.done }

// Kept is the number of items that have rows.
func (w *Writer) Kept() int { return w.kept }

func (w *Writer) add(line any) {
	b, err := json.Marshal(line)
	if err != nil {
		panic("store: " + err.Error()) // numbers and texts always encode
	}
	w.wait = append(append(w.wait, b...), '\n')
}

// Add appends the rows of the next items, of which those in broken have none. sizes are
// widths and heights, one for each row.
func (w *Writer) Add(items int, rows []float32, sizes [][2]int, broken []Broken) error {
	if len(rows) != len(sizes)*w.dim || len(sizes)+len(broken) != items {
		return fmt.Errorf("%d items: %d numbers, %d sizes and %d broken ones", items, len(rows), len(sizes), len(broken))
	}
	var word [4]byte
	for i, v := range rows {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fault.Bad("row %d of the embeddings has the value %v in column %d: the weights give no finite numbers for this image", w.kept+i/w.dim, v, i%w.dim)
		}
		binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
		if _, err := w.buf.Write(word[:]); err != nil {
			return err
		}
	}
	w.done += items
	w.kept += len(sizes)
	w.sizes, w.broken = append(w.sizes, sizes...), append(w.broken, broken...)
	w.add(entry{w.done, w.kept, sizes, broken})
	if time.Since(w.synced) < flushEvery {
		return nil
	}
	return w.flush()
}

// flush puts rows and then the journal on disk.
func (w *Writer) flush() error {
	if err := w.buf.Flush(); err != nil {
		return err
	}
	if err := w.rows.Sync(); err != nil {
		return err
	}
	if _, err := w.lines.Write(w.wait); err != nil {
		return err
	}
	w.wait, w.synced = w.wait[:0], time.Now()
	return w.lines.Sync()
}

// Close keeps what was done for a later resumption. After Finish it does nothing.
func (w *Writer) Close() error {
	var err error
	if w.buf != nil {
		err = w.flush()
		w.buf = nil
	}
	for _, f := range []*os.File{w.rows, w.lines} {
		if f == nil {
			continue
		}
		if e := f.Close(); e != nil {
			err = errors.Join(err, e)
		}
	}
	w.rows, w.lines = nil, nil
	return err
}
