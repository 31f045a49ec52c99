package data

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/data/file"
	"tercet/internal/par"
)

// scan is what a tree of one folder a class holds: files in the order of class
// name, then file name.
type scan struct {
	root    string
	classes []string
	files   []string
	labels  []int32
	heads   []image.Config    // of each file, once readHeads has read them
	boxes   []image.Rectangle // of each file, the part that counts; nil or empty: all
}

// hidden reports names that are skipped: dot files, and __MACOSX of zip files.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__MACOSX" }

func isImage(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".png", ".jpg", ".jpeg":
		return true
	}
	return false
}

// scanFolder lists root/<class>/*.png, .jpg and .jpeg. Hidden files and files of
// other kinds are skipped; a class without images, or with a folder inside, is
// an error.
func scanFolder(root string) (*scan, error) {
	classes, err := subfolders(root)
	if err != nil {
		return nil, err
	}
	if len(classes) == 0 {
		return nil, missing(nil, "%s has no folders; want one folder a class, holding PNG or JPEG images", root)
	}
	s := &scan{root: root, classes: classes}
	for k, class := range classes {
		dir := filepath.Join(root, class)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, missing(err, "cannot list class %s", class)
		}
		before := len(s.files)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case hidden(e.Name()):
			case isFolder(path, e):
				return nil, bad("%s is a folder inside class %s; want one folder a class with the images directly inside", path, class)
			case isImage(e.Name()):
				s.files = append(s.files, path)
				s.labels = append(s.labels, int32(k))
			}
		}
		if len(s.files) == before {
			return nil, bad("class folder %s has no PNG or JPEG images", dir)
		}
	}
	return s, nil
}

