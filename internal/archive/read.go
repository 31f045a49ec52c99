package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/fsx"
)

// Stat is os.Stat for paths that may lead into an archive. An archive is a folder.
func Stat(name string) (fs.FileInfo, error) {
	z, inside, err := within(name)
	if z == nil {
		if err != nil {
			return nil, err
		}
		return os.Stat(name)
	}
	info, err := fs.Stat(z, inside)
	return info, explain("stat", name, err)
}

// ReadDir is os.ReadDir for paths that may lead into an archive.
func ReadDir(name string) ([]fs.DirEntry, error) {
	z, inside, err := within(name)
	if z == nil {
		if err != nil {
			return nil, err
		}
		return os.ReadDir(name)
	}
	list, err := fs.ReadDir(z, inside)
	return list, explain("open", name, err)
}

// Open is fsx.OpenRegular for paths that may lead into an archive.
func Open(name string) (io.ReadCloser, int64, error) {
	z, inside, err := within(name)
	if z == nil {
		if err != nil {
			return nil, 0, err
		}
		return fsx.OpenRegular(name)
	}
	f, err := z.Open(inside)
	if err != nil {
		return nil, 0, explain("open", name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; %w", name, fsx.ErrNotRegular)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadFile is fsx.ReadFile for paths that may lead into an archive; files there have at
// most maxFile bytes.
func ReadFile(name string, limit int64) ([]byte, error) {
	if z, _, err := within(name); z == nil && err == nil {
		return fsx.ReadFile(name, limit)
	}
	f, size, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if limit = min(limit, maxFile); size > limit {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, and the limit is %d", name, fsx.ErrTooLarge, size, limit)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, explain("read", name, err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, io.EOF) { // the end checks the sum, too
		if err == nil {
			err = errors.New("it has more bytes than its archive says")
		}
		return nil, explain("read", name, err)
	}
	return b, nil
}

// Glob is filepath.Glob for patterns that may lead into archives, whose names may be
// patterns as well: results/*.zip/mnist10k-*. Archives that cannot be read are errors. The
// list of sums is not among the matches.
func Glob(pattern string) ([]string, error) {
	out, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for i, c := range pattern {
		if !isSeparator(c) || !named(pattern[:i]) || i+1 == len(pattern) {
			continue
		}
		archives, err := filepath.Glob(pattern[:i])
		if err != nil {
			return nil, err
		}
		for _, name := range archives {
			z, _, err := within(name)
			if err != nil {
				return nil, err
			}
			if z == nil {
				continue
			}
			found, err := fs.Glob(z, filepath.ToSlash(strings.TrimRight(pattern[i+1:], "/")))
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				if f == Sums {
					continue
				}
				out = append(out, filepath.Join(name, filepath.FromSlash(f)))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// within opens the archive that the path leads to or into; nil where it leads to none.
func within(name string) (z *zip.Reader, inside string, err error) {
	file, rest, info, ok := split(name)
	if !ok {
		return nil, "", nil
	}
	z, err = at(file, info)
	if err != nil {
		return nil, "", err
	}
	return z, path.Clean(strings.TrimLeft(filepath.ToSlash(rest), "/")), nil
}

// explain gives an error inside an archive the path that was asked for.
func explain(op, name string, err error) error {
	var at *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case errors.As(err, &at):
		err = at.Err
	}
	return fmt.Errorf("%s: %w: %w", name, ErrArchive, err)
}
