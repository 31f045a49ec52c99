package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// values are labels as a file spells them.
type values struct {
	ints []int64  // where all are integers
	text []string // otherwise
}

// ReadLabels reads labels from an npy file of integers or from a csv file. The
// csv file has one column, or a header with a column named label; its labels
// are integers or any text. Classes are the values that occur, rising (integers
// by size, text by bytes); labels index them.
func ReadLabels(path string) (labels []int32, classes []string, err error) {
	v, err := readValues(path)
	if err != nil {
		return nil, nil, err
	}
	parts, classes := indexValues(v)
	return parts[0], classes, nil
}

func readValues(path string) (*values, error) {
	f, size, err := openFile(path, "give labels as npy or csv")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if m, _ := in.Peek(6); string(m) == "\x93NUMPY" || strings.HasSuffix(strings.ToLower(path), ".npy") {
		ints, err := readNPYInts(in, size, path)
		if err != nil {
			return nil, err
		}
		return &values{ints: ints}, nil
	}
	return readCSV(in, path)
}

// indexValues maps labels to 0..K-1 over one list of classes that all parts
// share.
func indexValues(parts ...*values) (labels [][]int32, classes []string) {
	asText := false
	for _, p := range parts {
		asText = asText || p.text != nil
	}
	labels = make([][]int32, len(parts))
	if !asText {
		var all []int64
		for _, p := range parts {
			all = append(all, p.ints...)
		}
		all = distinct(all)
		for k, p := range parts {
			labels[k] = indexIn(all, p.ints)
		}
		for _, v := range all {
			classes = append(classes, strconv.FormatInt(v, 10))
		}
		return labels, classes
	}
	words := make([][]string, len(parts))
	for k, p := range parts {
		words[k] = p.text
		for _, v := range p.ints {
			words[k] = append(words[k], strconv.FormatInt(v, 10))
		}
		classes = append(classes, words[k]...)
	}
	classes = distinct(classes)
	for k := range parts {
		labels[k] = indexIn(classes, words[k])
	}
	return labels, classes
}

func distinct[T int64 | string](v []T) []T {
	v = slices.Clone(v)
	slices.Sort(v)
	return slices.Clip(slices.Compact(v))
}

func indexIn[T int64 | string](sorted, v []T) []int32 {
	out := make([]int32, len(v))
	for i, x := range v {
		k, _ := slices.BinarySearch(sorted, x)
		out[i] = int32(k)
	}
	return out
}

// readCSV reads labels, one a line.
func readCSV(r io.Reader, path string) (*values, error) {
	in := bufio.NewReader(r)
	if m, _ := in.Peek(3); bytes.Equal(m, []byte("\xef\xbb\xbf")) {
		if _, err := in.Discard(3); err != nil {
			return nil, badCause(err, "%s", path)
		}
	}
	c := csv.NewReader(in)
	c.ReuseRecord = true
	column, line := -1, 0 // line that the record before ended on
	var text []string
	for {
		rec, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badCause(err, "%s", path)
		}
		at, _ := c.FieldPos(0)
		end, _ := c.FieldPos(len(rec) - 1)
		end += strings.Count(rec[len(rec)-1], "\n")
		if column < 0 {
			header := slices.IndexFunc(rec, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "label") })
			switch {
			case header >= 0:
				column = header
			case len(rec) == 1:
				column = 0
			default:
				return nil, bad("%s:%d: %d columns and none named label; want one column, or a header with label", path, at, len(rec))
			}
			if header >= 0 {
				line = end
				continue
			}
		}
		// encoding/csv skips blank lines; skipped in silence they would shift
		// every label after them.
		if at != line+1 {
			return nil, bad("%s:%d: empty line; want a label on every line", path, line+1)
		}
		v := strings.TrimSpace(rec[column])
		if v == "" {
			return nil, bad("%s:%d: empty label", path, at)
		}
		if strings.Contains(v, "\n") {
			return nil, bad("%s:%d: a label goes over several lines", path, at)
		}
		text = append(text, v)
		line = end
	}
	if len(text) == 0 {
		return nil, bad("%s: no labels", path)
	}
	out := &values{ints: make([]int64, len(text))}
	for i, s := range text {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return &values{text: text}, nil
		}
		out.ints[i] = v
	}
	return out, nil
}
