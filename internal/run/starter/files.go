package starter

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/data"
)

// lookFiles chooses the files of idx and npy by their names.
func (s *starter) lookFiles() error {
	dir, first := s.root, ""
	if info, err := os.Stat(s.root); err == nil && !info.IsDir() {
		dir, first = filepath.Dir(s.root), filepath.Base(s.root)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", data.ErrMissing, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	train, test := pickFiles(s.source, names, first)
	if train.items == "" {
		return fmt.Errorf("%w: %s has no files whose names say what they are: %s; write the names into data.train and data.test by hand (tercet config keys data.train)", data.ErrMissing, s.root, knownNames[s.source])
	}
	items := "vectors"
	if s.source == "idx" {
		items = "images"
	} else {
		s.vectors = true
		s.model = []string{"name: mlp                   # three linear layers", "width: 200", "embedding: 64               # numbers that stand for a vector"}
	}
	write := func(p filePair) string {
		return fmt.Sprintf("{%s: %s, labels: %s}", items, quoted(p.items), quoted(p.labels))
	}
	s.data = []string{rootLine(dir), "train: " + write(train)}
	if test.items == "" {
		s.split, s.fraction = []string{splitFraction}, 0.8
		return nil
	}
	s.data = append(s.data, "test: "+write(test))
	s.split = []string{splitFile}
	return nil
}

// knownNames are the names that pickFiles knows.
var knownNames = map[string]string{
	"idx": "train-images-idx3-ubyte with train-labels-idx1-ubyte, and t10k or test for train (plain or .gz)",
	"npy": "NAME.npy with NAME.labels.npy or NAME.labels.csv, or X.npy with Y.npy; _train and _test, or train and test as NAME, are the two sets",
}

// filePair is the items and the labels of a set.
type filePair struct{ items, labels string }

// pickFiles finds the training files, first among them where it is named, and the
// test files.
func pickFiles(source string, names []string, first string) (train, test filePair) {
	for _, name := range names {
		labels := labelsOf(source, name, names)
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

// labelsOf returns the file of labels of a file of items, or "" where it is none.
func labelsOf(source, name string, names []string) string {
	var partners []string
	if source == "idx" {
		partner := strings.NewReplacer("images-idx3", "labels-idx1", "images.idx3", "labels.idx1").Replace(name)
		plain := strings.TrimSuffix(partner, ".gz")
		if partner != name {
			partners = []string{partner, plain, plain + ".gz"}
		}
	} else if stem, ok := strings.CutSuffix(name, ".npy"); ok && !strings.HasSuffix(stem, ".labels") {
		partners = []string{stem + ".labels.npy", stem + ".labels.csv"}
		if x, rest := stem[:min(1, len(stem))], stem[min(1, len(stem)):]; x == "X" || x == "x" {
			y := string(x[0]+1) + rest
			partners = append(partners, y+".npy", y+".csv")
		}
	}
	for _, p := range partners {
		if slices.Contains(names, p) {
			return p
		}
	}
	return ""
}
