package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"tercet/internal/fsx"
)

const (
	// maxLine bounds a line of events.jsonl; an event has about 500 bytes.
	maxLine = 1 << 20
)

// Log appends events to events.jsonl.
type Log struct {
	f *os.File
	w *bufio.Writer

	// Lost is how many lines of the log could not be read, Aside where the log that has
	// them was put.
	Lost  int
	Aside string
}

// OpenLog opens path for appending without the events after step, those of the given
// kinds, and a last line that a killed process left unfinished, so that a resumed run's
// log reads like one run's. A log with lines that are no events is put aside first; its
// events stay. What another process appends to the log that was there does not reach
// this one.
func OpenLog(path string, step int, without ...string) (*Log, error) {
	kept, lost, err := scanLog(path, step, without)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &Log{Lost: lost}
	if lost > 0 {
		if l.Aside, err = putAside(path); err != nil {
			return nil, err
		}
	}
	if err := rewrite(path, kept); err != nil {
		return nil, err
	}
	if l.f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	l.w = bufio.NewWriter(l.f)
	return l, nil
}

// span is a range of bytes of a file.
type span struct{ from, to int64 }

// scanLog returns where in the log at path the events are that stay, and how many lines
// are none. A line behind an event after step is passed over whatever it is: the file
// was not yet synced that far.
func scanLog(path string, step int, without []string) (kept []span, lost int, err error) {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, maxLine)
	behind := false
	for at := int64(0); ; {
		line, n, whole, err := readLine(in)
		if err != nil {
			return nil, 0, err
		}
		if n == 0 {
			return kept, lost, nil
		}
		from := at
		at += n
		e, ok := parseLine(line)
		switch {
		case !whole && bytes.HasPrefix(line, []byte("{")) && n < maxLine: // the process was killed
		case !whole || !ok:
			if !behind {
				lost++
			}
		case *e.Step > step:
			behind = true
		case slices.Contains(without, e.Kind):
		case len(kept) > 0 && kept[len(kept)-1].to == from:
			kept[len(kept)-1].to = at
		default:
			kept = append(kept, span{from, at})
		}
	}
}

// place is what every event says.
type place struct {
	Kind string `json:"event"`
	Step *int   `json:"step"`
}

func parseLine(line []byte) (e place, ok bool) {
	return e, json.Unmarshal(line, &e) == nil && e.Step != nil
}

// readLine reads a line of n bytes; whole says that it ends in a newline. Of a line
// longer than maxLine it returns the beginning.
func readLine(in *bufio.Reader) (line []byte, n int64, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if line == nil {
			line = bytes.Clone(part)
		}
		switch {
		case err == nil:
			return line, n, true, nil
		case errors.Is(err, io.EOF):
			return line, n, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, n, false, err
		}
	}
}

// putAside gives the log at path a second name, which no file has, and returns it.
func putAside(path string) (string, error) {
	aside := path + ".damaged"
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return aside, fsx.Keep(path, aside)
		}
		aside = fmt.Sprintf("%s.damaged-%d", path, i)
	}
}

// rewrite replaces the file at path by the given parts of it.
func rewrite(path string, parts []span) error {
	if len(parts) == 0 {
		return fsx.WriteFile(path, nil, 0o644)
	}
	in, _, err := fsx.OpenRegular(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return fsx.Write(path, 0o644, func(w io.Writer) error {
		for _, p := range parts {
			if _, err := io.Copy(w, io.NewSectionReader(in, p.from, p.to-p.from)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Write appends one event.
func (l *Log) Write(e *Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	l.w.Write(b)
	return l.w.WriteByte('\n')
}

// Flush hands written events to the operating system; Sync waits for the disk.
func (l *Log) Flush() error { return l.w.Flush() }

// Sync flushes and waits until the events are on disk.
func (l *Log) Sync() error {
	if err := l.w.Flush(); err != nil {
		return err
	}
	return l.f.Sync()
}

// Close syncs and closes the file.
func (l *Log) Close() error {
	err := l.Sync()
	if e := l.f.Close(); err == nil {
		err = e
	}
	return err
}
