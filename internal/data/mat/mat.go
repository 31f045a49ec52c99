// Package mat reads the part of MATLAB's MAT-file format, version 5, that annotations of
// datasets use: arrays of numbers, texts, cells and structs, compressed or not,
// little-endian. Source: MathWorks, MAT-File Format, 2019.
package mat

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxInflated = 64 << 20 // bytes of all variables; the largest file that is meant has 3 MB
	maxDepth    = 16       // of cells and structs in each other
	headerSize  = 128
)

// Array is one variable, or an element of a cell or struct. What it holds is in one of
// Numbers, Text and Elements, in MATLAB's order: columns first.
type Array struct {
	Name     string
	Dims     []int
	Numbers  []float64 // of numeric classes
	Text     string    // of class char
	Elements []Array   // of a cell; of a struct array: all fields of the first, of the second
	Fields   []string  // of a struct
}

// Len returns the number of elements of a: of a struct array, of structs.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Dims {
		n *= d
	}
	return n
}

// Field returns that field of element i of a struct array, nil where there is none.
func (a *Array) Field(i int, name string) *Array {
	for k, f := range a.Fields {
		if at := i*len(a.Fields) + k; f == name && i >= 0 && at < len(a.Elements) {
			return &a.Elements[at]
		}
	}
	return nil
}

// Int returns the value of an array of one whole number.
func (a *Array) Int() (int, bool) {
	if a == nil || len(a.Numbers) != 1 || a.Numbers[0] != float64(int32(a.Numbers[0])) {
		return 0, false
	}
	return int(a.Numbers[0]), true
}

// Read returns the variables of a file. Errors say what is wrong and at which byte of the
// file, or of the inflated variable.
func Read(file []byte) ([]Array, error) {
	if len(file) < headerSize {
		return nil, errors.New("too short for a MAT-file")
	}
	switch version, order := file[124:126], string(file[126:128]); {
	case order == "MI":
		return nil, errors.New("a MAT-file of a big-endian machine, which is not read; save it again on another")
	case bytes.HasPrefix(file, []byte("MATLAB 7.3")):
		return nil, errors.New("a MAT-file of version 7.3 (HDF5), which is not read; save it with -v7")
	case order != "IM" || version[0] != 0 || version[1] != 1:
		return nil, errors.New("no MAT-file of version 5")
	}
	var out []Array
	left := maxInflated
	r := reader{data: file, at: headerSize}
	for r.at < len(file) {
		kind, body, err := r.element()
		if err != nil {
			return nil, fmt.Errorf("byte %d: %w", r.at, err)
		}
		if kind == miCompressed {
			if body, err = inflate(body, left); err != nil {
				return nil, fmt.Errorf("byte %d: %w", r.at, err)
			}
			left -= len(body)
			in := reader{data: body}
			if kind, body, err = in.element(); err != nil {
				return nil, fmt.Errorf("inflated variable %d: %w", len(out)+1, err)
			}
		}
		if kind != miMatrix {
			continue
		}
		a, err := matrix(body, 0)
		if err != nil {
			return nil, fmt.Errorf("variable %d: %w", len(out)+1, err)
		}
		out = append(out, a)
	}
	return out, nil
}

func inflate(body []byte, limit int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("compressed variable: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("compressed variable: %w", err)
	}
	if len(out) > limit {
		return nil, fmt.Errorf("variables of more than %d MiB", maxInflated>>20)
	}
	return out, nil
}

// Types of elements.
const (
	miInt8       = 1
	miUint8      = 2
	miInt16      = 3
	miUint16     = 4
	miInt32      = 5
	miUint32     = 6
	miSingle     = 7
	miDouble     = 9
	miInt64      = 12
	miUint64     = 13
	miMatrix     = 14
	miCompressed = 15
	miUTF8       = 16
)

// reader takes elements off data.
type reader struct {
	data []byte
	at   int
}

var errCut = errors.New("ends in the middle of an element")

// element reads a tag and returns the type and the content of what it announces. Elements
// are padded to 8 bytes, but for compressed ones; those of 4 bytes at most may lie in
// their tag.
func (r *reader) element() (kind uint32, body []byte, err error) {
	if len(r.data)-r.at < 8 {
		return 0, nil, errCut
	}
	kind = binary.LittleEndian.Uint32(r.data[r.at:])
	if small := kind >> 16; small != 0 {
		if small > 4 {
			return 0, nil, fmt.Errorf("a small element of %d bytes", small)
		}
		body = r.data[r.at+4 : r.at+4+int(small)]
		r.at += 8
		return kind & 0xffff, body, nil
	}
	size := uint64(binary.LittleEndian.Uint32(r.data[r.at+4:]))
	start := r.at + 8
	if size > uint64(len(r.data)-start) {
		return 0, nil, errCut
	}
	r.at = start + int(size)
	if kind != miCompressed {
		r.at = min((r.at+7)&^7, len(r.data))
	}
	return kind, r.data[start : start+int(size)], nil
}

// of reads an element that must be of one of those types.
func (r *reader) of(what string, kinds ...uint32) ([]byte, error) {
	kind, body, err := r.element()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if slices.Contains(kinds, kind) {
		return body, nil
	}
	return nil, fmt.Errorf("%s: type %d", what, kind)
}
