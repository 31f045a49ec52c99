package safetensors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"tercet/internal/fsx"
)

// ErrFormat is wrapped by every error about bytes that are not a well-formed
// safetensors file.
var ErrFormat = errors.New("not a valid safetensors file")

// maxHeader bounds the JSON header, as the format's reference reader does.
const maxHeader = 100 << 20

// maxTensors bounds what a header lists, so that reading it takes no more memory than
// a small multiple of its own size.
const maxTensors = 100_000

// smallFile is how much memory tensors may take whatever their file's size.
const smallFile = 64 << 10

// Tensor is one named array, row-major. Numbers of other types are float32 once read.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
	// Integers makes Write write int64: PyTorch's counters are of that type. Reading
	// leaves it false.
	Integers bool
}

// File is the content of a safetensors file.
type File struct {
	Meta    map[string]string
	Tensors []Tensor
	// Sealed is set by reading: the file has a digest, and matches it.
	Sealed bool
}

// Find returns the tensor called name, or nil.
func (f *File) Find(name string) *Tensor {
	for i := range f.Tensors {
		if f.Tensors[i].Name == name {
			return &f.Tensors[i]
		}
	}
	return nil
}

// entry is what the header says of a tensor.
type entry struct {
	DType   string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets [2]uint64 `json:"data_offsets"`
}

// Write writes f to w.
func Write(w io.Writer, f *File) error {
	head, err := header(f)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	return writeData(w, f.Tensors)
}

// header returns what stands before the data: the length of the JSON header, and the
// header.
func header(f *File) ([]byte, error) {
	var head bytes.Buffer
	head.Write(make([]byte, 8))
	head.WriteByte('{')
	if len(f.Meta) > 0 {
		meta, err := json.Marshal(f.Meta) // sorts keys
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&head, `"__metadata__":%s`, meta)
	}
	seen := map[string]bool{}
	var at uint64
	for _, t := range f.Tensors {
		if t.Name == "" || t.Name == "__metadata__" || seen[t.Name] {
			return nil, fmt.Errorf("safetensors: tensor name %q is empty, reserved or used twice", t.Name)
		}
		seen[t.Name] = true
		if n, ok := count(t.Shape); !ok || n != uint64(len(t.Data)) {
			return nil, fmt.Errorf("safetensors: tensor %q has shape %v and %d numbers", t.Name, t.Shape, len(t.Data))
		}
		if head.Len() > 9 {
			head.WriteByte(',')
		}
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		dtype := "F32"
		if t.Integers {
			dtype = "I64"
		}
		end := at + uint64(Width(dtype)*len(t.Data))
		e, err := json.Marshal(entry{dtype, shape, [2]uint64{at, end}})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&head, "%s:%s", name, e)
		at = end
	}
	head.WriteByte('}')
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	binary.LittleEndian.PutUint64(head.Bytes(), uint64(head.Len()-8))
	return head.Bytes(), nil
}

