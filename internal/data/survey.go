package data

import (
	"path/filepath"
	"slices"
)

// FolderSurvey is what the class folders of a root hold, by the headers of their
// images.
type FolderSurvey struct {
	Train, Test string // the folders under the root that hold the class folders; Train is empty where the root does, Test where there is no test set
	Classes     int    // of training
	Images      int    // of training and test
	Shortest    int    // side of any image, in pixels
	Longest     int
	Square      bool // all images are
	Uniform     bool // all have the same height and width
}

// SurveyFolder looks at a root that holds class folders, or train and test (also val
// or validation) that hold them.
func SurveyFolder(root string) (*FolderSurvey, error) {
	subs, err := subfolders(root)
	if err != nil {
		return nil, err
	}
	s := &FolderSurvey{Square: true, Uniform: true}
	roots := []string{root}
	if inner, err := subfolders(filepath.Join(root, "train")); slices.Contains(subs, "train") && err == nil && len(inner) > 0 {
		s.Train, roots = "train", []string{filepath.Join(root, "train")}
		for _, name := range []string{"test", "val", "validation"} {
			if s.Test == "" && slices.Contains(subs, name) {
				s.Test, roots = name, append(roots, filepath.Join(root, name))
			}
		}
	}
	for k, r := range roots {
		found, err := scanFolder(r)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			s.Classes = len(found.classes)
		}
		if err := s.measure(found.files); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// measure takes in the sizes of images.
func (s *FolderSurvey) measure(files []string) error {
	sizes := make([][2]int, len(files))
	err := each(len(files), 16, func(i int) error {
		conf, err := readHead(files[i])
		sizes[i] = [2]int{conf.Height, conf.Width}
		return err
	})
	if err != nil {
		return err
	}
	for _, z := range sizes {
		short, long := min(z[0], z[1]), max(z[0], z[1])
		if s.Images == 0 {
			s.Shortest, s.Longest = short, long
		}
		s.Images++
		s.Shortest, s.Longest = min(s.Shortest, short), max(s.Longest, long)
		s.Square = s.Square && short == long
		s.Uniform = s.Uniform && z == sizes[0]
	}
	s.Uniform = s.Uniform && (!s.Square || s.Shortest == s.Longest)
	return nil
}
