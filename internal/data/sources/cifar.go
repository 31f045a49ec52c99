package sources

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/file"
	"tercet/internal/fsx"
)

// cifar is a binary layout of the CIFAR sets: records of label bytes and the planes R,
// G, B of 32x32 bytes.
type cifar struct {
	name    string   // of the set
	bytes   int      // label bytes of a record
	label   int      // which of them is the class
	names   string   // file of class names, one a line
	classes []string // where that is absent
}

const (
	cifarSide   = 32
	cifarPixels = 3 * cifarSide * cifarSide
)

// read appends the records of r, size bytes long, to pixels (N, 32, 32, 3) and labels,
// which are below classes.
func (c cifar) read(r io.Reader, size int64, path string, classes int, pixels []uint8, labels []int32) ([]uint8, []int32, error) {
	record := int64(c.bytes + cifarPixels)
	n := int(size / record)
	if rest := size % record; rest != 0 {
		return nil, nil, fault.Bad("%s: record %d at offset %d has %d of %d bytes: the file is truncated or not %s binary", path, n, int64(n)*record, rest, record, c.name)
	}
	if n == 0 {
		return nil, nil, fault.Bad("%s: the file is empty", path)
	}
	pixels = slices.Grow(pixels, n*cifarPixels)
	labels = slices.Grow(labels, n)
	in := bufio.NewReaderSize(r, 1<<16)
	rec := make([]byte, record)
	for i := range n {
		at := int64(i) * record
		if k, err := io.ReadFull(in, rec); err != nil {
			return nil, nil, fault.Of(fault.ErrFormat, file.Ended(err), "%s: record %d at offset %d", path, i, at+int64(k))
		}
		if int(rec[c.label]) >= classes {
			return nil, nil, fault.Bad("%s: record %d at offset %d has label %d; there are %d classes", path, i, at, rec[c.label], classes)
		}
		labels = append(labels, int32(rec[c.label]))
		const plane = cifarSide * cifarSide
		for p := range plane {
			rgb := rec[c.bytes+p:]
			pixels = append(pixels, rgb[0], rgb[plane], rgb[2*plane])
		}
	}
	return pixels, labels, nil
}

// readNames reads the file of class names in root, one a line.
func (c cifar) readNames(root string) ([]string, error) {
	path := filepath.Join(root, c.names)
	if firstFile(root, c.names) != path {
		return c.classes, nil
	}
	f, size, err := file.Open(path, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > 1<<16 {
		return nil, fault.Bad("%s: %d bytes; want %d class names, one a line", path, size, len(c.classes))
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return nil, fault.Of(fault.ErrFormat, err, "%s", path)
	}
	var names []string
	for _, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			if slices.Contains(names, line) {
				return nil, fault.Bad("%s: class %q is listed twice", path, line)
			}
			names = append(names, line)
		}
	}
	if len(names) != len(c.classes) {
		return nil, fault.Bad("%s: %d class names; %s has %d", path, len(names), c.name, len(c.classes))
	}
	return names, nil
}

// open reads the files of root that match train, in the order of their names, and the
// file test.
func (c cifar) open(root, train, test string) (a, b *data.Memory, err error) {
	fix := fmt.Sprintf("get the binary version of %s and set data.root to its folder", c.name)
	if _, err := os.Stat(root); err != nil {
		return nil, nil, fault.Missing(err, "no %s folder; %s", c.name, fix)
	}
	batches, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(root), train))
	if err != nil || len(batches) == 0 {
		return nil, nil, fault.Missing(err, "%s has no %s; %s", root, train, fix)
	}
	slices.Sort(batches)
	classes, err := c.readNames(root)
	if err != nil {
		return nil, nil, err
	}
	if a, err = c.readFiles(batches, classes, fix); err != nil {
		return nil, nil, err
	}
	if b, err = c.readFiles([]string{filepath.Join(root, test)}, classes, fix); err != nil {
		return nil, nil, err
	}
	return a, b, nil
}

func (c cifar) readFiles(paths, classes []string, fix string) (*data.Memory, error) {
	var pixels []uint8
	var labels []int32
	for _, path := range paths {
		f, size, err := file.Open(path, fix)
		if err != nil {
			return nil, err
		}
		pixels, labels, err = c.read(f, size, path, len(classes), pixels, labels)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return data.NewMemory(pixels, cifarSide, cifarSide, 3, labels, classes)
}