// writeData writes the numbers of all tensors.
func writeData(w io.Writer, tensors []Tensor) error {
	for _, t := range tensors {
		if err := WriteNumbers(w, t); err != nil {
			return err
		}
	}
	return nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// count returns the product of shape, or false on a negative extent or overflow.
func count(shape []int) (uint64, bool) {
	n := uint64(1)
	for _, d := range shape {
		if d < 0 || (d > 0 && n > math.MaxInt64/4/uint64(d)) {
			return 0, false
		}
		n *= uint64(d)
	}
	return n, true
}

// Parse reads a file that is in memory; see Read.
func Parse(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// ReadFile reads the file at path, which must be a regular one; see Read. Its errors
// name the path.
func ReadFile(path string) (*File, error) {
	f, size, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := Read(bufio.NewReaderSize(f, 1<<16), size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// Read reads a whole file of size bytes from r. The byte ranges must cover the data
// exactly, without gap or overlap. Tensors of the types in dtypes become float32. The
// header is checked against size before any tensor is made: tensors take at most twice
// the memory of the file. A file with the metadata key "digest" must match it.
func Read(r io.Reader, size int64) (*File, error) {
	head, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	f, list, err := parseHeader(head)
	if err != nil {
		return nil, err
	}
	data := uint64(size) - 8 - uint64(len(head))
	if err := checkRanges(list, data); err != nil {
		return nil, err
	}
	sum := begin(head)
	if _, sealed := f.Meta[digestKey]; sealed {
		r = io.TeeReader(r, sum)
	}
	for _, e := range list {
		v := make([]float32, (e.Offsets[1]-e.Offsets[0])/uint64(Width(e.DType)))
		if err := ReadNumbers(r, e.DType, v); err != nil {
			return nil, bad("tensor %q: the file ends inside its data: %v", e.name, err)
		}
		f.Tensors = append(f.Tensors, Tensor{Name: e.name, Shape: e.Shape, Data: v})
	}
	return f, f.checkDigest(sum)
}

// readHeader reads the JSON header, whose length is held against the file's size first.
func readHeader(r io.Reader, size int64) ([]byte, error) {
	if size < 8 {
		return nil, bad("%d bytes; the header length alone takes 8", size)
	}
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, bad("the file ends inside the header length: %v", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || n > uint64(size-8) {
		return nil, bad("header length %d at byte 0 is more than the file (%d bytes) or the limit (%d) allow; is it truncated?", n, size, maxHeader)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, bad("the file ends inside the header: %v", err)
	}
	return head, nil
}

// named is a tensor as the header lists it.
type named struct {
	name string
	entry
}

// parseHeader returns the metadata and the tensors, by their place in the data.
func parseHeader(head []byte) (*File, []named, error) {
	f := &File{Meta: map[string]string{}}
	var list []named
	dec := json.NewDecoder(bytes.NewReader(head))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, nil, bad("the header is not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, nil, bad("header: %s", jsonWords(err))
		}
		name := tok.(string) // inside an object a key is always a string
		if seen[name] {
			return nil, nil, bad("header: %q is listed twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := dec.Decode(&f.Meta); err != nil {
				return nil, nil, bad("header: __metadata__: %s; it holds texts only", jsonWords(err))
			}
			continue
		}
		e := named{name: name}
		if err := dec.Decode(&e.entry); err != nil {
			return nil, nil, bad("header: tensor %q: %s; want dtype, shape and data_offsets, whole numbers from 0 on", name, jsonWords(err))
		}
		if list = append(list, e); len(list) > maxTensors {
			return nil, nil, bad("header: more than %d tensors", maxTensors)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, bad("header: %s", jsonWords(err))
	}
	if rest := head[dec.InputOffset():]; strings.Trim(string(rest), " ") != "" {
		return nil, nil, bad("header: rubbish behind the JSON object")
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Offsets[0] < list[j].Offsets[0] })
	return f, list, nil
}

// jsonWords says in the words of a user what is wrong with a part of the header.
func jsonWords(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("%s is %s, which is of the wrong kind", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Sprintf("it is %s, which is of the wrong kind", kind.Value)
	case errors.As(err, &syntax):
		return fmt.Sprintf("not valid JSON near byte %d", syntax.Offset)
	}
	return "not valid JSON: it ends early"
}

// checkRanges verifies types and shapes, and that the byte ranges cover data exactly.
func checkRanges(list []named, data uint64) error {
	var at, memory uint64
	for _, e := range list {
		width := uint64(Width(e.DType))
		if width == 0 {
			return bad("tensor %q has type %s; the types that are read are %s", e.name, e.DType, Types())
		}
		c, ok := count(e.Shape)
		if !ok {
			return bad("tensor %q has shape %v", e.name, e.Shape)
		}
		lo, hi := e.Offsets[0], e.Offsets[1]
		if lo != at || hi < lo || hi > data || hi-lo != width*c {
			return bad("tensor %q of shape %v claims bytes [%d, %d); expected [%d, %d) of %d; is the file truncated?", e.name, e.Shape, lo, hi, at, at+width*c, data)
		}
		at = hi
		if memory += 4 * c; memory > 2*data+smallFile {
			return bad("its tensors take more than twice the memory of the file: bytes and booleans are not weights")
		}
	}
	if at != data {
		return bad("%d bytes behind the last tensor", data-at)
	}
	return nil
}
