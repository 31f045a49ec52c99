package npy

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/data/file"
	"tercet/internal/fsx"
)

// maxRecord bounds a record of a csv file of labels, in bytes.
const maxRecord = 1 << 20

// ErrColumn is in errors of a csv file without the column of labels that was asked for,
// or with several columns where none was.
var ErrColumn = errors.New("no such column of labels")

// columnError marks an error as an ErrColumn.
type columnError struct{ error }

func (e *columnError) Unwrap() []error { return []error{e.error, ErrColumn} }

// csvLabels reads the labels of a csv file.
type csvLabels struct {
	path   string
	wish   wish
	in     *csv.Reader
	bound  *fsx.Records
	column int // -1 before the first record
	line   int // that the record before ended on
	seen   interner[string]
	ids    []int32
}

// readCSV reads labels, one a line: at most one more than are wanted.
func readCSV(r io.Reader, size int64, path string, w wish) (*values, error) {
	text, err := plainText(r, path)
	if err != nil {
		return nil, err
	}
	c := &csvLabels{path: path, wish: w, bound: fsx.NewRecords(text, maxRecord), column: -1}
	c.ids = make([]int32, 0, min(int64(w.n), size/2)) // a label takes at least two bytes
	c.in = csv.NewReader(c.bound)
	c.in.ReuseRecord = true
	for {
		rec, err := c.in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.record(rec)
		} else {
			err = c.unreadable(err)
		}
		if err != nil {
			return nil, err
		}
		c.bound.Next()
	}
	if len(c.ids) == 0 {
		return nil, fault.Bad("%s: no labels", path)
	}
	return c.values(), nil
}

// plainText skips a byte order mark of UTF-8 and refuses what is no text in UTF-8.
func plainText(r io.Reader, path string) (*bufio.Reader, error) {
	in := bufio.NewReader(r)
	m, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(m, []byte("\xff\xfe")), bytes.HasPrefix(m, []byte("\xfe\xff")):
		return nil, fault.Bad("%s: the text is UTF-16; save it as UTF-8 (iconv -f utf-16 -t utf-8)", path)
	case file.Zip(m) != "":
		return nil, fault.Bad("%s is %s", path, file.Zip(m))
	case bytes.HasPrefix(m, []byte("\xef\xbb\xbf")):
		if _, err := in.Discard(3); err != nil {
			return nil, fault.Of(fault.ErrFormat, err, "%s", path)
		}
	}
	return in, nil
}

// unreadable words an error of the csv reader.
func (c *csvLabels) unreadable(err error) error {
	if errors.Is(err, fsx.ErrLong) {
		return fault.Bad("%s:%d: the line, or the quoted text that begins in it, has more than %d bytes; want one label a line", c.path, c.line+1, maxRecord)
	}
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return fault.Of(fault.ErrFormat, err, "%s", c.path)
	}
	what := p.Err.Error()
	switch {
	case errors.Is(p.Err, csv.ErrFieldCount):
		what = "another number of columns than in the lines before"
	case errors.Is(p.Err, csv.ErrQuote), errors.Is(p.Err, csv.ErrBareQuote):
		what = `a quote (") without its partner`
	}
	return fault.Bad("%s:%d: %s", c.path, p.Line, what)
}

func (c *csvLabels) record(rec []string) error {
	at, _ := c.in.FieldPos(0)
	end, _ := c.in.FieldPos(len(rec) - 1)
	end += strings.Count(rec[len(rec)-1], "\n")
	if c.column < 0 {
		header, err := c.choose(rec, at)
		if err != nil {
			return err
		}
		if header {
			c.line = end
			return nil
		}
	}
	// encoding/csv skips blank lines; skipped in silence they would shift
	// every label after them.
	if at != c.line+1 {
		return fault.Bad("%s:%d: empty line; want a label on every line", c.path, c.line+1)
	}
	c.line = end
	if c.wish.of != "" && len(c.ids) == c.wish.n {
		return c.wish.more(c.path)
	}
	v := strings.TrimSpace(rec[c.column])
	if err := checkLabel(v, fmt.Sprintf("%s:%d", c.path, at)); err != nil {
		return err
	}
	id, err := c.seen.id(v, c.path)
	c.ids = append(c.ids, id)
	return err
}

// choose finds the column of labels in the first record, and says whether that is a
// header.
func (c *csvLabels) choose(rec []string, at int) (header bool, err error) {
	name := c.wish.column
	if name == "" {
		name = "label"
	}
	named := slices.IndexFunc(rec, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), name) })
	switch {
	case named >= 0:
		c.column = named
		return true, nil
	case c.wish.column != "":
		return false, &columnError{fault.Bad("%s:%d: no column is named %q; columns: %.200q", c.path, at, name, rec)}
	case len(rec) == 1:
		c.column = 0
		return false, nil
	}
	return false, &columnError{fault.Bad("%s:%d: %d columns and none named label; give one column, or a header, and name the column of labels", c.path, at, len(rec))}
}

// values returns the labels as integers where all of them are.
func (c *csvLabels) values() *values {
	v := &values{ids: c.ids, ints: make([]int64, len(c.seen.list))}
	for i, s := range c.seen.list {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return &values{ids: c.ids, text: c.seen.list}
		}
		v.ints[i] = n
	}
	return v
}
