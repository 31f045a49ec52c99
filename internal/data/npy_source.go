package data

import (
	"fmt"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data/npy"
)

func init() {
	Family.Register(component.Component[Source]{Name: "npy", Doc: "vectors from other tools", Defaults: NPYOptions{}})
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
	return npy.Labeled{Vectors: under(root, f.Vectors), Labels: npy.LabelFile{Path: under(root, f.Labels)}}
}

// Traits implements Source.
func (NPYOptions) Traits() Traits {
	return Traits{
		About:   "vectors of other tools: npy of float32 or float64 (N, D), labels as npy or csv",
		Needs:   "the files of vectors and labels",
		Vectors: true,
	}
}

// Missing implements Needy.
func (s NPYOptions) Missing(fileSplit bool) []component.Fault {
	out := append(unset("train.vectors", s.Train.Vectors, "the training vectors"), unset("train.labels", s.Train.Labels, "their labels")...)
	if fileSplit {
		out = append(out, append(unset("test.vectors", s.Test.Vectors, "the test vectors"), unset("test.labels", s.Test.Labels, "their labels")...)...)
	}
	return out
}

// Files implements Filed.
func (s NPYOptions) Files() []string { return []string{s.Train.Vectors, s.Train.Labels} }

// Open implements Source.
func (s NPYOptions) Open(o Options) (train, test Dataset, err error) {
	if err := o.checkFiles(s.Train.Vectors, s.Train.Labels, s.Test.Vectors, s.Test.Labels); err != nil {
		return nil, nil, err
	}
	if o.Size != 0 || o.Crop != 0 || !o.image().native() {
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
	sets := make([]Dataset, 2)
	for k, x := range vectors {
		if sets[k], err = NewVectors(x, labels[k], classes); err != nil {
			return nil, nil, err
		}
	}
	if sets[1] != nil {
		if err := sameShape(sets[0], sets[1]); err != nil {
			return nil, nil, badCause(err, "%s and %s", under(s.Root, s.Train.Vectors), under(s.Root, s.Test.Vectors))
		}
	}
	return sets[0], sets[1], nil
}

// Start implements Starting.
func (NPYOptions) Start(root string) (*Start, error) {
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
