// Package file has what the readers of data share: files are opened with advice, sizes
// that a file announces are not believed, and memory has a bound.
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/fsx"
)

// Open opens a regular file and returns its size. A file that is not there
// wraps fault.ErrMissing; fix says what to do.
func Open(path, fix string) (*os.File, int64, error) {
	f, size, err := fsx.OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fault.Missing(nil, "%s: no such file; %s", path, fix)
	case err != nil:
		return nil, 0, fault.Missing(err, "cannot read data")
	}
	return f, size, nil
}

// Ended words the end of a file as the error it is.
func Ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("unexpected end of file")
	}
	return err
}

// Zip says what to do about a file that begins as a zip archive.
func Zip(begin []byte) string {
	if strings.HasPrefix(string(begin), "PK\x03\x04") {
		return "a zip archive, as .npz is; save one array of it (numpy: np.save('y.npy', np.load('y.npz')['NAME']))"
	}
	return ""
}
