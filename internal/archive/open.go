package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"tercet/internal/fsx"
)

// ErrArchive is wrapped by errors about an archive that is damaged or not to be trusted.
var ErrArchive = errors.New("not a usable archive")

const (
	// maxFile bounds a file of an archive, in bytes: a bomb ends here.
	maxFile = 64 << 20
	// maxDirectory bounds the list of an archive's files, in bytes.
	maxDirectory = 8 << 20
	// maxFiles is the number from which on another format begins, zip64.
	maxFiles = 1<<16 - 1
)

// opened are the archives that this process has read, each with its size and time: one
// that was replaced is opened again.
var opened sync.Map // of a path to state

type state struct {
	size int64
	time time.Time
	zip  *zip.Reader
}

// at opens the archive at path. Only its list of files stays in memory.
func at(path string, info fs.FileInfo) (*zip.Reader, error) {
	if s, ok := opened.Load(path); ok && s.(state).size == info.Size() && s.(state).time.Equal(info.ModTime()) {
		return s.(state).zip, nil
	}
	z, err := open(file(path), info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrArchive, err)
	}
	opened.Store(path, state{info.Size(), info.ModTime(), z})
	return z, nil
}

// file reads parts of the file of that name. It is open only meanwhile, so that an
// archive can be removed on every system.
type file string

func (f file) ReadAt(p []byte, offset int64) (int, error) {
	in, _, err := fsx.OpenRegular(string(f))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return in.ReadAt(p, offset)
}

// open checks the archive of size bytes in r and lists its files.
func open(r io.ReaderAt, size int64) (*zip.Reader, error) {
	if err := checkDirectory(r, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	files, folders := map[string]bool{}, map[string]bool{}
	for _, f := range z.File {
		name, folder := strings.CutSuffix(f.Name, "/")
		switch mode := f.Mode(); {
		case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00"):
			return nil, fmt.Errorf("invalid entry name %q: it must be a path inside the archive", f.Name)
		case files[name] || folder && folders[f.Name]:
			return nil, fmt.Errorf("%q is listed twice", f.Name)
		case !mode.IsRegular() && !mode.IsDir() || mode.IsDir() != folder:
			return nil, fmt.Errorf("%q is neither a file nor a folder", f.Name)
		case f.Flags&1 != 0:
			return nil, fmt.Errorf("%q is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return nil, fmt.Errorf("%q is compressed by method %d; only store and deflate are read", f.Name, f.Method)
		}
		if folder {
			folders[f.Name] = true
		} else {
			files[name] = true
		}
	}
	return z, checkFolders(files)
}

// checkFolders finds a file that is the folder of another.
func checkFolders(files map[string]bool) error {
	for name := range files {
		for i, c := range name {
			if c == '/' && files[name[:i]] {
				return fmt.Errorf("%q is a file and a folder", name[:i])
			}
		}
	}
	return nil
}

// The record at the end of an archive (PKWARE APPNOTE 4.3.16).
const (
	endMark  = "PK\x05\x06"
	endSize  = 22
	endReach = endSize + 1<<16 - 1 // a comment may follow
)

// checkDirectory bounds the memory that the list of files takes, before it is read.
func checkDirectory(r io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, endReach))
	if n, err := r.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	i := bytes.LastIndex(tail, []byte(endMark))
	if i < 0 || len(tail)-i < endSize {
		return errors.New("it does not end as a zip archive; it may be cut off")
	}
	count := binary.LittleEndian.Uint16(tail[i+10:])
	bytes, offset := binary.LittleEndian.Uint32(tail[i+12:]), binary.LittleEndian.Uint32(tail[i+16:])
	if count == maxFiles || bytes > maxDirectory || offset == 1<<32-1 {
		return fmt.Errorf("its list of files is too large: at most %d MiB and 65,534 files are read", maxDirectory>>20)
	}
	return nil
}

// split cuts a path that leads to an archive or into one behind the archive's name. ok is
// false for all others.
func split(path string) (archive, inside string, info fs.FileInfo, ok bool) {
	for end := 0; end < len(path); {
		next := strings.IndexFunc(path[end:], isSeparator)
		stop := end + next
		if next < 0 {
			stop = len(path)
		}
		if named(path[end:stop]) {
			if info, err := os.Stat(path[:stop]); err == nil && info.Mode().IsRegular() {
				return path[:stop], path[stop:], info, true
			}
		}
		end = stop + 1
	}
	return "", "", nil, false
}

func isSeparator(c rune) bool { return c == '/' || c == os.PathSeparator }

// Is says that a path leads to an archive, and not into one: by its name, and that it is
// no folder.
func Is(path string) bool {
	info, err := os.Stat(path)
	return named(path) && (err != nil || info.Mode().IsRegular())
}

// named says that a path's last part is called as an archive is.
func named(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".zip") }
