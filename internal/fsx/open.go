package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNotRegular is wrapped by the errors of OpenRegular and ReadFile about a path
	// that is a folder, a pipe, a device or a socket.
	ErrNotRegular = errors.New("give a regular file")
	// ErrTooLarge is wrapped by the errors of ReadFile about a file above its limit.
	ErrTooLarge = errors.New("the file is too large")
)

// OpenRegular opens a regular file for reading and returns its size in bytes. Links
// are followed. Anything else is refused without being opened: opening a pipe would
// wait for a writer, and a device such as /dev/zero never ends. The error names the
// path and wraps fs.ErrNotExist where nothing is there, ErrNotRegular for the wrong
// kind of file.
func OpenRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if err := regular(path, info); err != nil {
		return nil, 0, err
	}
	// The path may have become a pipe since: openFlags keep the call from waiting.
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// OpenAppend opens a regular file for appending; one that is not there is made. Links are
// followed. Anything else is refused, as by OpenRegular.
func OpenAppend(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil {
		if err := regular(path, info); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, openFlags|os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

// ReadFile reads a regular file of at most limit bytes; see OpenRegular. A larger one
// is refused before it is read.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, tooLarge(path, size, limit)
	}
	b := make([]byte, 0, size+512) // one read to the end where the size is right
	in := io.LimitReader(f, limit+1)
	for {
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF) && int64(len(b)) > limit: // it grew, or is one of /proc
			return nil, tooLarge(path, int64(len(b)), limit)
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

func tooLarge(path string, size, limit int64) error {
	return fmt.Errorf("%s: %w: it has at least %d bytes, and the limit is %d", path, ErrTooLarge, size, limit)
}

// regular returns an error that says what path is unless it is a regular file.
func regular(path string, info fs.FileInfo) error {
	what := "a special file"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%s is %s; %w", path, what, ErrNotRegular)
}
