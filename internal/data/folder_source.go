package data

import (
	"context"
	"path/filepath"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Source]{Name: "folder", Doc: "one folder a class, PNG or JPEG", Defaults: FolderOptions{Train: "train", Test: "test"}})
}

// FolderOptions are the keys of a source with one folder of images for each class.
type FolderOptions struct {
	Root  string `yaml:"root" doc:"folder with one subfolder per class, or with the two folders below"`
	Train string `yaml:"train" doc:"with split file: the folder of training classes, under root"`
	Test  string `yaml:"test" doc:"with split file: the folder of test classes, under root"`
}

// Traits implements Source.
func (FolderOptions) Traits() Traits {
	return Traits{About: "PNG and JPEG images, one folder a class", Needs: "root: the class folders, or train and test holding them"}
}

// Title implements Titled: the name of the root.
func (s FolderOptions) Title() string {
	if s.Root == "" {
		return ""
	}
	return filepath.Base(s.Root)
}

// Missing implements Needy.
func (s FolderOptions) Missing(bool) []component.Fault { return NoRoot(s.Root) }

// named are the names of the folders of train and test, which a split of another kind
// does not look at.
func (s FolderOptions) named(o Options) (train, test string) {
	if o.Split.Kind != "" && o.Split.Kind != "file" {
		return "", ""
	}
	return s.Train, s.Test
}

// Open implements Source.
func (s FolderOptions) Open(ctx context.Context, o Options) (Dataset, Dataset, error) {
	if err := o.checkRoot(s.Root); err != nil {
		return nil, nil, err
	}
	a, b := s.named(o)
	if o.Transform != nil {
		return o.decodedFolders(ctx, s.Root, a, b)
	}
	train, test, err := openFolder(ctx, s.Root, a, b, o.image(), o.readableScans)
	if err != nil {
		return nil, nil, err
	}
	if test == nil {
		return train, nil, nil
	}
	return train, test, nil
}
