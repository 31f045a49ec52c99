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

	"tercet/internal/fsx"
	"tercet/internal/record"
)

const (
	// maxLine bounds a line of events.jsonl; an event has about 500 bytes.
	maxLine = 1 << 20
)

// Log appends events to events.jsonl.
type Log struct {
	f *os.File
	w *bufio.Writer

	// Lost is how many lines of the log could not be read, Changed why it is not the one
	// that was recorded, "" where it is; Aside is where the log as it was has been put.
	Lost    int
	Changed string
	Aside   string

	tally tally
}

// OpenLog opens path for appending without the events after step, those of the given
// kinds, and a last line that a killed process left unfinished, so that a resumed run's
// log reads like one run's. A log with lines that are no events is put aside first; its
// events stay. What another process appends to the log that was there does not reach
// this one.
func OpenLog(path string, step int, without ...string) (*Log, error) {
	return OpenRecordedLog(path, nil, step, without...)
}

// OpenRecordedLog is OpenLog of a log of which want was recorded; nil for none. One that
// has lost or changed events since is put aside, too; those that are there stay.
func OpenRecordedLog(path string, want *record.LogRecord, step int, without ...string) (*Log, error) {
	s := logScan{step: step, without: without, want: want}
	if err := s.read(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	kept := s.kept
	l := &Log{Lost: s.lost, Changed: s.changed(), tally: s.tally}
	if there, err := exists(path); err != nil {
		return nil, err
	} else if there && (l.Lost > 0 || l.Changed != "") {
		var err error
		if l.Aside, err = putAside(path); err != nil {
			return nil, err
		}
	}
	if err := rewrite(path, kept); err != nil {
		return nil, err
	}
	var err error
	if l.f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	l.w = bufio.NewWriter(l.f)
	return l, nil
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
func (l *Log) Write(e *record.Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	b = append(b, '\n')
	l.tally.add(e.Kind, b)
	_, err = l.w.Write(b)
	return err
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
