package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/fsx"
	"tercet/internal/par"
	"tercet/internal/record"
)

// maxListed is how many bad files an error names.
const maxListed = 20

// eachFile calls f for 0 to n-1 on all threads. Unlike each it continues after an error,
// and returns one that lists all files that are bad, in their order: who has a thousand
// images mends them at once.
func eachFile(ctx context.Context, n, size int, f func(i int) error) error {
	bad, err := badFiles(ctx, n, size, f)
	if err != nil {
		return err
	}
	order := slices.Sorted(maps.Keys(bad))
	switch len(order) {
	case 0:
		return nil
	case 1:
		return bad[order[0]]
	}
	var list []string
	for _, i := range order[:min(len(order), maxListed)] {
		list = append(list, bad[i].Error())
	}
	if more := len(order) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	kind := ErrFormat
	if errors.Is(bad[order[0]], ErrMissing) {
		kind = ErrMissing
	}
	return fault.Of(kind, nil, "%d of %d images cannot be read: %s", len(order), n, strings.Join(list, "; "))
}

// badFiles calls f for 0 to n-1 on all threads and returns its errors. Its own error is that
// of ctx.
func badFiles(ctx context.Context, n, size int, f func(i int) error) (map[int]error, error) {
	var mu sync.Mutex
	bad := map[int]error{}
	par.Each(n, size, func(i int) {
		if ctx.Err() != nil {
			return
		}
		if err := f(i); err != nil {
			mu.Lock()
			bad[i] = err
			mu.Unlock()
		}
	})
	return bad, ctx.Err()
}

// checkEnds decodes the files that do not end as an image does, so that one that was cut off
// is an error before the first is used. It reads a few bytes of each other one.
func (f *files) checkEnds(ctx context.Context) error {
	var eyes par.Free[eye]
	return eachFile(ctx, len(f.paths), 64, func(i int) error {
		if complete(f.ItemName(i)) {
			return nil
		}
		e := eyes.Get()
		defer eyes.Put(e)
		_, err := f.picture(i, e)
		return err
	})
}

// complete reports whether the last bytes of a file are those that end a JPEG or PNG image.
func complete(path string) bool {
	f, size, err := fsx.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return false
	}
	return bytes.HasSuffix(b, []byte{0xff, 0xd9}) || bytes.Equal(b, []byte("IEND\xaeB`\x82"))
}

// Broken lists image files that were left out because they cannot be decoded.
type Broken struct {
	Images []record.BrokenImage
	looked bool // the source has image files
}

// String lists the first of them; "" for none.
func (b *Broken) String() string {
	if b == nil || len(b.Images) == 0 {
		return ""
	}
	var list []string
	for _, i := range b.Images[:min(len(b.Images), maxListed)] {
		list = append(list, i.Error)
	}
	if more := len(b.Images) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d of the images cannot be read and were left out: %s", len(b.Images), strings.Join(list, "; "))
}

// unreadable decodes files as data opened by o are, and adds those that cannot be decoded to
// o.Broken. Files that are not there are an error.
func (o Options) unreadable(ctx context.Context, paths []string) (map[int]error, error) {
	from := &files{paths: paths}
	var eyes par.Free[eye]
	bad, err := badFiles(ctx, len(paths), 16, func(i int) error {
		if o.Transform == nil {
			if _, err := readHead(paths[i]); err != nil {
				return err
			}
			_, err := readImage(paths[i])
			return err
		}
		e := eyes.Get()
		defer eyes.Put(e)
		_, err := from.picture(i, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.Broken.looked = true
	for _, i := range slices.Sorted(maps.Keys(bad)) {
		if errors.Is(bad[i], ErrMissing) {
			return nil, bad[i]
		}
		o.Broken.Images = append(o.Broken.Images, record.BrokenImage{Path: paths[i], Error: bad[i].Error()})
	}
	if len(bad) == len(paths) && len(bad) > 0 {
		return nil, fault.Bad("none of %d images can be read; the first: %v", len(bad), bad[0])
	}
	return bad, nil
}

// Readable returns a table without the files that cannot be decoded, if o skips them.
func (o Options) Readable(ctx context.Context, t *table.Table) (*table.Table, error) {
	if o.Broken == nil {
		return t, nil
	}
	paths := make([]string, len(t.Items))
	for i := range paths {
		paths[i] = t.File(i)
	}
	bad, err := o.unreadable(ctx, paths)
	if err != nil || len(bad) == 0 {
		return t, err
	}
	return t.Without(func(i int) bool { return bad[i] != nil }), nil
}

// readableScans takes files that cannot be decoded out of folders, and classes without others.
func (o Options) readableScans(ctx context.Context, scans []*scan) error {
	if o.Broken == nil {
		return nil
	}
	for _, s := range scans {
		bad, err := o.unreadable(ctx, s.files)
		if err != nil {
			return err
		}
		number, classes := make([]int32, len(s.classes)), []string(nil)
		var files []string
		var labels []int32
		for i, f := range s.files {
			if bad[i] != nil {
				continue
			}
			y := s.labels[i]
			if number[y] == 0 { // files lie class by class
				classes = append(classes, s.classes[y])
				number[y] = int32(len(classes))
			}
			files, labels = append(files, f), append(labels, number[y]-1)
		}
		s.files, s.labels, s.classes = files, labels, classes
	}
	return nil
}
