package sources

import (
	"context"
	"fmt"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
)

func init() {
	data.Family.Register(component.Component[data.Source]{Name: "npy", Doc: "vectors from other tools", Defaults: NPYOptions{}})
}

// NPYOptions are vectors made by other tools.
type NPYOptions struct {
	Root  string      `yaml:"root" doc:"folder that the files are in"`
	Train VectorFiles `yaml:"train" doc:"training files"`
	Test  VectorFiles `yaml:"test" doc:"test files, for split file"`
}

// VectorFiles are vectors (N, d) and their labels (N).
type VectorFiles struct {
	Vectors string `yaml:"vectors" doc:"npy file of vectors (N, d)"`
	Labels  string `yaml:"labels" doc:"npy or csv file of N labels"`
}

func (f VectorFiles) under(root string) npy.Labeled {
	return npy.Labeled{Vectors: data.Under(root, f.Vectors), Labels: npy.LabelFile{Path: data.Under(root, f.Labels)}}
}

// Traits implements data.Source.
func (NPYOptions) Traits() data.Traits {
	return data.Traits{
		About:   "vectors of other tools: npy of float32 or float64 (N, D), labels as npy or csv",
		Needs:   "the files of vectors and labels",
		Vectors: true,
	}
}

// Missing implements data.Needy.
func (s NPYOptions) Missing(fileSplit bool) []component.Fault {
	out := append(data.Unset("train.vectors", s.Train.Vectors, "the training vectors"), data.Unset("train.labels", s.Train.Labels, "their labels")...)
	if fileSplit {
		out = append(out, append(data.Unset("test.vectors", s.Test.Vectors, "the test vectors"), data.Unset("test.labels", s.Test.Labels, "their labels")...)...)
	}
	return out
}

// Files implements data.Filed.
func (s NPYOptions) Files() []string { return []string{s.Train.Vectors, s.Train.Labels} }

// Open implements data.Source.
func (s NPYOptions) Open(_ context.Context, o data.Options) (train, test data.Dataset, err error) {
	if err := o.CheckFiles(s.Train.Vectors, s.Train.Labels, s.Test.Vectors, s.Test.Labels); err != nil {
		return nil, nil, err
	}
	if o.Size != 0 || o.Crop != 0 || o.Color != "" && o.Color != "native" {
		return nil, nil, fmt.Errorf("data npy holds vectors: size, crop and color do not apply")
	}
	files := []npy.Labeled{s.Train.under(s.Root)}
	if s.Test.Vectors != "" {
		files = append(files, s.Test.under(s.Root))
	}
	vectors, labels, classes, err := npy.ReadLabeled(files...)
	if err != nil {
		return nil, nil, err
	}
	sets := make([]data.Dataset, 2)
	for k, x := range vectors {
		if sets[k], err = data.NewVectors(x, labels[k], classes); err != nil {
			return nil, nil, err
		}
	}
	if sets[1] != nil {
		if err := data.SameShape(sets[0], sets[1]); err != nil {
			return nil, nil, fault.Of(fault.ErrFormat, err, "%s and %s", data.Under(s.Root, s.Train.Vectors), data.Under(s.Root, s.Test.Vectors))
		}
	}
	return sets[0], sets[1], nil
}

var _ data.Starting = NPYOptions{} // which nothing else checks

// Start implements data.Starting.
func (NPYOptions) Start(_ context.Context, root string) (*data.Start, error) {
	const known = "NAME.npy with NAME.labels.npy or NAME.labels.csv, or X.npy with Y.npy; _train and _test, or train and test as NAME, are the two sets"
	return startFiles(root, "vectors", known, func(name string) []string {
		stem, ok := strings.CutSuffix(name, ".npy")
		if !ok || strings.HasSuffix(stem, ".labels") {
			return nil
		}
		partners := []string{stem + ".labels.npy", stem + ".labels.csv"}
		if x, rest := stem[:min(1, len(stem))], stem[min(1, len(stem)):]; x == "X" || x == "x" {
			y := string(x[0]+1) + rest
			partners = append(partners, y+".npy", y+".csv")
		}
		return partners
	})
}
