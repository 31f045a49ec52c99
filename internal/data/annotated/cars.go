package annotated

import (
	"context"
	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/table"
)

func init() { register("cars", "Cars-196", CarsOptions{}) }

// CarsOptions are Cars-196 (Krause and others 2013): classes 1 to 98 to train on, 99 to
// 196 to test on. Its own parts, train and test, hold images of all classes and are pooled.
type CarsOptions struct {
	Root    string `yaml:"root" doc:"folder with car_ims and cars_annos.mat, or cars_train, cars_test and devkit, or car_data and anno_train.csv"`
	Partial bool   `yaml:"partial" doc:"accept a part of the dataset: different counts and missing images give a note instead of an error"`
	Boxes   bool   `yaml:"boxes" doc:"crop each image to its box; published scores are mostly without"`
}

var cars = published{
	name:  "Cars-196",
	train: table.Count{Images: 8054, Classes: 98}, query: table.Count{Images: 8131, Classes: 98}, gallery: table.Count{Images: 8131, Classes: 98},
}

const (
	carsClasses = 196
	carsTrained = 98 // classes that are trained on
)

// Traits implements data.Source.
func (CarsOptions) Traits() data.Traits {
	return data.Traits{About: "Cars-196: 16,185 photos of 196 models, tested on the last 98", Needs: "root: the folder with the images and cars_annos.mat, devkit or anno_train.csv"}
}

// Missing implements data.Needy.
func (s CarsOptions) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

func (s CarsOptions) part() bool { return s.Partial }

// LeftOut implements data.Passing.
func (s CarsOptions) LeftOut(data.Options) string { return leftOut(s) }

// Open implements data.Source.
func (s CarsOptions) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return open(ctx, s, o)
}

// Annotation implements Source.
func (s CarsOptions) Annotation() (*table.Table, error) {
	for _, l := range []struct {
		file   string
		places []string
		read   func(file string) (*rows, error)
	}{
		{"cars_annos.mat", []string{""}, s.pooled},
		{"cars_train_annos.mat", []string{"devkit", "", "car_devkit/devkit"}, s.devkit},
		{"anno_train.csv", []string{""}, s.kaggle},
	} {
		if file := locate(s.Root, l.file, l.places...); file != "" {
			r, err := l.read(file)
			if err != nil {
				return nil, err
			}
			return cars.finish(r, s.Root, s.Partial)
		}
	}
	return nil, nowhere("cars", s.Root, "cars_annos.mat, devkit/cars_train_annos.mat or anno_train.csv")
}

// carsRole is the role of a class, whatever part its images come in.
func carsRole(class int) table.Role {
	if class <= carsTrained {
		return table.Train
	}
	return table.Test
}
