package sources

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/file"
)

// deflateRatio bounds how much larger than its source the output of deflate can
// be (RFC 1951: 258 bytes from a 2-bit match).
const deflateRatio = 1032

// idxType names the element types of the IDX format.
var idxType = map[byte]string{0x08: "unsigned byte", 0x09: "signed byte", 0x0B: "int16", 0x0C: "int32", 0x0D: "float32", 0x0E: "float64"}

// idxReader is an IDX file of unsigned bytes, plain or gzip, whose header was read and
// checked: nothing of the size that it announces was made yet.
type idxReader struct {
	path  string
	dims  []int
	in    *bufio.Reader
	unit  string // what offsets count
	start int64  // of the data
	total int64  // bytes of data
}

// newIDXReader reads the header of an IDX file of unsigned bytes, plain or gzip (by its
// content). size is the length of r in bytes; path is for messages; rank lists the
// numbers of dimensions that are allowed.
func newIDXReader(r io.Reader, size int64, path string, rank ...int) (*idxReader, error) {
	x := &idxReader{path: path, in: bufio.NewReaderSize(r, 1<<16), unit: "byte"}
	limit := size
	if m, err := x.in.Peek(2); err == nil && m[0] == 0x1f && m[1] == 0x8b {
		z, err := gzip.NewReader(x.in)
		if err != nil {
			return nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: gzip header", path)
		}
		x.in = bufio.NewReaderSize(z, 1<<16)
		x.unit = "unpacked byte"
		limit = math.MaxInt64
		if size < math.MaxInt64/deflateRatio {
			limit = size * deflateRatio
		}
	}
	if err := x.magic(rank); err != nil {
		return nil, err
	}
	if err := x.extents(); err != nil {
		return nil, err
	}
	if x.total > limit-x.start {
		return nil, fault.Bad("%s: truncated: the header announces %v = %d bytes of data, %d with the header, but the file has %d", path, x.dims, x.total, x.start+x.total, size)
	}
	if x.total > file.MaxBytes() {
		return nil, fault.Bad("%s: %v = %d bytes of data; at most %d are read", path, x.dims, x.total, file.MaxBytes())
	}
	return x, nil
}

// magic reads the first four bytes and makes room for the extents.
func (x *idxReader) magic(rank []int) error {
	var magic [4]byte
	if n, err := io.ReadFull(x.in, magic[:]); err != nil {
		return fault.Of(fault.ErrFormat, file.Ended(err), "%s: ends at %s %d, inside the IDX magic number", x.path, x.unit, n)
	}
	switch {
	case magic[0] != 0 || magic[1] != 0 || idxType[magic[2]] == "":
		if what := file.Zip(magic[:]); what != "" {
			return fault.Bad("%s: not an IDX file but %s", x.path, what)
		}
		return fault.Bad("%s: not an IDX file: the magic number is %#x", x.path, binary.BigEndian.Uint32(magic[:]))
	case magic[2] != 0x08:
		return fault.Bad("%s: IDX elements are %s; only unsigned bytes are read (magic byte at offset 2)", x.path, idxType[magic[2]])
	case !slices.Contains(rank, int(magic[3])):
		return fault.Bad("%s: IDX file has %d dimensions, want %v (magic byte at offset 3); are images and labels swapped?", x.path, magic[3], rank)
	}
	x.dims, x.start = make([]int, magic[3]), 4
	return nil
}

// extents reads the size of each dimension.
func (x *idxReader) extents() error {
	x.total = 1
	for k := range x.dims {
		var b [4]byte
		if n, err := io.ReadFull(x.in, b[:]); err != nil {
			return fault.Of(fault.ErrFormat, file.Ended(err), "%s: ends at %s %d, inside the size of dimension %d", x.path, x.unit, x.start+int64(n), k)
		}
		d := int64(binary.BigEndian.Uint32(b[:]))
		if d == 0 || (k > 0 && d > data.MaxSide) {
			return fault.Bad("%s: dimension %d (offset %d) is %d; want at least 1 and, for height and width, at most %d", x.path, k, x.start, d, data.MaxSide)
		}
		if x.total > (math.MaxInt64/2)/d {
			return fault.Bad("%s: dimensions overflow at offset %d", x.path, x.start)
		}
		x.dims[k] = int(d)
		x.total *= d
		x.start += 4
	}
	return nil
}

