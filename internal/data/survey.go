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
	scans := make([]*scan, len(roots))
	for k, r := range roots {
		if scans[k], err = scanFolder(r); err != nil {
			return nil, err
		}
	}
	if err := readHeads(scans); err != nil {
		return nil, err
	}
	s.Classes = len(scans[0].classes)
	first := scans[0].heads[0]
	for _, found := range scans {
		for _, h := range found.heads {
			s.Uniform = s.Uniform && h.Height == first.Height && h.Width == first.Width
			s.measure(min(h.Height, h.Width), max(h.Height, h.Width))
		}
	}
	return s, nil
}

// measure takes in the sides of an image.
func (s *FolderSurvey) measure(short, long int) {
	if s.Images == 0 {
		s.Shortest, s.Longest = short, long
	}
	s.Images++
	s.Shortest, s.Longest = min(s.Shortest, short), max(s.Longest, long)
	s.Square = s.Square && short == long
}
