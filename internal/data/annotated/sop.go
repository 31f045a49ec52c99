package annotated

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/table"
)

func init() { register("sop", "Stanford Online Products", SOPOptions{}) }

// SOPOptions are Stanford Online Products (Song and others 2016): 11,318 products to train
// on, 11,316 others to test on.
type SOPOptions struct {
	Root    string `yaml:"root" doc:"folder with Ebay_train.txt and the folders of images, or Info_Files and images, or Stanford_Online_Products in it"`
	Partial bool   `yaml:"partial" doc:"accept a part of the dataset: different counts and missing images give a note instead of an error"`
}

var sop = published{
	name:  "Stanford Online Products",
	train: table.Count{Images: 59551, Classes: 11318}, query: table.Count{Images: 60502, Classes: 11316}, gallery: table.Count{Images: 60502, Classes: 11316},
}

// sopKinds are the kinds of products, super_class_id 1 to 12.
var sopKinds = strings.Fields("bicycle cabinet chair coffee_maker fan kettle lamp mug sofa stapler table toaster")

// Traits implements data.Source.
func (SOPOptions) Traits() data.Traits {
	return data.Traits{About: "Stanford Online Products: 120,053 photos of 22,634 products, tested on half of them", Needs: "root: the folder with Ebay_train.txt and Ebay_test.txt"}
}

// Missing implements data.Needy.
func (s SOPOptions) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

func (s SOPOptions) part() bool { return s.Partial }

// LeftOut implements data.Passing.
func (s SOPOptions) LeftOut(data.Options) string { return leftOut(s) }

// Open implements data.Source.
func (s SOPOptions) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return open(ctx, s, o)
}

// Annotation implements Source.
func (s SOPOptions) Annotation() (*table.Table, error) {
	const inside = "Stanford_Online_Products"
	list := locate(s.Root, "Ebay_train.txt", "", "Info_Files", inside, filepath.Join(inside, "Info_Files"))
	if list == "" {
		return nil, nowhere("sop", s.Root, "Ebay_train.txt")
	}
	dir := filepath.Dir(list)
	root := dir
	if filepath.Base(dir) == "Info_Files" {
		root = filepath.Dir(dir)
	}
	if in := filepath.Join(root, "images"); isFolder(in) {
		root = in
	}
	r := &rows{}
	for _, part := range []struct {
		file string
		role table.Role
	}{{"Ebay_train.txt", table.Train}, {"Ebay_test.txt", table.Test}} {
		err := eachRow(filepath.Join(dir, part.file), 1, []string{"image_id", "class_id", "super_class_id", "path"}, func(w row) error {
			kind, err := w.number(2, "super_class_id", 1, len(sopKinds))
			if err != nil {
				return err
			}
			class, err := w.number(1, "class_id", 1, 1<<30)
			if err != nil {
				return err
			}
			r.add(table.Item{ImageID: w.fields[0], ClassID: strconv.Itoa(class), Category: sopKinds[kind-1], Path: w.fields[3], Role: part.role})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sop.finish(r, root, s.Partial)
}
