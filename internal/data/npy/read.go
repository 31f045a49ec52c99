// Package npy reads and writes arrays of npy files, and reads labels of npy or csv files.
package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/data/file"
	"tercet/internal/engine/array"
)

// maxHeader bounds the header of an npy file, as numpy's own reader does by
// default (10,000 bytes).
const maxHeader = 10000

// header describes an npy file whose size was found to agree with it.
type header struct {
	kind    string // element type without byte order: f4, f8, i8, ...
	descr   string // with it: <f4
	fortran bool
	shape   []int
	count   int  // product of shape
	rows    bool // whether rows are no embeddings, see ReadRows
}

var (
	descrKey    = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	fortranKey  = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeKey    = regexp.MustCompile(`'shape'\s*:\s*\(([0-9L,\s]*)\)`)
	elementType = regexp.MustCompile(`^[<>|]([a-zUS])([0-9]{1,5})$`)
)

// readHeader reads the header and checks it, and the size of the file (in
// bytes) against it, before anything of that size is made.
func readHeader(r io.Reader, size int64, path string) (*header, error) {
	var pre [12]byte
	if n, err := io.ReadFull(r, pre[:8]); err != nil {
		return nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: ends at byte %d, inside the npy magic", path, n)
	}
	if string(pre[:6]) != "\x93NUMPY" {
		if what := file.Zip(pre[:6]); what != "" {
			return nil, fault.Bad("%s: not an npy file but %s", path, what)
		}
		return nil, fault.Bad("%s: not an npy file: it begins with %q", path, pre[:6])
	}
	width := 4
	switch pre[6] {
	case 1:
		width = 2
	case 2, 3:
	default:
		return nil, fault.Bad("%s: npy version %d.%d; 1 to 3 are read", path, pre[6], pre[7])
	}
	if n, err := io.ReadFull(r, pre[8:8+width]); err != nil {
		return nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: ends at byte %d, inside the length of the header", path, 8+n)
	}
	length := int64(binary.LittleEndian.Uint32(pre[8:]))
	start := int64(8 + width)
	if length > maxHeader || start+length > size {
		return nil, fault.Bad("%s: npy header of %d bytes in a file of %d", path, length, size)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: ends at byte %d, inside the header", path, start+int64(n))
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, fault.Of(fault.ErrFormat, err, "%s: npy header", path)
	}
	wide := h.width()
	want := int64(wide)
	for _, d := range h.shape {
		if d > 0 && want > math.MaxInt64/2/int64(d) {
			return nil, fault.Bad("%s: shape %v overflows", path, h.shape)
		}
		want *= int64(d)
	}
	if have := size - start - length; have != want {
		what := "truncated"
		if have > want {
			what = "too long"
		}
		return nil, fault.Bad("%s: %s: shape %v of %s needs %d bytes after the header (offset %d), the file has %d", path, what, h.shape, h.descr, want, start+length, have)
	}
	if want/int64(wide) > math.MaxInt { // which 32-bit machines reach
		return nil, fault.Bad("%s: shape %v overflows", path, h.shape)
	}
	h.count = int(want / int64(wide))
	return h, nil
}

// width is the number of bytes of an element. Text of type U takes 4 a character.
func (h *header) width() int {
	n, _ := strconv.Atoi(h.kind[1:]) // elementType let digits through alone
	if h.kind[0] == 'U' {
		n *= 4
	}
	return n
}

// parseHeader reads the header's Python dictionary: the three keys in any
// order, and nothing else.
func parseHeader(text string) (*header, error) {
	h := new(header)
	rest := text
	field := func(re *regexp.Regexp) (string, bool) {
		m := re.FindStringSubmatchIndex(rest)
		if m == nil {
			return "", false
		}
		v := rest[m[2]:m[3]]
		rest = rest[:m[0]] + rest[m[1]:]
		return v, true
	}
	descr, ok1 := field(descrKey)
	fortran, ok2 := field(fortranKey)
	shape, ok3 := field(shapeKey)
	rest = strings.TrimSpace(rest)
	if !ok1 || !ok2 || !ok3 || !strings.HasPrefix(rest, "{") || !strings.HasSuffix(rest, "}") || strings.Trim(rest[1:len(rest)-1], ", \t") != "" {
		return nil, fmt.Errorf("want a dictionary of descr (one plain type), fortran_order and shape, got %.200q", text)
	}
	m := elementType.FindStringSubmatch(descr)
	switch {
	case strings.HasSuffix(descr, "O"):
		return nil, fmt.Errorf("elements are Python objects (%q); save numbers, or text of fixed width (numpy: y.astype('U'))", descr)
	case m == nil || strings.Trim(m[2], "0") == "":
		return nil, fmt.Errorf("element type %q; want numbers, or text of fixed width for labels", descr)
	}
	h.descr, h.kind, h.fortran = descr, m[1]+m[2], fortran == "True"
	for _, tok := range strings.Split(shape, ",") {
		if tok = strings.TrimSpace(tok); tok == "" {
			continue
		}
		d, err := strconv.ParseInt(strings.TrimSuffix(tok, "L"), 10, 63)
		if err != nil || d > math.MaxInt { // which 32-bit machines reach
			return nil, fmt.Errorf("shape (%s) overflows", shape)
		}
		h.shape = append(h.shape, int(d))
	}
	return h, nil
}

