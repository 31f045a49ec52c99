package npy

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"unsafe"

	"tercet/internal/engine/array"
	"tercet/internal/fsx"
)

// leastMapped is the size in bytes from which on an array of float32 is not read but mapped:
// the system then fills memory from the file as it is needed, and takes it back where others
// need it.
var leastMapped int64 = 1 << 28

// mapped returns the array (n, d) that follows the header in r, of float32 in C order, in
// memory of the file; nil where it has to be read.
func (h *header) mapped(r io.Reader, path string) (*array.Array, error) {
	f, ok := r.(*os.File)
	bytes := int64(h.count) * 4
	if !ok || h.kind != "f4" || h.fortran || bytes < leastMapped || h.number().Order.Uint16([]byte{1, 0}) != binary.NativeEndian.Uint16([]byte{1, 0}) {
		return nil, nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil
	}
	at := info.Size() - bytes
	if at < 0 || at%4 != 0 {
		return nil, nil
	}
	raw, err := fsx.Map(f, info.Size())
	if err != nil {
		return nil, nil
	}
	x := unsafe.Slice((*float32)(unsafe.Pointer(&raw[at])), h.count)
	for k, v := range x {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
			return nil, h.notFinite(path, k/h.shape[1], k%h.shape[1], float64(v))
		}
	}
	return array.Of(x, h.shape...)
}
