package data

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A CIFAR-10 record is one label byte and the planes R, G, B of 32x32 bytes.
const (
	cifarSide   = 32
	cifarPixels = 3 * cifarSide * cifarSide
	cifarRecord = 1 + cifarPixels
)

// cifarClasses are the names where batches.meta.txt is absent.
var cifarClasses = []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}

// readCIFAR appends the records of r, size bytes long, to pixels (N, 32, 32, 3)
// and labels, which are below classes.
func readCIFAR(r io.Reader, size int64, path string, classes int, pixels []uint8, labels []int32) ([]uint8, []int32, error) {
	n := int(size / cifarRecord)
	if rest := size % cifarRecord; rest != 0 {
		return nil, nil, bad("%s: record %d at offset %d has %d of %d bytes: the file is truncated or not CIFAR-10 binary", path, n, int64(n)*cifarRecord, rest, cifarRecord)
	}
	if n == 0 {
		return nil, nil, bad("%s: the file is empty", path)
	}
	pixels = slices.Grow(pixels, n*cifarPixels)
	labels = slices.Grow(labels, n)
	in := bufio.NewReaderSize(r, 1<<16)
	var rec [cifarRecord]byte
	for i := range n {
		at := int64(i) * cifarRecord
		if k, err := io.ReadFull(in, rec[:]); err != nil {
			return nil, nil, badCause(ended(err), "%s: record %d at offset %d", path, i, at+int64(k))
		}
		if int(rec[0]) >= classes {
			return nil, nil, bad("%s: record %d at offset %d has label %d; there are %d classes", path, i, at, rec[0], classes)
		}
		labels = append(labels, int32(rec[0]))
		const plane = cifarSide * cifarSide
		for p := range plane {
			pixels = append(pixels, rec[1+p], rec[1+plane+p], rec[1+2*plane+p])
		}
	}
	return pixels, labels, nil
}

// cifarNames reads batches.meta.txt in root: ten names, one a line.
func cifarNames(root string) ([]string, error) {
	path := filepath.Join(root, "batches.meta.txt")
	if firstFile(root, "batches.meta.txt") != path {
		return cifarClasses, nil
	}
	f, size, err := openFile(path, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > 1<<16 {
		return nil, bad("%s: %d bytes; want ten class names, one a line", path, size)
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return nil, badCause(err, "%s", path)
	}
	var names []string
	for _, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			if slices.Contains(names, line) {
				return nil, bad("%s: class %q stands twice", path, line)
			}
			names = append(names, line)
		}
	}
	if len(names) != len(cifarClasses) {
		return nil, bad("%s: %d class names; CIFAR-10 has %d", path, len(names), len(cifarClasses))
	}
	return names, nil
}

// openCIFAR10 reads data_batch_*.bin and test_batch.bin of root, in the order of
// their names.
func openCIFAR10(root string) (train, test *Memory, err error) {
	const fix = "get the binary version of CIFAR-10 and set data.root to its folder"
	if _, err := os.Stat(root); err != nil {
		return nil, nil, missing(err, "no CIFAR-10 folder; %s", fix)
	}
	batches, err := filepath.Glob(filepath.Join(escapeGlob(root), "data_batch_*.bin"))
	if err != nil || len(batches) == 0 {
		return nil, nil, missing(err, "%s has no data_batch_*.bin; %s", root, fix)
	}
	slices.Sort(batches)
	classes, err := cifarNames(root)
	if err != nil {
		return nil, nil, err
	}
	if train, err = readCIFARFiles(batches, classes, fix); err != nil {
		return nil, nil, err
	}
	if test, err = readCIFARFiles([]string{filepath.Join(root, "test_batch.bin")}, classes, fix); err != nil {
		return nil, nil, err
	}
	return train, test, nil
}

func readCIFARFiles(paths, classes []string, fix string) (*Memory, error) {
	var pixels []uint8
	var labels []int32
	for _, path := range paths {
		f, size, err := openFile(path, fix)
		if err != nil {
			return nil, err
		}
		pixels, labels, err = readCIFAR(f, size, path, len(classes), pixels, labels)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return NewMemory(pixels, cifarSide, cifarSide, 3, labels, classes)
}

// escapeGlob makes path a pattern that matches itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
