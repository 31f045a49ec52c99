package mat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Classes of arrays.
const (
	mxCell   = 1
	mxStruct = 2
	mxChar   = 4
	mxDouble = 6
	mxUint64 = 15
)

// matrix reads the content of a miMATRIX element.
func matrix(body []byte, depth int) (a Array, err error) {
	if depth > maxDepth {
		return a, fmt.Errorf("cells and structs nested more than %d deep", maxDepth)
	}
	if len(body) == 0 { // an empty element of a cell
		a.Dims = []int{0, 0}
		return a, nil
	}
	r := reader{data: body}
	flags, err := r.of("array flags", miUint32)
	if err != nil {
		return a, err
	}
	if len(flags) != 8 {
		return a, fmt.Errorf("array flags of %d bytes", len(flags))
	}
	dims, err := r.of("dimensions", miInt32)
	if err != nil {
		return a, err
	}
	count, err := a.shape(dims, len(body))
	if err != nil {
		return a, err
	}
	name, err := r.of("name", miInt8, miUTF8)
	if err != nil {
		return a, err
	}
	a.Name = string(name)
	if flags[1]&0x08 != 0 {
		return a, fmt.Errorf("%s: complex numbers, which are not read", a.Name)
	}
	switch class := flags[0]; {
	case class == mxCell:
		a.Elements, err = r.elements(count, depth)
	case class == mxStruct:
		err = a.structs(&r, count, depth)
	case class == mxChar:
		err = a.text(&r, count)
	case class >= mxDouble && class <= mxUint64:
		err = a.numbers(&r, count)
	default:
		err = fmt.Errorf("class %d, which is not read", class)
	}
	if err != nil {
		return a, fmt.Errorf("%q: %w", a.Name, err)
	}
	return a, nil
}

// shape reads the dimensions and returns their product, which no body of size bytes can
// hold less of than a byte each.
func (a *Array) shape(dims []byte, size int) (int, error) {
	if len(dims) < 8 || len(dims)%4 != 0 || len(dims) > 64 {
		return 0, fmt.Errorf("dimensions of %d bytes", len(dims))
	}
	count := 1
	for ; len(dims) > 0; dims = dims[4:] {
		d := int(int32(binary.LittleEndian.Uint32(dims)))
		if d < 0 || d > size || count*d > size {
			return 0, fmt.Errorf("dimension %d of an array of %d bytes", d, size)
		}
		count *= d
		a.Dims = append(a.Dims, d)
	}
	return count, nil
}

// elements reads n arrays.
func (r *reader) elements(n, depth int) ([]Array, error) {
	if n > (len(r.data)-r.at)/8 { // each has a tag
		return nil, errCut
	}
	out := make([]Array, n)
	for i := range out {
		body, err := r.of("element", miMatrix)
		if err == nil {
			out[i], err = matrix(body, depth+1)
		}
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i+1, err)
		}
	}
	return out, nil
}

func (a *Array) structs(r *reader, count, depth int) error {
	length, err := r.of("length of field names", miInt32)
	if err != nil {
		return err
	}
	names, err := r.of("field names", miInt8)
	if err != nil {
		return err
	}
	if len(length) != 4 {
		return fmt.Errorf("length of field names: %d bytes", len(length))
	}
	size := int(int32(binary.LittleEndian.Uint32(length)))
	if size < 1 || len(names)%size != 0 {
		return fmt.Errorf("%d bytes of field names of %d each", len(names), size)
	}
	for ; len(names) > 0; names = names[size:] {
		name, _, _ := bytes.Cut(names[:size], []byte{0})
		if len(name) == 0 || slices.Contains(a.Fields, string(name)) {
			return fmt.Errorf("field name %q", name)
		}
		a.Fields = append(a.Fields, string(name))
	}
	if len(a.Fields) > 0 && count > len(r.data)/len(a.Fields) {
		return errCut
	}
	a.Elements, err = r.elements(count*len(a.Fields), depth)
	return err
}

// text reads characters, one row of them.
func (a *Array) text(r *reader, count int) error {
	kind, body, err := r.element()
	if err != nil {
		return err
	}
	switch kind {
	case miUTF8, miInt8, miUint8:
		a.Text = string(body)
	case miUint16:
		if len(body)%2 != 0 {
			return fmt.Errorf("characters of %d bytes", len(body))
		}
		units := make([]uint16, len(body)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(body[2*i:])
		}
		a.Text = string(utf16.Decode(units))
	default:
		return fmt.Errorf("characters of type %d", kind)
	}
	if n := len(utf16.Encode([]rune(a.Text))); !utf8.ValidString(a.Text) || n != count && len(a.Text) != count {
		return fmt.Errorf("%d characters where there should be %d", n, count)
	}
	return nil
}

// sizes are the bytes of a number of each type.
var sizes = map[uint32]int{miInt8: 1, miUint8: 1, miInt16: 2, miUint16: 2, miInt32: 4, miUint32: 4, miSingle: 4, miDouble: 8, miInt64: 8, miUint64: 8}

// numbers reads numbers by the type that they are stored in, which may be smaller than
// that of their class.
func (a *Array) numbers(r *reader, count int) error {
	kind, body, err := r.element()
	if err != nil {
		return err
	}
	size := sizes[kind]
	if size == 0 || len(body) != count*size {
		return fmt.Errorf("%d numbers of type %d in %d bytes", count, kind, len(body))
	}
	a.Numbers = make([]float64, count)
	for i := range a.Numbers {
		a.Numbers[i] = number(kind, body[i*size:])
	}
	return nil
}

func number(kind uint32, b []byte) float64 {
	le := binary.LittleEndian
	switch kind {
	case miInt8:
		return float64(int8(b[0]))
	case miUint8:
		return float64(b[0])
	case miInt16:
		return float64(int16(le.Uint16(b)))
	case miUint16:
		return float64(le.Uint16(b))
	case miInt32:
		return float64(int32(le.Uint32(b)))
	case miUint32:
		return float64(le.Uint32(b))
	case miSingle:
		return float64(math.Float32frombits(le.Uint32(b)))
	case miInt64:
		return float64(int64(le.Uint64(b)))
	case miUint64:
		return float64(le.Uint64(b))
	}
	return math.Float64frombits(le.Uint64(b))
}
