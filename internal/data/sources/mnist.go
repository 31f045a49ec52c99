package sources

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
)

func init() {
	data.Family.Register(component.Component[data.Source]{Name: "mnist", Doc: "MNIST's four IDX files", Defaults: MNISTOptions{}})
}

// MNISTOptions are a folder with the four IDX files of MNIST, plain or gzip.
type MNISTOptions struct {
	Root string `yaml:"root" doc:"folder with train-images-idx3-ubyte and its three companions, plain or .gz"`
}

// Traits implements data.Source.
func (MNISTOptions) Traits() data.Traits {
	return data.Traits{
		About: "MNIST and sets in its layout (Fashion-MNIST, KMNIST): gray images of 28x28",
		Needs: "root: a folder with the four IDX files, plain or .gz",
	}
}

// Missing implements data.Needy.
func (s MNISTOptions) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

// Open implements data.Source.
func (s MNISTOptions) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return o.Rooted(ctx, s.Root, openMNIST)
}

// mnistFiles are the four files of the MNIST layout, which Fashion-MNIST and
// KMNIST share: images and labels, train and test.
var mnistFiles = [4]string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}

// openMNIST reads a folder in the MNIST layout; files may end in .gz and may be
// spelled with a dot before idx.
func openMNIST(root string) (train, test *data.Memory, err error) {
	var paths [4]string
	var gone []string
	for k, name := range mnistFiles {
		if paths[k] = firstFile(root, name, strings.Replace(name, "-idx", ".idx", 1)); paths[k] == "" {
			gone = append(gone, name)
		}
	}
	if gone != nil {
		return nil, nil, fault.Missing(nil, "%s lacks %s (plain or .gz); get the four files of MNIST and set data.root to their folder", root, strings.Join(gone, ", "))
	}
	a, err := readIDXPart(paths[0], paths[1])
	if err != nil {
		return nil, nil, err
	}
	b, err := readIDXPart(paths[2], paths[3])
	if err != nil {
		return nil, nil, err
	}
	sets, err := idxSets(a, b)
	if err != nil {
		return nil, nil, err
	}
	if err := data.SameShape(sets[0], sets[1]); err != nil {
		return nil, nil, fault.Of(fault.ErrFormat, err, "%s and %s", paths[0], paths[2])
	}
	return sets[0], sets[1], nil
}

// firstFile returns the first of the names, plain or .gz, that exists in root.
func firstFile(root string, names ...string) string {
	for _, name := range names {
		for _, end := range []string{"", ".gz"} {
			p := filepath.Join(root, name+end)
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
				return p
			}
		}
	}
	return ""
}

// openIDX reads one set, and a second where its paths are given.
func openIDX(images, labels, testImages, testLabels string) (train, test *data.Memory, err error) {
	a, err := readIDXPart(images, labels)
	if err != nil {
		return nil, nil, err
	}
	parts := []*idxPart{a}
	if testImages != "" {
		b, err := readIDXPart(testImages, testLabels)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, b)
	}
	sets, err := idxSets(parts...)
	if err != nil {
		return nil, nil, err
	}
	if len(sets) == 1 {
		return sets[0], nil, nil
	}
	if err := data.SameShape(sets[0], sets[1]); err != nil {
		return nil, nil, fault.Of(fault.ErrFormat, err, "%s and %s", images, testImages)
	}
	return sets[0], sets[1], nil
}
