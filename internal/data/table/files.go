package table

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"sync"

	"tercet/internal/data/fault"
	"tercet/internal/par"
)

// maxListed is how many files an error names.
const maxListed = 10

// Stat looks for all files and fills in their sizes. The error counts those that are not
// there or are no files, and names the first of them: who copied 120,000 images learns of
// all gaps at once.
func (t *Table) Stat() error {
	var mu sync.Mutex
	lost := make(map[int]bool)
	par.For(len(t.Items), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			info, err := os.Stat(t.File(i))
			if err == nil && info.Mode().IsRegular() {
				t.Items[i].Size = info.Size()
				continue
			}
			mu.Lock()
			lost[i] = true
			mu.Unlock()
		}
	})
	if len(lost) == 0 {
		return nil
	}
	var names []string
	for i := range t.Items {
		if lost[i] && len(names) < maxListed {
			names = append(names, t.Items[i].Path)
		}
	}
	more := ""
	if len(lost) > len(names) {
		more = " and others"
	}
	return fault.Missing(nil, "%d of %d images are not below %s: %s%s", len(lost), len(t.Items), t.Root, strings.Join(names, ", "), more)
}

// Fingerprint returns the hex SHA-256 of path, box, label, role and file size of all items
// in order. It tells other annotations, other files and another split apart without
// reading an image; sizes are 0 before Stat.
func (t *Table) Fingerprint() string {
	sum := sha256.New()
	buf := []byte("tercet table 1\n")
	for i := range t.Items {
		it := &t.Items[i]
		buf = append(append(buf, it.Path...), 0, byte(it.Role))
		for _, v := range []int{it.Box.Min.X, it.Box.Min.Y, it.Box.Max.X, it.Box.Max.Y, int(it.Label)} {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(v))
		}
		buf = binary.LittleEndian.AppendUint64(buf, uint64(it.Size))
		sum.Write(buf)
		buf = buf[:0]
	}
	return hex.EncodeToString(sum.Sum(nil))
}
