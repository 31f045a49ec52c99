package data

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// folderSurvey is what the class folders of a root hold, by the headers of their
// images.
type folderSurvey struct {
	Train, Test string // the folders under the root that hold the class folders; Train is empty where the root does, Test where there is no test set
	Classes     int    // of training
	Images      int    // of training and test
	Shortest    int    // side of any image, in pixels
	Longest     int
	Square      bool // all images are
	Uniform     bool // all have the same height and width
}

const (
	// fewClasses can be trained on only if none is kept for the test.
	fewClasses = 4
	// smallSide is a side up to which images are quick to train on as they are.
	smallSide = 64
)

// Start implements Starting.
func (FolderOptions) Start(ctx context.Context, root string) (*Start, error) {
	v, err := surveyFolder(ctx, root)
	if err != nil {
		return nil, err
	}
	sizes := fmt.Sprintf("%d to %d pixels a side", v.Shortest, v.Longest)
	if v.Uniform && v.Square {
		sizes = fmt.Sprintf("%[1]d x %[1]d pixels", v.Shortest)
	}
	s := &Start{Seen: fmt.Sprintf("%d images of %s", v.Images, sizes), Root: root, Split: "fraction"}
	if v.Train != "" && v.Test == "" {
		s.Root = filepath.Join(root, v.Train)
	}
	switch {
	case v.Test != "":
		s.Split = "file"
		if v.Test != "test" {
			s.Lines = append(s.Lines, "test: "+v.Test)
		}
	case v.Classes >= fewClasses:
		s.Split = "class"
	}
	if v.Uniform && v.Square && v.Shortest <= smallSide {
		return s, nil
	}
	side := 32
	if v.Shortest >= smallSide {
		side = smallSide
	}
	s.Lines = append(s.Lines, fmt.Sprintf("size: %-19d # images are resized to this side; more pixels show more and take longer", side))
	if !v.Square {
		s.Lines = append(s.Lines, "fit: short                # the shorter side; stretch changes the aspect", fmt.Sprintf("crop: %-19d # and the center is cut out", side))
	}
	return s, nil
}

// surveyFolder looks at a root that holds class folders, or train and test (also val
// or validation) that hold them.
func surveyFolder(ctx context.Context, root string) (*folderSurvey, error) {
	subs, err := subfolders(root)
	if err != nil {
		return nil, err
	}
	s := &folderSurvey{Square: true, Uniform: true}
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
	if err := readHeads(ctx, scans); err != nil {
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
func (s *folderSurvey) measure(short, long int) {
	if s.Images == 0 {
		s.Shortest, s.Longest = short, long
	}
	s.Images++
	s.Shortest, s.Longest = min(s.Shortest, short), max(s.Longest, long)
	s.Square = s.Square && short == long
}
