package sources

import (
	"context"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
)

func init() {
	data.Family.Register(component.Component[data.Source]{Name: "idx", Doc: "IDX files by name", Defaults: IDXOptions{}})
}

// IDXOptions are IDX files by name.
type IDXOptions struct {
	Root  string     `yaml:"root" doc:"folder that the files are in"`
	Train ImageFiles `yaml:"train" doc:"training files"`
	Test  ImageFiles `yaml:"test" doc:"test files, for split file"`
}

// ImageFiles are images and their labels.
type ImageFiles struct {
	Images string `yaml:"images" doc:"IDX file of images, plain or .gz"`
	Labels string `yaml:"labels" doc:"IDX file of labels, plain or .gz"`
}

// Traits implements data.Source.
func (IDXOptions) Traits() data.Traits {
	return data.Traits{
		About: "IDX files of bytes: images (N, H, W) or (N, H, W, C) and labels (N)",
		Needs: "the files of images and labels, plain or .gz",
	}
}

// Missing implements data.Needy.
func (s IDXOptions) Missing(fileSplit bool) []component.Fault {
	out := append(data.Unset("train.images", s.Train.Images, "the training images"), data.Unset("train.labels", s.Train.Labels, "their labels")...)
	if fileSplit {
		out = append(out, append(data.Unset("test.images", s.Test.Images, "the test images"), data.Unset("test.labels", s.Test.Labels, "their labels")...)...)
	}
	return out
}

// Files implements data.Filed.
func (s IDXOptions) Files() []string { return []string{s.Train.Images, s.Train.Labels} }

// Open implements data.Source.
func (s IDXOptions) Open(ctx context.Context, o data.Options) (train, test data.Dataset, err error) {
	return o.Images(ctx, func() (*data.Memory, *data.Memory, error) {
		if err := o.CheckFiles(s.Train.Images, s.Train.Labels, s.Test.Images, s.Test.Labels); err != nil {
			return nil, nil, err
		}
		return openIDX(data.Under(s.Root, s.Train.Images), data.Under(s.Root, s.Train.Labels), data.Under(s.Root, s.Test.Images), data.Under(s.Root, s.Test.Labels))
	})
}

var _ data.Starting = IDXOptions{} // which nothing else checks

// Start implements data.Starting.
func (IDXOptions) Start(_ context.Context, root string) (*data.Start, error) {
	const known = "train-images-idx3-ubyte with train-labels-idx1-ubyte, and t10k or test for train (plain or .gz)"
	return startFiles(root, "images", known, func(name string) []string {
		partner := strings.NewReplacer("images-idx3", "labels-idx1", "images.idx3", "labels.idx1").Replace(name)
		if partner == name {
			return nil
		}
		plain := strings.TrimSuffix(partner, ".gz")
		return []string{partner, plain, plain + ".gz"}
	})
}
