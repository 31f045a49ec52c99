package annotated

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

func init() { register("inshop", "In-Shop Clothes Retrieval", InShopOptions{Images: "img"}) }

// InShopOptions are the In-Shop Clothes Retrieval Benchmark of DeepFashion (Liu and others
// 2016): queries are searched for in a gallery of other images.
type InShopOptions struct {
	Root    string `yaml:"root" doc:"folder with list_eval_partition.txt, or Eval, Img and Anno in it"`
	Partial bool   `yaml:"partial" doc:"accept a part of the dataset: different counts and missing images give a note instead of an error"`
	Images  string `yaml:"images" enum:"img|img_highres" doc:"which images: img has sides of 256, img_highres is the larger ones in their place"`
	Boxes   bool   `yaml:"boxes" doc:"crop each image to its box in list_bbox_inshop.txt, which counts in pixels of img"`
}

var inshop = published{
	name:  "In-Shop Clothes Retrieval",
	train: table.Count{Images: 25882, Classes: 3997}, query: table.Count{Images: 14218, Classes: 3985}, gallery: table.Count{Images: 12612, Classes: 3985},
}

// Traits implements data.Source.
func (InShopOptions) Traits() data.Traits {
	return data.Traits{About: "In-Shop Clothes Retrieval: 52,712 photos of 7,982 items, queries apart from the gallery", Needs: "root: the folder with list_eval_partition.txt"}
}

// Missing implements data.Needy.
func (s InShopOptions) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

// Check implements component.Checker.
func (s InShopOptions) Check() []component.Fault {
	if s.Boxes && s.Images != "img" {
		return []component.Fault{component.Faultf("boxes", "count in pixels of img: set data.images: img or leave boxes out")}
	}
	return nil
}

func (s InShopOptions) part() bool { return s.Partial }

// LeftOut implements data.Passing.
func (s InShopOptions) LeftOut(data.Options) string { return leftOut(s) }

// Open implements data.Source.
func (s InShopOptions) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return open(ctx, s, o)
}

// Annotation implements Source. The label is the item: folders of several categories share
// item ids.
func (s InShopOptions) Annotation() (*table.Table, error) {
	list := locate(s.Root, "list_eval_partition.txt", "Eval", "")
	if list == "" {
		return nil, nowhere("inshop", s.Root, "list_eval_partition.txt")
	}
	boxes, err := s.boxes()
	if err != nil {
		return nil, err
	}
	roles := map[string]table.Role{"train": table.Train, "query": table.Query, "gallery": table.Gallery}
	r := &rows{}
	if err := s.counted(list, []string{"image_name", "item_id", "evaluation_status"}, func(w row) error {
		it := table.Item{Path: w.fields[0], ClassID: w.fields[1], Role: roles[w.fields[2]]}
		if it.Role == 0 {
			return w.bad("evaluation_status is %q; it must be train, query or gallery", w.fields[2])
		}
		if parts := strings.Split(it.Path, "/"); len(parts) > 2 {
			it.Category = strings.Join(parts[1:len(parts)-2], "/")
		}
		if s.Boxes {
			var found bool
			if it.Box, found = boxes[it.Path]; !found {
				return w.bad("%s has no box in list_bbox_inshop.txt", it.Path)
			}
		}
		if rest, ok := strings.CutPrefix(it.Path, "img/"); ok && s.Images != "" {
			it.Path = s.Images + "/" + rest
		}
		r.add(it)
		return nil
	}); err != nil {
		return nil, err
	}
	root := s.Root
	if at := locate(s.Root, s.Images, "", "Img"); at != "" {
		root = filepath.Dir(at)
	}
	return inshop.finish(r, root, s.Partial)
}

// counted reads a file that begins with the number of its rows and a header.
func (s InShopOptions) counted(file string, columns []string, f func(row) error) error {
	b, err := readText(file)
	if err != nil {
		return err
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	want, err := strconv.Atoi(strings.TrimSpace(string(first)))
	if err != nil {
		return fault.Bad("%s, line 1: %.40q; it must be the number of rows", file, first)
	}
	n := 0
	if err := eachRow(file, 2, columns, func(w row) error {
		n++
		return f(w)
	}); err != nil {
		return err
	}
	if n != want {
		return fault.Bad("%s: line 1 says %d rows, and there are %d", file, want, n)
	}
	return nil
}

// boxes reads the boxes by path, where they are asked for.
func (s InShopOptions) boxes() (map[string]image.Rectangle, error) {
	if !s.Boxes {
		return nil, nil
	}
	file := locate(s.Root, "list_bbox_inshop.txt", "Anno", "")
	if file == "" {
		return nil, fault.Missing(nil, "data.boxes: no list_bbox_inshop.txt below %s", s.Root)
	}
	out := map[string]image.Rectangle{}
	err := s.counted(file, strings.Fields("image_name clothes_type pose_type x_1 y_1 x_2 y_2"), func(w row) error {
		var v [4]float64
		for k := range v {
			n, err := w.number(k+3, fmt.Sprintf("word %d", k+4), 0, 1<<16)
			if err != nil {
				return err
			}
			v[k] = float64(n)
		}
		out[w.fields[0]] = rectangle(v[0], v[1], v[2], v[3])
		return nil
	})
	return out, err
}
