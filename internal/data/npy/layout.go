package npy

import (
	"io"

	"tercet/internal/data/fault"
	"tercet/internal/data/file"
)

// Layout says where in an npy file which numbers lie.
type Layout struct {
	Number       // type of an element
	Fortran bool // elements are stored by columns
	Shape   []int
	Offset  int64 // of the first element
}

// ReadLayout reads the header of an npy file of size bytes, and checks it against that.
func ReadLayout(r io.Reader, size int64, path string) (*Layout, error) {
	h, err := readHeader(r, size, path)
	if err != nil {
		return nil, err
	}
	return &Layout{h.number(), h.fortran, h.shape, size - int64(h.count)*int64(h.width())}, nil
}

// CheckMemory refuses embeddings that take more memory than files of data may.
func CheckMemory(path string, n, d int) error {
	if file.CheckTotal(n, 4*d) != nil {
		return fault.Bad("%s: %v need %.1f GiB of memory, and at most %.1f are taken", path, []int{n, d}, float64(n)*float64(d)*4/(1<<30), float64(file.MaxBytes())/(1<<30))
	}
	return nil
}