// subfolders returns the names of the folders in root, sorted.
func subfolders(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, missing(err, "cannot list the image folder; data.root names it")
	}
	var out []string
	for _, e := range entries {
		if !hidden(e.Name()) && isFolder(filepath.Join(root, e.Name()), e) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// isFolder follows links.
func isFolder(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readHeads reads and checks the headers of all files. The error names every bad one.
func readHeads(ctx context.Context, scans []*scan) error {
	var files []string
	for _, s := range scans {
		files = append(files, s.files...)
	}
	heads := make([]image.Config, len(files))
	err := eachFile(ctx, len(files), 16, func(i int) (err error) {
		heads[i], err = readHead(files[i])
		return err
	})
	for _, s := range scans {
		s.heads, heads = heads[:len(s.files)], heads[len(s.files):]
	}
	if err != nil {
		return &unreadable{err}
	}
	return nil
}

// box is the part of file i that counts, in an image of h rows and w columns.
func (s *scan) box(i, h, w int) (image.Rectangle, error) {
	if s.boxes == nil {
		return image.Rect(0, 0, w, h), nil
	}
	return boxIn(s.files[i], s.boxes[i], h, w)
}

// cropTo returns that part of an image.
func cropTo(img image.Image, box image.Rectangle) (image.Image, error) {
	box = box.Add(img.Bounds().Min)
	if box == img.Bounds() {
		return img, nil
	}
	part, ok := img.(interface {
		SubImage(image.Rectangle) image.Image
	})
	if !ok {
		return nil, fmt.Errorf("images of this kind cannot be cropped to a box")
	}
	return part.SubImage(box), nil
}

// readFolder decodes all images of a scan, whose headers were read, into memory, on
// all threads.
func readFolder(ctx context.Context, s *scan, o ImageOptions) (*Memory, error) {
	shapes := make([][2]int, len(s.files)) // after resizing and cropping
	err := each(ctx, len(s.files), 16, func(i int) error {
		box, err := s.box(i, s.heads[i].Height, s.heads[i].Width)
		if err != nil {
			return err
		}
		_, _, oh, ow, err := o.geometry(box.Dy(), box.Dx())
		if err != nil {
			return badCause(err, "%s", s.files[i])
		}
		shapes[i] = [2]int{oh, ow}
		return nil
	})
	if err != nil {
		return nil, err
	}
	oh, ow := shapes[0][0], shapes[0][1]
	for i, p := range shapes {
		if p != shapes[0] {
			return nil, bad("%s gives %dx%d pixels but %s %dx%d; set data.size (or data.crop) to bring all to one shape", s.files[i], p[0], p[1], s.files[0], oh, ow)
		}
	}
	size := oh * ow * o.channels()
	if err := file.CheckTotal(len(s.files), size); err != nil {
		return nil, err
	}
	pixels := make([]uint8, len(s.files)*size)
	var spare par.Free[canvas]
	err = eachFile(ctx, len(s.files), decodeSize, func(i int) error {
		img, err := readImage(s.files[i])
		if err != nil {
			return err
		}
		box, err := s.box(i, s.heads[i].Height, s.heads[i].Width)
		if err != nil {
			return err
		}
		if img, err = cropTo(img, box); err != nil {
			return badCause(err, "%s", s.files[i])
		}
		c := spare.Get()
		defer spare.Put(c)
		return o.render(img, pixels[i*size:(i+1)*size], c)
	})
	if err != nil {
		return nil, &unreadable{err}
	}
	m, err := NewMemory(pixels, oh, ow, o.channels(), s.labels, s.classes)
	if err != nil {
		return nil, err
	}
	m.names = s.files
	return m, nil
}

// decodeSize is how many images one thread decodes at a time.
const decodeSize = 4

// unreadable marks an error of image files.
type unreadable struct{ error }

func (e *unreadable) Unwrap() error { return e.error }

// allUnreadable names all files of the scans that cannot be decoded, where err is of
// some: who has a bad header and a truncated file mends both at once.
func allUnreadable(ctx context.Context, scans []*scan, err error) error {
	var some *unreadable
	if !errors.As(err, &some) {
		return err
	}
	var files []string
	for _, s := range scans {
		files = append(files, s.files...)
	}
	all := eachFile(ctx, len(files), decodeSize, func(i int) error {
		if _, err := readHead(files[i]); err != nil {
			return err
		}
		_, err := readImage(files[i])
		return err
	})
	if all == nil {
		return some.error
	}
	return all
}

// isGray reports that all files of the scans, whose headers were read, are gray.
func isGray(scans []*scan) bool {
	for _, s := range scans {
		for _, h := range s.heads {
			if h.ColorModel != color.GrayModel && h.ColorModel != color.Gray16Model {
				return false
			}
		}
	}
	return true
}

// folderRoots are the folders whose folders are classes: two with the names that train
// and test give them, or root itself. Without names, root is taken to be split when its
// folders, subs, are train and test and no others.
func folderRoots(root, trainName, testName string, subs []string) []string {
	if trainName == "" && testName == "" && slices.Equal(subs, []string{"test", "train"}) {
		trainName, testName = "train", "test"
	}
	roots := []string{filepath.Join(root, trainName)}
	if testName != "" {
		roots = append(roots, filepath.Join(root, testName))
	}
	return roots
}

// scanFolders lists root/train/<class>/* and root/test/<class>/*, with the names that train
// and test give these two folders, or root/<class>/* alone; see folderRoots.
func scanFolders(root, trainName, testName string) ([]*scan, error) {
	subs, err := subfolders(root)
	if err != nil {
		return nil, err
	}
	roots := folderRoots(root, trainName, testName, subs)
	for _, r := range roots {
		if info, err := os.Stat(r); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			return nil, missing(nil, "no folder %s (data.root is %s); for class folders without train and test set data.split.kind: class (test on unseen classes) or fraction (on unseen images of the same classes)", r, root)
		}
	}
	scans := make([]*scan, len(roots))
	for k, r := range roots {
		if scans[k], err = scanFolder(r); err != nil {
			return nil, err
		}
	}
	return scans, nil
}

// openFolder decodes the images of scanFolders into memory, those that readable, where it
// is given, has left; test is nil of one folder.
func openFolder(ctx context.Context, root, trainName, testName string, o ImageOptions, readable func(context.Context, []*scan) error) (train, test *Memory, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	scans, err := scanFolders(root, trainName, testName)
	if err == nil && readable != nil {
		err = readable(ctx, scans)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := readHeads(ctx, scans); err != nil {
		return nil, nil, allUnreadable(ctx, scans, err)
	}
	if o.native() {
		if o.Color = "rgb"; isGray(scans) {
			o.Color = "grey"
		}
	}
	if train, err = readFolder(ctx, scans[0], o); err != nil || len(scans) == 1 {
		return train, nil, allUnreadable(ctx, scans, err)
	}
	if test, err = readFolder(ctx, scans[1], o); err != nil {
		return nil, nil, err
	}
	if err := SameShape(train, test); err != nil {
		return nil, nil, badCause(err, "%s and %s; set data.size", scans[0].root, scans[1].root)
	}
	return train, test, nil
}

// decodedFolders are the images of scanFolders, read when they are needed.
func (o Options) decodedFolders(ctx context.Context, root, trainName, testName string) (Dataset, Dataset, error) {
	scans, err := scanFolders(root, trainName, testName)
	if err == nil {
		err = o.readableScans(ctx, scans)
	}
	if err != nil {
		return nil, nil, err
	}
	var sets [2]Dataset
	for k, s := range scans {
		paths := make([]string, len(s.files))
		for i, f := range s.files {
			if paths[i], err = filepath.Rel(root, f); err != nil {
				return nil, nil, missing(err, "cannot read image")
			}
		}
		f, err := newFiles(ctx, root, paths, nil)
		if err != nil {
			return nil, nil, err
		}
		from, err := o.pictures(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		if sets[k], err = newDecoded(from, s.labels, s.classes, *o.Transform, o.Color); err != nil {
			return nil, nil, err
		}
	}
	return sets[0], sets[1], nil
}