// body reads the data, and verifies that nothing follows.
func (x *idxReader) body() ([]byte, error) {
	body, err := readGrowing(x.in, x.total)
	end := x.start + x.total
	if err != nil {
		return nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: truncated or corrupt at %s %d of %d", x.path, x.unit, x.start+int64(len(body)), end)
	}
	switch _, err := x.in.ReadByte(); {
	case err == nil:
		return nil, fault.Bad("%s: data after the end that the header announces (offset %d)", x.path, end)
	case !errors.Is(err, io.EOF):
		return nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: corrupt after %s %d", x.path, x.unit, end)
	}
	return body, nil
}

// firstPart is what readGrowing takes at once. data.Memory that is not written to yet costs
// nothing.
const firstPart = 64 << 20

// readGrowing reads n bytes into memory that grows with what is really there: parts are
// n over a power of 2, so that the last two, the old and the new, are n and n/2.
// On error it returns what came before it.
func readGrowing(r io.Reader, n int64) ([]byte, error) {
	part := n
	for part > firstPart {
		part = (part + 1) / 2
	}
	buf := make([]byte, 0, part)
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			more := make([]byte, len(buf), min(n, 2*int64(cap(buf))))
			copy(more, buf)
			buf = more
		}
		k, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+k]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// idxPart is one images file with its labels file.
type idxPart struct {
	dims   []int // N, H, W and C where there are four
	pixels []byte
	values []byte // label of each item
}

// readIDXPart reads a file of images and one of labels. Both headers are compared
// before the data of either are read.
func readIDXPart(images, labels string) (*idxPart, error) {
	x, closeX, err := openIDXFile(images, 3, 4)
	if err != nil {
		return nil, err
	}
	defer closeX()
	if len(x.dims) == 4 && x.dims[3] != 1 && x.dims[3] != 3 {
		return nil, fault.Bad("%s: %d channels; 1 or 3 are read", images, x.dims[3])
	}
	y, closeY, err := openIDXFile(labels, 1)
	if err != nil {
		return nil, err
	}
	defer closeY()
	if x.dims[0] != y.dims[0] {
		return nil, fault.Bad("%s has %d images, %s has %d labels", images, x.dims[0], labels, y.dims[0])
	}
	p := &idxPart{dims: x.dims}
	if p.values, err = y.body(); err != nil {
		return nil, err
	}
	p.pixels, err = x.body()
	return p, err
}

// openIDXFile opens the file at path and reads its header.
func openIDXFile(path string, rank ...int) (*idxReader, func() error, error) {
	f, size, err := file.Open(path, "give an IDX file, plain or .gz")
	if err != nil {
		return nil, nil, err
	}
	x, err := newIDXReader(f, size, path, rank...)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return x, f.Close, nil
}

// idxSets turns parts into datasets. All share one list of classes: the label
// values that occur in any of them, in rising order.
func idxSets(parts ...*idxPart) ([]*data.Memory, error) {
	var present [256]bool
	for _, p := range parts {
		for _, v := range p.values {
			present[v] = true
		}
	}
	var index [256]int32
	var classes []string
	for v, ok := range present {
		if ok {
			index[v] = int32(len(classes))
			classes = append(classes, fmt.Sprint(v))
		}
	}
	sets := make([]*data.Memory, len(parts))
	for k, p := range parts {
		labels := make([]int32, len(p.values))
		for i, v := range p.values {
			labels[i] = index[v]
		}
		c := 1
		if len(p.dims) == 4 {
			c = p.dims[3]
		}
		m, err := data.NewMemory(p.pixels, p.dims[1], p.dims[2], c, labels, classes)
		if err != nil {
			return nil, err
		}
		sets[k] = m
	}
	return sets, nil
}
