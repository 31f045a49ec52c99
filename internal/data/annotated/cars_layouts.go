package annotated

import (
	"bytes"
	"encoding/csv"
	"errors"
	"image"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/data/mat"
	"tercet/internal/data/table"
	"tercet/internal/fsx"
)

const maxMat = 64 << 20 // bytes of a file; the largest known one has 700 kB

// pooled reads cars_annos.mat, which lists all images.
func (s CarsOptions) pooled(file string) (*rows, error) {
	vars, err := readMat(file)
	if err != nil {
		return nil, err
	}
	r := &rows{names: classNames(vars)}
	return r, s.annotations(r, file, vars, "relative_im_path", "")
}

// devkit reads the files of the two parts as they came out first. Numbers of images begin
// at 1 in both.
func (s CarsOptions) devkit(train string) (*rows, error) {
	test := locate(s.Root, "cars_test_annos_withlabels.mat", "devkit", "", "car_devkit/devkit")
	if test == "" {
		return nil, fault.Missing(nil, "data cars: no cars_test_annos_withlabels.mat in the folder of %s (cars_test_annos.mat has no classes)", train)
	}
	r := &rows{}
	if file := filepath.Join(filepath.Dir(train), "cars_meta.mat"); locate(filepath.Dir(train), "cars_meta.mat", "") != "" {
		vars, err := readMat(file)
		if err != nil {
			return nil, err
		}
		r.names = classNames(vars)
	}
	for _, part := range []struct{ file, folder string }{{train, "cars_train/"}, {test, "cars_test/"}} {
		vars, err := readMat(part.file)
		if err != nil {
			return nil, err
		}
		if err := s.annotations(r, part.file, vars, "fname", part.folder); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// annotations adds the struct array of that name; the field of the path depends on the
// layout.
func (s CarsOptions) annotations(r *rows, file string, vars []mat.Array, path, folder string) error {
	a := variable(vars, "annotations")
	if a == nil || a.Fields == nil {
		return fault.Bad("%s has no struct array annotations", file)
	}
	for i := range a.Len() {
		class, ok := a.Field(i, "class").Int()
		name := a.Field(i, path)
		if !ok || class < 1 || class > carsClasses || name == nil || name.Text == "" {
			return fault.Bad("%s, annotation %d: it needs a class from 1 to %d and %s", file, i+1, carsClasses, path)
		}
		it := table.Item{Path: folder + name.Text, ClassID: strconv.Itoa(class), ImageID: name.Text, Role: carsRole(class)}
		if s.Boxes {
			var v [4]int
			for k, f := range []string{"bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2"} {
				if v[k], ok = a.Field(i, f).Int(); !ok {
					return fault.Bad("%s, annotation %d has no %s", file, i+1, f)
				}
			}
			it.Box = carBox(v)
		}
		r.add(it)
	}
	return nil
}

// carBox makes a box of MATLAB's corners, which count from 1 and belong to the box.
func carBox(v [4]int) image.Rectangle {
	return rectangle(float64(max(v[0]-1, 0)), float64(max(v[1]-1, 0)), float64(v[2]), float64(v[3]))
}

func readMat(file string) ([]mat.Array, error) {
	b, err := fsx.ReadFile(file, maxMat)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Missing(err, "cannot read the annotation")
	case err != nil:
		return nil, fault.Of(fault.ErrFormat, err, "cannot read the annotation")
	}
	vars, err := mat.Read(b)
	if err != nil {
		return nil, fault.Of(fault.ErrFormat, err, "%s", file)
	}
	return vars, nil
}

func variable(vars []mat.Array, name string) *mat.Array {
	for i := range vars {
		if vars[i].Name == name {
			return &vars[i]
		}
	}
	return nil
}

// classNames are the names in class_names, by number from 1; nil where there are none.
func classNames(vars []mat.Array) map[string]string {
	a := variable(vars, "class_names")
	if a == nil {
		return nil
	}
	out := map[string]string{}
	for i := range a.Elements {
		out[strconv.Itoa(i+1)] = a.Elements[i].Text
	}
	return out
}

// kaggle reads anno_train.csv and anno_test.csv: file, box and class; images lie in
// folders that are named after classes.
func (s CarsOptions) kaggle(train string) (*rows, error) {
	dir := filepath.Dir(train)
	names, err := readText(filepath.Join(dir, "names.csv"))
	if err != nil {
		return nil, err
	}
	r := &rows{names: map[string]string{}}
	n := 0
	for line := range strings.Lines(string(names)) {
		if name := strings.Trim(strings.TrimSpace(line), `"`); name != "" {
			n++
			r.names[strconv.Itoa(n)] = name
		}
	}
	images := "car_data/car_data/"
	if !isFolder(filepath.Join(s.Root, "car_data", "car_data")) && isFolder(filepath.Join(s.Root, "car_data")) {
		images = "car_data/"
	}
	for _, part := range []string{"train", "test"} {
		if err := s.kagglePart(r, filepath.Join(dir, "anno_"+part+".csv"), images+part+"/"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (s CarsOptions) kagglePart(r *rows, file, folder string) error {
	b, err := readText(file)
	if err != nil {
		return err
	}
	in := csv.NewReader(bytes.NewReader(b))
	in.FieldsPerRecord = 6
	all, err := in.ReadAll()
	if err != nil {
		return fault.Of(fault.ErrFormat, err, "%s", file)
	}
	for i, f := range all {
		var v [5]int
		for k := range v {
			if v[k], err = strconv.Atoi(f[k+1]); err != nil {
				return fault.Bad("%s, line %d: %.40q is not a whole number; want file, x1, y1, x2, y2, class", file, i+1, f[k+1])
			}
		}
		class := strconv.Itoa(v[4])
		if v[4] < 1 || v[4] > carsClasses || r.names[class] == "" {
			return fault.Bad("%s, line %d: class %s, of which names.csv has no name", file, i+1, class)
		}
		it := table.Item{Path: folder + strings.ReplaceAll(r.names[class], "/", "-") + "/" + f[0], ClassID: class, ImageID: f[0], Role: carsRole(v[4])}
		if s.Boxes {
			it.Box = carBox([4]int(v[:4]))
		}
		r.add(it)
	}
	return nil
}
