package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/text"
)

// startFiles chooses training and test files in the folder root, or beside the file root,
// by their names. labelsOf are the names that the labels of a file may have, none for a
// file of other things. Not to find any is an error that says which names are known.
func startFiles(root, items, known string, labelsOf func(name string) []string) (*data.Start, error) {
	dir, first := root, ""
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		dir, first = filepath.Dir(root), filepath.Base(root)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrMissing, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	train, test := pickFiles(names, first, labelsOf)
	if train.items == "" {
		return nil, fmt.Errorf("%w: %s has no files whose names say what they are: %s; write the names into data.train and data.test by hand (tercet config keys data.train)", fault.ErrMissing, root, known)
	}
	write := func(p filePair) string {
		return fmt.Sprintf("{%s: %s, labels: %s}", items, text.YAML(p.items), text.YAML(p.labels))
	}
	s := &data.Start{Root: dir, Lines: []string{"train: " + write(train)}, Split: "fraction"}
	if test.items != "" {
		s.Lines, s.Split = append(s.Lines, "test: "+write(test)), "file"
	}
	return s, nil
}

// filePair is the items and the labels of a set.
type filePair struct{ items, labels string }

// pickFiles finds the training files, first among them where it is named, and the
// test files.
func pickFiles(names []string, first string, labelsOf func(name string) []string) (train, test filePair) {
	for _, name := range names {
		labels := firstOf(labelsOf(name), names)
		lower := strings.ToLower(name)
		held := strings.Contains(lower, "test") || strings.Contains(lower, "t10k")
		switch {
		case labels == "":
		case first != "":
			if name == first {
				train = filePair{name, labels}
			}
		case held && test.items == "":
			test = filePair{name, labels}
		case !held && train.items == "":
			train = filePair{name, labels}
		}
	}
	return train, test
}

// firstOf returns the first of the words that is in the list, "" for none.
func firstOf(words, list []string) string {
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(list, w) }); i >= 0 {
		return words[i]
	}
	return ""
}
