package npy

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/data/file"
)

// values are labels as a file spells them: item i has the value ids[i] of ints where
// all are integers, of text otherwise. Values stand in the order in which they occur.
type values struct {
	ids  []int32
	ints []int64
	text []string
}

// wish is what a reader of labels is asked for.
type wish struct {
	column string // of a csv file; "" for label, or the only one
	n      int    // how many there are to be; with of
	of     string // says what has n, such as "x.npy has 60 rows"; "" for any number
}

// more says that a file holds more labels than are wanted.
func (w wish) more(path string) error {
	return fault.Bad("%s has more than %d labels, %s", path, w.n, w.of)
}

// check returns an error unless path's n labels are as many as are wanted.
func (w wish) check(path string, n int) error {
	if w.of != "" && n != w.n {
		return fault.Bad("%s has %d labels, %s", path, n, w.of)
	}
	return nil
}

// LabelFile is a file of labels: npy of integers or of text of fixed width, or csv.
type LabelFile struct {
	Path   string
	Column string // of a csv file; "" for the column label, or the only one
}

// ReadLabels reads labels. A csv file has one column, or a header with a column named
// label or as f says; its labels are integers or any text. Classes are the values that
// occur, rising (integers by size, text by bytes); labels index them.
func ReadLabels(f LabelFile) (labels []int32, classes []string, err error) {
	return readLabels(f.Path, wish{column: f.Column})
}

// ReadLabelsOf is ReadLabels of a file that holds n labels, and reads no more than n+1.
// of says for messages what has n: "x.npy has 60 rows".
func ReadLabelsOf(f LabelFile, n int, of string) (labels []int32, classes []string, err error) {
	return readLabels(f.Path, wish{f.Column, n, of})
}

func readLabels(path string, w wish) (labels []int32, classes []string, err error) {
	v, err := readValues(path, w)
	if err != nil {
		return nil, nil, err
	}
	parts, classes := indexValues(v)
	return parts[0], classes, nil
}

func readValues(path string, w wish) (*values, error) {
	f, size, err := file.Open(path, "give labels as npy or csv")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	var v *values
	if m, _ := in.Peek(6); string(m) == "\x93NUMPY" || strings.HasSuffix(strings.ToLower(path), ".npy") {
		if w.column != "" {
			return nil, fault.Bad("%s is an npy file, which has no column %q", path, w.column)
		}
		v, err = readArrayLabels(in, size, path, w)
	} else {
		v, err = readCSV(in, size, path, w)
	}
	if err != nil {
		return nil, err
	}
	return v, w.check(path, len(v.ids))
}

// interner numbers values by their first occurrence.
type interner[T comparable] struct {
	at   map[T]int32
	list []T
}

// maxLabels is the most different labels that are read. Each takes far more memory than
// its line, and of so many classes next to none has two items.
var maxLabels = 1 << 19

func (n *interner[T]) id(v T, path string) (int32, error) {
	id, ok := n.at[v]
	if !ok {
		if len(n.list) == maxLabels {
			return 0, fault.Bad("%s: more than %d different labels, one of them %.40q; are these numbers of items, and the classes in another column or file?", path, maxLabels, fmt.Sprint(v))
		}
		if n.at == nil {
			n.at = map[T]int32{}
		}
		id = int32(len(n.list))
		n.at[v], n.list = id, append(n.list, v)
	}
	return id, nil
}

// indexValues maps labels to 0..K-1 over one list of classes that all parts
// share. The labels take the place of the parts' ids.
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
			labels[k] = renumber(p.ids, indexIn(all, p.ints))
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
	for k, p := range parts {
		labels[k] = renumber(p.ids, indexIn(classes, words[k]))
	}
	return labels, classes
}

// renumber replaces each id by to[id].
func renumber(ids, to []int32) []int32 {
	for i, id := range ids {
		ids[i] = to[id]
	}
	return ids
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

// checkLabel refuses a label that no person gave.
func checkLabel(s, where string) error {
	switch {
	case s == "":
		return fault.Bad("%s: empty label", where)
	case strings.ContainsRune(s, 0):
		return fault.Bad("%s: the label %q holds a NUL character; is the file UTF-16? Save it as UTF-8", where, s)
	case strings.ContainsAny(s, "\n\r"):
		return fault.Bad("%s: a label goes over several lines", where)
	}
	return nil
}
