package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tercet/internal/engine/array"
)

// Write writes x as float32 in C order, in the form that numpy.save gives it.
func Write(w io.Writer, x *array.Array) error {
	return write(w, "<f4", x.Shape, len(x.Data), func(b []byte, i int) []byte {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(x.Data[i]))
	})
}

// WriteLabels writes labels as int32, shape (N,).
func WriteLabels(w io.Writer, labels []int32) error {
	return WriteInts(w, labels, len(labels))
}

// WriteInts writes integers as int32 in the given shape, row-major.
func WriteInts(w io.Writer, x []int32, shape ...int) error {
	n := 1
	for _, d := range shape {
		n *= d
	}
	if n != len(x) {
		return fmt.Errorf("%w: %d integers for shape %v", array.ErrShape, len(x), shape)
	}
	return write(w, "<i4", shape, n, func(b []byte, i int) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(x[i]))
	})
}

// WriteInts64 writes integers as int64 in the given shape, row-major, as faiss has
// them.
func WriteInts64(w io.Writer, x []int32, shape ...int) error {
	return write(w, "<i8", shape, len(x), func(b []byte, i int) []byte {
		return binary.LittleEndian.AppendUint64(b, uint64(int64(x[i])))
	})
}

// WriteHeader writes the header of an array of little-endian numbers in C order, such
// as <f4, in the form that numpy.save gives it.
func WriteHeader(w io.Writer, descr string, shape ...int) error {
	var dims []string
	for _, d := range shape {
		dims = append(dims, strconv.Itoa(d))
	}
	list := strings.Join(dims, ", ")
	if len(dims) == 1 {
		list += ","
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, list)
	const align = 64
	pad := align - (10+len(dict)+1)%align
	if pad == align {
		pad = 0
	}
	dict += strings.Repeat(" ", pad) + "\n"
	if len(dict) > math.MaxUint16 {
		return fmt.Errorf("%w: %d dimensions do not fit in an npy header", array.ErrShape, len(shape))
	}
	var head bytes.Buffer
	head.WriteString("\x93NUMPY\x01\x00")
	head.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(dict))))
	head.WriteString(dict)
	_, err := w.Write(head.Bytes())
	return err
}

func write(w io.Writer, descr string, shape []int, n int, add func(b []byte, i int) []byte) error {
	if err := WriteHeader(w, descr, shape...); err != nil {
		return err
	}
	buf := make([]byte, 0, 1<<16)
	for i := range n {
		if buf = add(buf, i); len(buf) > 1<<16-8 || i == n-1 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}
