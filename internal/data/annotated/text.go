package annotated

import (
	"bytes"
	"errors"
	"image"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/fsx"
)

// maxText bounds text files of annotations: the largest of the known ones has 8 MB.
const maxText = 256 << 20

// readText reads an annotation file.
func readText(file string) ([]byte, error) {
	b, err := fsx.ReadFile(file, maxText)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Missing(err, "cannot read the annotation")
	case err != nil:
		return nil, fault.Of(fault.ErrFormat, err, "cannot read the annotation")
	}
	return bytes.TrimPrefix(b, []byte("\ufeff")), nil
}

// row is one line of a text file, in words.
type row struct {
	file   string
	line   int // from 1
	fields []string
}

// bad returns an error about the line.
func (r row) bad(format string, args ...any) error {
	return fault.Of(fault.ErrFormat, fault.Bad(format, args...), "%s, line %d", r.file, r.line)
}

// number returns word k, a whole number of least to most.
func (r row) number(k int, what string, least, most int) (int, error) {
	n, err := strconv.Atoi(r.fields[k])
	if err != nil || n < least || n > most {
		return 0, r.bad("%s is %q; it must be a number from %d to %d", what, r.fields[k], least, most)
	}
	return n, nil
}

// eachRow calls f for the lines of a text file, of which the first skip are no rows: the
// words between spaces, as many as columns names. Empty lines are left out.
func eachRow(file string, skip int, columns []string, f func(r row) error) error {
	b, err := readText(file)
	if err != nil {
		return err
	}
	r := row{file: file}
	for text := range strings.Lines(string(b)) {
		if r.line++; r.line <= skip {
			continue
		}
		r.fields = strings.Fields(text)
		if len(r.fields) == 0 {
			continue
		}
		if len(r.fields) != len(columns) {
			return r.bad("%d words where there should be %d: %s", len(r.fields), len(columns), strings.Join(columns, " "))
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// locate returns the first of the places below root where a file or folder of that name
// is, "" where it is in none.
func locate(root, name string, places ...string) string {
	for _, p := range places {
		at := filepath.Join(root, p, name)
		if _, err := os.Stat(at); err == nil {
			return at
		}
	}
	return ""
}

// isFolder follows links.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// nowhere is the error of a source that does not find its annotation.
func nowhere(source, root string, want string) error {
	hint := ""
	if other := guess(root); other != "" && other != source {
		hint = "; the files there look like data " + other
	}
	return fault.Missing(nil, "data %s: no %s below %s%s", source, want, root, hint)
}

// guess says which source the files below root look like.
func guess(root string) string {
	for _, l := range []struct{ source, file string }{
		{"cub", "image_class_labels.txt"}, {"cub", "CUB_200_2011"}, {"sop", "Ebay_train.txt"}, {"sop", "Info_Files"}, {"sop", "Stanford_Online_Products"},
		{"inshop", "list_eval_partition.txt"}, {"inshop", "Eval"}, {"cars", "cars_annos.mat"}, {"cars", "devkit"}, {"cars", "anno_train.csv"},
	} {
		if locate(root, l.file, "") != "" {
			return l.source
		}
	}
	return ""
}

// rectangle makes a box of the corners of its pixels; what is not in a pixel at all is
// dropped.
func rectangle(left, top, right, bottom float64) image.Rectangle {
	whole := func(v float64) int { return int(max(min(math.Round(v), 1<<20), -1<<20)) }
	return image.Rectangle{Min: image.Pt(whole(left), whole(top)), Max: image.Pt(whole(right), whole(bottom))}
}
