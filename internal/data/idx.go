package data

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"tercet/internal/fsx"
)

// maxSide bounds the height and width that files may announce.
const maxSide = 1 << 14

// deflateRatio bounds how much larger than its source the output of deflate can
// be (RFC 1951: 258 bytes from a 2-bit match).
const deflateRatio = 1032

// idxType names the element types of the IDX format.
var idxType = map[byte]string{0x08: "unsigned byte", 0x09: "signed byte", 0x0B: "int16", 0x0C: "int32", 0x0D: "float32", 0x0E: "float64"}

// readIDX returns the extents and the bytes of an IDX file of unsigned bytes,
// plain or gzip (told apart by content). size is the length of r in bytes;
// path is for messages; rank lists the numbers of dimensions that are allowed.
func readIDX(r io.Reader, size int64, path string, rank ...int) ([]int, []byte, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	limit := size
	unit := "byte"
	if m, err := in.Peek(2); err == nil && m[0] == 0x1f && m[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, badCause(err, "%s: gzip header", path)
		}
		in = bufio.NewReaderSize(z, 1<<16)
		unit = "unpacked byte"
		limit = math.MaxInt64
		if size < math.MaxInt64/deflateRatio {
			limit = size * deflateRatio
		}
	}
	var magic [4]byte
	if n, err := io.ReadFull(in, magic[:]); err != nil {
		return nil, nil, badCause(ended(err), "%s: ends at %s %d, inside the IDX magic number", path, unit, n)
	}
	if magic[0] != 0 || magic[1] != 0 || idxType[magic[2]] == "" {
		return nil, nil, bad("%s: not an IDX file: the magic number is %#x", path, binary.BigEndian.Uint32(magic[:]))
	}
	if magic[2] != 0x08 {
		return nil, nil, bad("%s: IDX elements are %s; only unsigned bytes are read (magic byte at offset 2)", path, idxType[magic[2]])
	}
	ok := false
	for _, n := range rank {
		ok = ok || int(magic[3]) == n
	}
	if !ok {
		return nil, nil, bad("%s: IDX file has %d dimensions, want %v (magic byte at offset 3); are images and labels swapped?", path, magic[3], rank)
	}
	dims := make([]int, magic[3])
	total := int64(1)
	at := int64(4)
	for k := range dims {
		var b [4]byte
		if n, err := io.ReadFull(in, b[:]); err != nil {
			return nil, nil, badCause(ended(err), "%s: ends at %s %d, inside the size of dimension %d", path, unit, at+int64(n), k)
		}
		d := int64(binary.BigEndian.Uint32(b[:]))
		if d == 0 || (k > 0 && d > maxSide) {
			return nil, nil, bad("%s: dimension %d (offset %d) is %d; want at least 1 and, for height and width, at most %d", path, k, at, d, maxSide)
		}
		if total > (math.MaxInt64/2)/d {
			return nil, nil, bad("%s: dimensions overflow at offset %d", path, at)
		}
		dims[k] = int(d)
		total *= d
		at += 4
	}
	if at+total > limit {
		return nil, nil, bad("%s: truncated: the header announces %v = %d bytes of data, but the file has %d bytes", path, dims, total, size)
	}
	body, err := readGrowing(in, total)
	if err != nil {
		return nil, nil, badCause(ended(err), "%s: truncated or corrupt at %s %d of %d", path, unit, at+int64(len(body)), at+total)
	}
	switch _, err := in.ReadByte(); {
	case err == nil:
		return nil, nil, bad("%s: data after the end that the header announces (offset %d)", path, at+total)
	case !errors.Is(err, io.EOF):
		return nil, nil, badCause(ended(err), "%s: corrupt after %s %d", path, unit, at+total)
	}
	return dims, body, nil
}

// readGrowing reads n bytes into memory that grows with what is really there.
// On error it returns what came before it.
func readGrowing(r io.Reader, n int64) ([]byte, error) {
	buf := make([]byte, 0, min(n, 1<<20))
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

// ended words the end of a file as the error it is.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("unexpected end of file")
	}
	return err
}

// openFile opens a regular file and returns its size. A file that is not there
// wraps ErrMissing; fix says what to do.
func openFile(path, fix string) (*os.File, int64, error) {
	f, size, err := fsx.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, missing(nil, "%s: no such file; %s", path, fix)
	case err != nil:
		return nil, 0, missing(err, "cannot read data")
	}
	return f, size, nil
}

func readIDXFile(path, fix string, rank ...int) ([]int, []byte, error) {
	f, size, err := openFile(path, fix)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readIDX(f, size, path, rank...)
}

// idxPart is one images file with its labels file.
type idxPart struct {
	dims   []int // N, H, W and C where there are four
	pixels []byte
	values []byte // label of each item
	images string // path
}

func readIDXPart(images, labels string) (*idxPart, error) {
	const fix = "give an IDX file, plain or .gz"
	p := &idxPart{images: images}
	var err error
	if p.dims, p.pixels, err = readIDXFile(images, fix, 3, 4); err != nil {
		return nil, err
	}
	if len(p.dims) == 4 && p.dims[3] != 1 && p.dims[3] != 3 {
		return nil, bad("%s: %d channels; 1 or 3 are read", images, p.dims[3])
	}
	n, values, err := readIDXFile(labels, fix, 1)
	if err != nil {
		return nil, err
	}
	if n[0] != p.dims[0] {
		return nil, bad("%s has %d images, %s has %d labels", images, p.dims[0], labels, n[0])
	}
	p.values = values
	return p, nil
}

// idxSets turns parts into datasets. All share one list of classes: the label
// values that occur in any of them, in rising order.
func idxSets(parts ...*idxPart) ([]*Memory, error) {
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
	sets := make([]*Memory, len(parts))
	for k, p := range parts {
		labels := make([]int32, len(p.values))
		for i, v := range p.values {
			labels[i] = index[v]
		}
		c := 1
		if len(p.dims) == 4 {
			c = p.dims[3]
		}
		m, err := NewMemory(p.pixels, p.dims[1], p.dims[2], c, labels, classes)
		if err != nil {
			return nil, err
		}
		sets[k] = m
	}
	return sets, nil
}
