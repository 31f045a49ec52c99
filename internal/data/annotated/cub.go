package annotated

import (
	"context"
	"image"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/table"
)

func init() { register("cub", "CUB-200-2011, birds", CUBOptions{}) }

// CUBOptions are CUB-200-2011 (Wah and others 2011): classes 1 to 100 to train on, 101 to
// 200 to test on. Its train_test_split.txt splits images of all classes and is not read.
type CUBOptions struct {
	Root    string `yaml:"root" doc:"folder with images.txt and images, or CUB_200_2011 in it"`
	Partial bool   `yaml:"partial" doc:"accept a part of the dataset: different counts and missing images give a note instead of an error"`
	Boxes   bool   `yaml:"boxes" doc:"crop each image to its box; published scores are mostly without"`
}

var cub = published{
	name:  "CUB-200-2011",
	train: table.Count{Images: 5864, Classes: 100}, query: table.Count{Images: 5924, Classes: 100}, gallery: table.Count{Images: 5924, Classes: 100},
}

// Traits implements data.Source.
func (CUBOptions) Traits() data.Traits {
	return data.Traits{About: "CUB-200-2011: 11,788 birds of 200 classes, tested on the last 100", Needs: "root: the folder with images.txt"}
}

// Missing implements data.Needy.
func (s CUBOptions) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

func (s CUBOptions) part() bool { return s.Partial }

// LeftOut implements data.Passing.
func (s CUBOptions) LeftOut(data.Options) string { return leftOut(s) }

// Open implements data.Source.
func (s CUBOptions) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return open(ctx, s, o)
}

// Annotation implements Source.
func (s CUBOptions) Annotation() (*table.Table, error) {
	list := locate(s.Root, "images.txt", "", "CUB_200_2011")
	if list == "" {
		return nil, nowhere("cub", s.Root, "images.txt")
	}
	dir := filepath.Dir(list)
	r := &rows{names: map[string]string{}}
	if err := eachRow(filepath.Join(dir, "classes.txt"), 0, []string{"class", "name"}, func(w row) error {
		_, err := w.number(0, "the class", 1, 200)
		r.names[w.fields[0]] = w.fields[1]
		return err
	}); err != nil {
		return nil, err
	}
	classes := map[string]int{} // by image id
	if err := eachRow(filepath.Join(dir, "image_class_labels.txt"), 0, []string{"image", "class"}, func(w row) (err error) {
		if classes[w.fields[0]] != 0 {
			return w.bad("image %s has a class already", w.fields[0])
		}
		classes[w.fields[0]], err = w.number(1, "the class", 1, 200)
		return err
	}); err != nil {
		return nil, err
	}
	boxes, err := s.boxes(dir)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	if err := eachRow(list, 0, []string{"image", "path"}, func(w row) error {
		if seen[w.fields[0]] {
			return w.bad("there are two images %s", w.fields[0])
		}
		seen[w.fields[0]] = true
		it, err := cubItem(w, classes)
		it.Box = boxes[it.ImageID]
		r.add(it)
		return err
	}); err != nil {
		return nil, err
	}
	return cub.finish(r, filepath.Join(dir, "images"), s.Partial)
}

// cubItem is a row of images.txt. The folder of an image begins with its class, too.
func cubItem(w row, classes map[string]int) (table.Item, error) {
	it := table.Item{ImageID: w.fields[0], Path: w.fields[1], Role: table.Test}
	class := classes[it.ImageID]
	if class == 0 {
		return it, w.bad("image %s has no class in image_class_labels.txt", it.ImageID)
	}
	prefix, _, _ := strings.Cut(it.Path, ".")
	if n, err := strconv.Atoi(prefix); err == nil && n != class {
		return it, w.bad("%s is of class %d by its folder and of class %d by image_class_labels.txt", it.Path, n, class)
	}
	if it.ClassID = strconv.Itoa(class); class <= 100 {
		it.Role = table.Train
	}
	return it, nil
}

// boxes reads the boxes of images, by their id, where they are asked for.
func (s CUBOptions) boxes(dir string) (map[string]image.Rectangle, error) {
	if !s.Boxes {
		return nil, nil
	}
	out := map[string]image.Rectangle{}
	err := eachRow(filepath.Join(dir, "bounding_boxes.txt"), 0, []string{"image", "x", "y", "width", "height"}, func(w row) error {
		var v [4]float64
		for k := range v {
			var err error
			if v[k], err = strconv.ParseFloat(w.fields[k+1], 64); err != nil {
				return w.bad("%q is not a number", w.fields[k+1])
			}
		}
		out[w.fields[0]] = rectangle(v[0], v[1], v[0]+v[2], v[1]+v[3])
		return nil
	})
	return out, err
}
