package fsx

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// WriteFile replaces the content of path by data. See Write.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write replaces the content of path by what fill writes. The bytes go to a
// temporary file in the same folder, which is synced and renamed over path; the
// folder is synced last. On any error, and on a panic of fill, the temporary
// file is removed and the old file stays. A path that is a symbolic link is
// followed, so that the link stays a link.
//
// A temporary file that a killed process left is removed by the next replacement of
// the same path.
//
// perm is the mode of the new file, less the process's umask.
func Write(path string, perm os.FileMode, fill func(w io.Writer) error) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := fill(f); err != nil {
		return f.fail(err)
	}
	return f.Commit()
}

// File is a file being written under a temporary name. It ends with Commit or
// Abort; Abort after Commit does nothing, so it can be deferred.
type File struct {
	path string // as the caller named it, for messages
	dest string // what the rename replaces
	tmp  *os.File
	buf  *bufio.Writer
}

// Create starts the replacement of path. The folder must exist.
func Create(path string, perm os.FileMode) (*File, error) {
	dest := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		dest = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	if st, err := os.Stat(dest); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("write %s: it exists and is not a regular file; name another path", path)
	}
	tmp, err := openTemp(dest, perm)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &File{path: path, dest: dest, tmp: tmp, buf: bufio.NewWriterSize(tmp, 1<<16)}, nil
}

// openTemp opens a new file beside dest. os.CreateTemp would fix its mode to
// 0600; here the umask decides, as for any file that a user's program makes.
func openTemp(dest string, perm os.FileMode) (*os.File, error) {
	dir, base := filepath.Split(dest)
	for i := range 10000 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d-%d", base, os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			hold(f)
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("10000 temporary files .%s.tmp-* are in %s; remove them", base, dir)
}

// Write appends p to the new content.
func (f *File) Write(p []byte) (int, error) {
	if f.tmp == nil {
		return 0, fmt.Errorf("write %s: already committed or aborted", f.path)
	}
	return f.buf.Write(p)
}

// Commit puts the new content in place. On an error the old file stays.
func (f *File) Commit() error {
	if f.tmp == nil {
		return fmt.Errorf("write %s: already committed or aborted", f.path)
	}
	defer f.Abort()
	if err := f.buf.Flush(); err != nil {
		return f.fail(err)
	}
	if err := f.tmp.Sync(); err != nil {
		return f.fail(err)
	}
	if err := f.tmp.Close(); err != nil {
		return f.fail(err)
	}
	if err := os.Rename(f.tmp.Name(), f.dest); err != nil {
		return f.fail(err)
	}
	f.tmp = nil
	removeStale(f.dest)
	if err := syncDir(filepath.Dir(f.dest)); err != nil {
		return fmt.Errorf("write %s: the file is in place, but syncing its folder failed: %w", f.path, err)
	}
	return nil
}

// fail names the file that the caller meant, not the temporary one.
func (f *File) fail(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && f.tmp != nil && at.Path == f.tmp.Name() {
		err = at.Err
	}
	return fmt.Errorf("write %s: %w (the file is as it was before)", f.path, err)
}

// Abort gives the replacement up and removes the temporary file.
func (f *File) Abort() {
	if f.tmp == nil {
		return
	}
	f.tmp.Close() // closing twice is harmless; the content is being dropped
	os.Remove(f.tmp.Name())
	f.tmp = nil
}

// syncDir makes a rename in dir durable. Some file systems cannot sync a
// folder and say so with EINVAL or ENOTSUP; there is then nothing more to do.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
