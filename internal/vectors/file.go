package vectors

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"

	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/fsx"
	"tercet/internal/par"
)

// maxDim bounds the columns of a file: no vectors have more, a header that lies may.
const maxDim = 1 << 20

// File is an open file of vectors or of integers. Its methods may be called from several
// goroutines at once.
type File struct {
	path   string
	f      *os.File
	n, d   int
	number npy.Number
	first  int64 // offset of the first row
	lead   int   // bytes before the numbers of each row
	row    int64 // bytes from one row to the next
	spare  par.Free[[]byte]
}

// Open opens a file of vectors and checks its header against its size. The end of the name
// says which format it has.
func Open(path string) (*File, error) {
	return open(path, false)
}

func open(path string, integer bool) (*File, error) {
	format, err := known(path, integer)
	if err != nil {
		return nil, err
	}
	f, size, err := fsx.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Missing(nil, "%s: no such file", path)
	case err != nil:
		return nil, fault.Missing(err, "cannot read vectors")
	}
	v := &File{path: path, f: f, number: npy.Number{Kind: format.kind, Order: binary.LittleEndian}}
	switch {
	case format.name == "npy":
		err = v.openNPY(size, integer)
	case format.perRow:
		err = v.openPerRow(size)
	default:
		err = v.openCounted(size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return v, nil
}

// openCounted reads the header of the *bin formats.
func (v *File) openCounted(size int64) error {
	var head [8]byte
	if _, err := io.ReadFull(v.f, head[:]); err != nil {
		return fault.Bad("%s: ends inside the header of 8 bytes", v.path)
	}
	n, d := int64(binary.LittleEndian.Uint32(head[:])), int64(binary.LittleEndian.Uint32(head[4:]))
	if err := v.shape(n, d); err != nil {
		return err
	}
	v.first, v.row = 8, d*int64(v.number.Width())
	if want := 8 + n*v.row; size != want {
		return fault.Bad("%s: %s: its header says %d rows of %d columns, which take %d bytes, and it has %d", v.path, lengthWord(size, want), n, d, want, size)
	}
	return nil
}

func lengthWord(size, want int64) string {
	if size > want {
		return "too long"
	}
	return "truncated"
}

// openPerRow reads the length of the first row of the *vecs formats.
func (v *File) openPerRow(size int64) error {
	var head [4]byte
	if _, err := io.ReadFull(v.f, head[:]); err != nil {
		return fault.Bad("%s: ends inside the length of the first row", v.path)
	}
	d := int64(int32(binary.LittleEndian.Uint32(head[:])))
	if err := v.shape(1, d); err != nil {
		return err
	}
	v.lead, v.row = 4, 4+d*int64(v.number.Width())
	if size%v.row != 0 {
		return fault.Bad("%s: truncated, or its rows differ in length: a row of %d columns takes %d bytes, and %d is not a multiple of that", v.path, d, v.row, size)
	}
	return v.shape(size/v.row, d)
}

// openNPY reads the header of an npy file.
func (v *File) openNPY(size int64, integer bool) error {
	h, err := npy.ReadLayout(v.f, size, v.path)
	if err != nil {
		return err
	}
	if len(h.Shape) != 2 {
		return fault.Bad("%s has shape %v; want (N, D)", v.path, h.Shape)
	}
	if h.Fortran && h.Shape[0] > 1 && h.Shape[1] > 1 {
		return fault.Unfit("%s is stored by columns and cannot be read by rows; save numpy.ascontiguousarray(x)", v.path)
	}
	if h.Width() == 0 || h.Real() == integer {
		want := "float16, float32 or float64 (numpy: x.astype('float32'))"
		if integer {
			want = "integers (numpy: x.astype('int32'))"
		}
		return fault.Bad("%s: elements are %s; want %s", v.path, h.Kind, want)
	}
	v.number, v.first, v.row = h.Number, h.Offset, int64(h.Width())*int64(h.Shape[1])
	return v.shape(int64(h.Shape[0]), int64(h.Shape[1]))
}

// shape checks and keeps the numbers of rows and columns.
func (v *File) shape(n, d int64) error {
	switch {
	case n < 1 || d < 1:
		return fault.Bad("%s: %d rows of %d columns; want at least 1 of each", v.path, n, d)
	case n > math.MaxInt32:
		return fault.Bad("%s: %d rows; at most %d are read", v.path, n, math.MaxInt32)
	case d > maxDim:
		return fault.Bad("%s: rows of %d columns; at most %d are read: is this the format that the name says?", v.path, d, maxDim)
	}
	v.n, v.d = int(n), int(d)
	return nil
}

// Len is the number of rows.
func (v *File) Len() int { return v.n }

// Dim is the number of columns.
func (v *File) Dim() int { return v.d }

// Path is the path that the file was opened by.
func (v *File) Path() string { return v.path }

// Bytes is the size of all rows as float32.
func (v *File) Bytes() int64 { return 4 * int64(v.n) * int64(v.d) }

// Close closes the file.
func (v *File) Close() error { return v.f.Close() }

// readBytes is how much is read at a time.
const readBytes = 1 << 20

// each calls use with the bytes of rows [first, first+count), some rows at a time: raw
// holds rows from row on, v.row bytes each.
func (v *File) each(first, count int, use func(row int, raw []byte) error) error {
	most := int(max(1, readBytes/v.row))
	buf := v.spare.Get()
	defer v.spare.Put(buf)
	if cap(*buf) < int(v.row)*min(most, count) {
		*buf = make([]byte, int(v.row)*min(most, count))
	}
	for at := first; at < first+count; at += most {
		raw := (*buf)[:int(v.row)*min(most, first+count-at)]
		if n, err := v.f.ReadAt(raw, v.first+int64(at)*v.row); n < len(raw) {
			return fault.Of(fault.ErrFormat, err, "%s: rows from %d on cannot be read", v.path, at)
		}
		for i := 0; v.lead > 0 && i < len(raw); i += int(v.row) {
			if d := int32(binary.LittleEndian.Uint32(raw[i:])); int(d) != v.d {
				return fault.Bad("%s: row %d has %d columns, and row 0 has %d", v.path, at+i/int(v.row), d, v.d)
			}
		}
		if err := use(at, raw); err != nil {
			return err
		}
	}
	return nil
}

// Read reads rows from first on into out, as many as it holds. A number that is not finite
// in float32 is an error.
func (v *File) Read(first int, out []float32) error {
	return v.each(first, len(out)/v.d, func(row int, raw []byte) error {
		to := out[(row-first)*v.d:]
		for i := 0; i < len(raw); i += int(v.row) {
			v.number.Floats(to[:v.d], raw[i+v.lead:])
			to = to[v.d:]
		}
		to = out[(row-first)*v.d:][:len(raw)/int(v.row)*v.d]
		if i, ok := kernel.AllFinite(to); !ok {
			return fault.Bad("%s: row %d, column %d is %s; embeddings must be finite", v.path, row+i/v.d, i%v.d, strconv.FormatFloat(float64(to[i]), 'g', -1, 32))
		}
		return nil
	})
}

// All reads all rows.
func (v *File) All() ([]float32, error) {
	if err := npy.CheckMemory(v.path, v.n, v.d); err != nil {
		return nil, err
	}
	x := pages.Make[float32](v.n * v.d)
	return x, v.Read(0, x)
}
