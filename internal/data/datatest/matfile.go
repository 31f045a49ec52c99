package datatest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
)

// Car is one row of the annotations of Cars-196.
type Car struct {
	Box   [4]int // left, top, right, bottom, from 1
	Class int
	Test  bool
	Path  string
}

// CarsMat is a MAT-file as the devkit of Cars-196 has them: a struct array annotations,
// where there are cars, and a cell class_names, where there are names, each compressed;
// numbers of class double are stored in the smallest type. pooled adds the field test and
// puts the path first.
func CarsMat(list []Car, names []string, pooled bool) []byte {
	header := make([]byte, 128)
	copy(header, "MATLAB 5.0 MAT-file, Platform: GLNXA64")
	for i := 38; i < 116; i++ {
		header[i] = ' '
	}
	copy(header[124:], "\x00\x01IM")
	if list != nil {
		fields := []string{"bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname"}
		if pooled {
			fields = []string{"relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test"}
		}
		var elements []byte
		for _, c := range list {
			var row []byte
			for _, v := range append(c.Box[:], c.Class) {
				row = append(row, matNumber(v)...)
			}
			if path := matText(c.Path); pooled {
				test := 0
				if c.Test {
					test = 1
				}
				row = append(append(path, row...), matNumber(test)...)
			} else {
				row = append(row, path...)
			}
			elements = append(elements, row...)
		}
		const width = 32
		table := make([]byte, width*len(fields))
		for i, f := range fields {
			copy(table[i*width:], f)
		}
		body := matHead(2, 1, len(list), "annotations")
		body = append(body, 5, 0, 4, 0, width, 0, 0, 0) // a small element
		body = append(append(body, matElement(1, table)...), elements...)
		header = append(header, matCompressed(body)...)
	}
	if names != nil {
		body := matHead(1, 1, len(names), "class_names")
		for _, n := range names {
			body = append(body, matText(n)...)
		}
		header = append(header, matCompressed(body)...)
	}
	return header
}

// matElement is a tag and what it announces, padded to 8 bytes.
func matElement(kind uint32, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, kind)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
	out = append(out, body...)
	for len(out)%8 != 0 {
		out = append(out, 0)
	}
	return out
}

// matHead are the flags, dimensions and name that a matrix begins with.
func matHead(class byte, rows, columns int, name string) []byte {
	dims := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(rows)), uint32(columns))
	out := matElement(6, []byte{class, 0, 0, 0, 0, 0, 0, 0})
	out = append(out, matElement(5, dims)...)
	return append(out, matElement(1, []byte(name))...)
}

func matNumber(v int) []byte {
	body := matHead(6, 1, 1, "")
	if v < 256 {
		body = append(body, 2, 0, 1, 0, byte(v), 0, 0, 0)
	} else {
		body = append(body, 4, 0, 2, 0, byte(v), byte(v>>8), 0, 0)
	}
	return matElement(14, body)
}

func matText(s string) []byte {
	return matElement(14, append(matHead(4, 1, len(s), ""), matElement(16, []byte(s))...))
}

func matCompressed(body []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(matElement(14, body)) // a buffer has no errors
	z.Close()
	out := binary.LittleEndian.AppendUint32(nil, 15)
	out = binary.LittleEndian.AppendUint32(out, uint32(b.Len()))
	return append(out, b.Bytes()...)
}
