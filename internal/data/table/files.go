package table

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/par"
)

// maxListed is how many files an error names.
const maxListed = 10

// Missing looks for all files, fills in their sizes and returns the items whose files are
// not there or are no files, in order.
func (t *Table) Missing() []int {
	lost := make([]bool, len(t.Items))
	par.Each(len(t.Items), 256, func(i int) {
		info, err := os.Stat(t.File(i))
		if lost[i] = err != nil || !info.Mode().IsRegular(); !lost[i] {
			t.Items[i].Size = info.Size()
		}
	})
	var out []int
	for i := range lost {
		if lost[i] {
			out = append(out, i)
		}
	}
	return out
}

// Stat is Missing with an error that counts what is missing and names the first of it: who
// copied 120,000 images learns of all gaps at once.
func (t *Table) Stat() error {
	lost := t.Missing()
	if len(lost) == 0 {
		return nil
	}
	return fault.Missing(nil, "%d of %d images were not found in %s: %s", len(lost), len(t.Items), t.Root, t.Names(lost))
}

// Names lists the paths of the first of those items.
func (t *Table) Names(items []int) string {
	var names []string
	for _, i := range items[:min(len(items), maxListed)] {
		names = append(names, t.Items[i].Path)
	}
	list := strings.Join(names, ", ")
	if more := len(items) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
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
