package data

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// scan is what a tree of one folder a class holds: files in the order of class
// name, then file name.
type scan struct {
	classes []string
	files   []string
	labels  []int32
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
	s := &scan{classes: classes}
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
		return nil, missing(err, "cannot list the image folder; set data.root to it")
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

// readFolder decodes all images of a scan into memory, on all threads.
func readFolder(s *scan, o ImageOptions) (*Memory, error) {
	if o.Color == "" {
		o.Color = "rgb"
	}
	h, w, err := imageSize(s.files[0])
	if err != nil {
		return nil, err
	}
	_, _, oh, ow, err := o.geometry(h, w)
	if err != nil {
		return nil, badCause(err, "%s", s.files[0])
	}
	size := oh * ow * o.channels()
	if err := checkTotal(len(s.files), size); err != nil {
		return nil, err
	}
	pixels := make([]uint8, len(s.files)*size)
	err = each(len(s.files), 4, func(i int) error {
		img, err := readImage(s.files[i])
		if err != nil {
			return err
		}
		b := img.Bounds()
		_, _, ih, iw, err := o.geometry(b.Dy(), b.Dx())
		if err != nil {
			return badCause(err, "%s", s.files[i])
		}
		if ih != oh || iw != ow {
			return bad("%s gives %dx%d pixels but %s %dx%d; set data.size (and data.crop, or fit: stretch) to bring all to one shape", s.files[i], ih, iw, s.files[0], oh, ow)
		}
		return o.render(img, pixels[i*size:(i+1)*size])
	})
	if err != nil {
		return nil, err
	}
	m, err := NewMemory(pixels, oh, ow, o.channels(), s.labels, s.classes)
	if err != nil {
		return nil, err
	}
	m.names = s.files
	return m, nil
}

// openFolder reads root/<class>/*, or root/train/<class>/* and root/test/<class>/*
// where root holds these two folders and no other; a set without test returns
// nil for it.
func openFolder(root string, o ImageOptions) (train, test *Memory, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	subs, err := subfolders(root)
	if err != nil {
		return nil, nil, err
	}
	roots := []string{root}
	if len(subs) == 2 && subs[0] == "test" && subs[1] == "train" {
		roots = []string{filepath.Join(root, "train"), filepath.Join(root, "test")}
	}
	sets := make([]*Memory, 2)
	for k, r := range roots {
		s, err := scanFolder(r)
		if err != nil {
			return nil, nil, err
		}
		if sets[k], err = readFolder(s, o); err != nil {
			return nil, nil, err
		}
	}
	if sets[1] != nil {
		if err := sameShape(sets[0], sets[1]); err != nil {
			return nil, nil, badCause(err, "%s and %s; set data.size", roots[0], roots[1])
		}
	}
	return sets[0], sets[1], nil
}
