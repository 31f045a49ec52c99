// Package safetensors reads and writes the safetensors format: an 8-byte
// little-endian header length, a JSON header that names each tensor's type,
// shape and byte range, then the raw data.
//
// Files made here are canonical: tensors in the order given, keys of the
// metadata sorted, the header padded with spaces to 8 bytes. The same content
// gives the same bytes.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
)

// ErrFormat is wrapped by every error about bytes that are not a well-formed
// safetensors file.
var ErrFormat = errors.New("not a valid safetensors file")

// maxHeader bounds the JSON header, as the format's reference reader does.
const maxHeader = 100 << 20

// Tensor is one named float32 array, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// File is the content of a safetensors file.
type File struct {
	Meta    map[string]string
	Tensors []Tensor
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

type entry struct {
	DType   string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets [2]uint64 `json:"data_offsets"`
}

// Write writes f to w.
func Write(w io.Writer, f *File) error {
	var head bytes.Buffer
	head.WriteByte('{')
	if len(f.Meta) > 0 {
		meta, err := json.Marshal(f.Meta) // sorts keys
		if err != nil {
			return err
		}
		fmt.Fprintf(&head, `"__metadata__":%s`, meta)
	}
	seen := map[string]bool{}
	var at uint64
	for _, t := range f.Tensors {
		if t.Name == "" || t.Name == "__metadata__" || seen[t.Name] {
			return fmt.Errorf("safetensors: tensor name %q is empty, reserved or used twice", t.Name)
		}
		seen[t.Name] = true
		if n, ok := count(t.Shape); !ok || n != uint64(len(t.Data)) {
			return fmt.Errorf("safetensors: tensor %q has shape %v and %d numbers", t.Name, t.Shape, len(t.Data))
		}
		if head.Len() > 1 {
			head.WriteByte(',')
		}
		name, err := json.Marshal(t.Name)
		if err != nil {
			return err
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		e, err := json.Marshal(entry{"F32", shape, [2]uint64{at, at + 4*uint64(len(t.Data))}})
		if err != nil {
			return err
		}
		fmt.Fprintf(&head, "%s:%s", name, e)
		at += 4 * uint64(len(t.Data))
	}
	head.WriteByte('}')
	for head.Len()%8 != 0 {
		head.WriteByte(' ')
	}
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(head.Len()))
	if _, err := w.Write(size[:]); err != nil {
		return err
	}
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	buf := make([]byte, 0, 64<<10)
	for _, t := range f.Tensors {
		for _, v := range t.Data {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
			if len(buf) == cap(buf) {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
	}
	_, err := w.Write(buf)
	return err
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

// Parse reads a whole file. The byte ranges must cover the data exactly, without
// gap or overlap. Only F32 tensors are understood. No more memory is taken than
// the input's own size warrants.
func Parse(b []byte) (*File, error) {
	if len(b) < 8 {
		return nil, bad("%d bytes; the header length alone takes 8", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, bad("header length %d at byte 0 is more than the file (%d bytes) or the limit (%d) allow; is it truncated?", n, len(b), maxHeader)
	}
	head, data := b[8:8+n], b[8+n:]
	f := &File{Meta: map[string]string{}}
	type named struct {
		name string
		entry
	}
	var list []named
	dec := json.NewDecoder(bytes.NewReader(head))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, bad("the header is not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, bad("header: %v", err)
		}
		name := tok.(string) // inside an object a key is always a string
		if seen[name] {
			return nil, bad("header: %q stands twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := dec.Decode(&f.Meta); err != nil {
				return nil, bad("header: __metadata__: %v", err)
			}
			continue
		}
		e := named{name: name}
		if err := dec.Decode(&e.entry); err != nil {
			return nil, bad("header: tensor %q: %v", name, err)
		}
		list = append(list, e)
	}
	if _, err := dec.Token(); err != nil {
		return nil, bad("header: %v", err)
	}
	if rest := head[dec.InputOffset():]; strings.Trim(string(rest), " ") != "" {
		return nil, bad("header: rubbish behind the JSON object")
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Offsets[0] < list[j].Offsets[0] })
	var at uint64
	for _, e := range list {
		if e.DType != "F32" {
			return nil, bad("tensor %q has type %s; only F32 is supported", e.name, e.DType)
		}
		c, ok := count(e.Shape)
		if !ok {
			return nil, bad("tensor %q has shape %v", e.name, e.Shape)
		}
		lo, hi := e.Offsets[0], e.Offsets[1]
		if lo != at || hi < lo || hi > uint64(len(data)) || hi-lo != 4*c {
			return nil, bad("tensor %q of shape %v claims bytes [%d, %d); expected [%d, %d) of %d; is the file truncated?", e.name, e.Shape, lo, hi, at, at+4*c, len(data))
		}
		v := make([]float32, c)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[lo+4*uint64(i):]))
		}
		f.Tensors = append(f.Tensors, Tensor{e.name, e.Shape, v})
		at = hi
	}
	if at != uint64(len(data)) {
		return nil, bad("%d bytes behind the last tensor", uint64(len(data))-at)
	}
	return f, nil
}