// each calls f with the bytes of each element that follows the header in r, in the order
// of the file.
func (h *header) each(r io.Reader, path string, f func(k int, raw []byte) error) error {
	width := h.width()
	buf := make([]byte, width*max(1, (1<<16)/width))
	for k := 0; k < h.count; {
		part := buf[:width*min(len(buf)/width, h.count-k)]
		if n, err := io.ReadFull(r, part); err != nil {
			return fault.Of(fault.ErrFormat, file.Ended(err), "%s: element %d", path, k+n/width)
		}
		for ; len(part) > 0; part = part[width:] {
			if err := f(k, part[:width]); err != nil {
				return err
			}
			k++
		}
	}
	return nil
}

// Labeled are the files of embeddings and of their labels.
type Labeled struct {
	Vectors string
	Labels  LabelFile
}

// ReadLabeled reads embeddings as Read does, and their labels. The headers of two files
// are compared before anything else of them is read. All sets share one list of classes.
// Errors wrap fault.ErrMissing or fault.ErrFormat.
func ReadLabeled(sets ...Labeled) (x []*array.Array, y [][]int32, classes []string, err error) {
	var spelled []*values
	for _, s := range sets {
		part, v, err := readPart(s.Vectors, s.Labels)
		if err != nil {
			return nil, nil, nil, err
		}
		x, spelled = append(x, part), append(spelled, v)
	}
	y, classes = indexValues(spelled...)
	return x, y, classes, nil
}

// readPart reads embeddings and their labels as they are spelled.
func readPart(embeddings string, labels LabelFile) (*array.Array, *values, error) {
	f, size, err := file.Open(embeddings, "give an npy file of shape (N, D)")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	h, err := readEmbeddingsHeader(f, size, embeddings)
	if err != nil {
		return nil, nil, err
	}
	v, err := readValues(labels.Path, wish{labels.Column, h.shape[0], fmt.Sprintf("%s has %d rows", embeddings, h.shape[0])})
	if err != nil {
		return nil, nil, err
	}
	x, err := readEmbeddingsBody(f, h, embeddings)
	return x, v, err
}

// Read reads an (N, D) array of float16, float32 or float64, in C or Fortran
// order, from an npy file. A value that is not finite in float32 is an error.
// Errors wrap fault.ErrMissing or fault.ErrFormat.
func Read(path string) (*array.Array, error) {
	f, size, err := file.Open(path, "give an npy file of shape (N, D)")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readEmbeddings(f, size, path)
}

// ReadRows is Read of an array of two or more axes, of which the first counts the rows and
// the others, which it returns, are taken as one. Only C order is read where there are more
// than two.
func ReadRows(path string) (*array.Array, []int, error) {
	f, size, err := file.Open(path, "give an npy file of shape (N, ...)")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	h, err := readHeader(f, size, path)
	if err != nil {
		return nil, nil, err
	}
	if len(h.shape) < 2 || h.count == 0 || h.fortran && len(h.shape) > 2 {
		return nil, nil, fault.Bad("%s: the array has shape %v; want (N, ...) in C order, none of them 0 (numpy: numpy.ascontiguousarray)", path, h.shape)
	}
	each := h.shape[1:]
	h.shape, h.rows = []int{h.shape[0], h.count / h.shape[0]}, true
	if err := CheckMemory(path, h.shape[0], h.shape[1]); err != nil {
		return nil, nil, err
	}
	x, err := readEmbeddingsBody(f, h, path)
	return x, each, err
}

func readEmbeddings(r io.Reader, size int64, path string) (*array.Array, error) {
	h, err := readEmbeddingsHeader(r, size, path)
	if err != nil {
		return nil, err
	}
	return readEmbeddingsBody(r, h, path)
}

// readEmbeddingsHeader reads a header and checks that it is one of embeddings.
func readEmbeddingsHeader(r io.Reader, size int64, path string) (*header, error) {
	h, err := readHeader(r, size, path)
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 2 || h.count == 0 {
		return nil, fault.Bad("%s: embeddings have shape %v; want (N, D) with both at least 1", path, h.shape)
	}
	if err := CheckMemory(path, h.shape[0], h.shape[1]); err != nil {
		return nil, err
	}
	return h, nil
}

func readEmbeddingsBody(r io.Reader, h *header, path string) (*array.Array, error) {
	if x, err := h.mapped(r, path); x != nil || err != nil {
		return x, err
	}
	n, d := h.shape[0], h.shape[1]
	out := array.New(n, d)
	number := h.number()
	if !number.Real() {
		return nil, fault.Bad("%s: elements are %s; want float16, float32 or float64 (numpy: x.astype('float32'))", path, h.descr)
	}
	err := h.each(r, path, func(k int, raw []byte) error {
		row, col := k/d, k%d
		if h.fortran {
			row, col = k%n, k/n
		}
		v := number.Float(raw, 0)
		x := float32(v)
		if math.IsNaN(v) || math.IsInf(float64(x), 0) {
			return h.notFinite(path, row, col, v)
		}
		out.Data[row*d+col] = x
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// notFinite is the error for value v of a row and column.
func (h *header) notFinite(path string, row, col int, v float64) error {
	what := strconv.FormatFloat(v, 'g', -1, 64)
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		what += " (beyond float32)"
	}
	if h.rows {
		return fault.Bad("%s: number %d of row %d is %s; numbers must be finite", path, col, row, what)
	}
	return fault.Bad("%s: row %d, column %d is %s; embeddings must be finite", path, row, col, what)
}
