package datatest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/sources"
)

// Class is one class of a tree that is written: its number and its images by role. Where
// queries are also the gallery, Gallery is 0.
type Class struct{ ID, Train, Query, Gallery int }

// Spread are classes from first to last with so many training and test images in all,
// dealt evenly.
func Spread(first, last int, train, query, gallery int) []Class {
	n := last - first + 1
	share := func(total, k int) int { return total*(k+1)/n - total*k/n }
	out := make([]Class, n)
	for k := range out {
		out[k] = Class{first + k, share(train, k), share(query, k), share(gallery, k)}
	}
	return out
}

// Tree writes a dataset in one of its layouts.
type Tree struct {
	T       testing.TB
	Dir     string
	Classes []Class
	Images  bool     // otherwise annotations alone
	Photos  []string // JPEG files that images are hard links to, in place of drawn ones
}

// write writes a file below the tree's folder.
func (t Tree) write(name string, content []byte) {
	t.T.Helper()
	path := filepath.Join(t.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.T.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.T.Fatal(err)
	}
}

// image writes an image of a class, if the tree has any.
func (t Tree) image(name string, class, k int) {
	t.T.Helper()
	switch {
	case !t.Images:
	case t.Photos == nil:
		t.write(name, JPEG(t.T, class, k))
	default:
		path := filepath.Join(t.Dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.Link(t.Photos[(class*31+k)%len(t.Photos)], path)
		}
		if err != nil {
			t.T.Fatal(err)
		}
	}
}

// each calls f for all images: of each class those to train on, queries, gallery.
func (t Tree) each(f func(c Class, k int, status string)) {
	for _, c := range t.Classes {
		k := 0
		for _, part := range []struct {
			n      int
			status string
		}{{c.Train, "train"}, {c.Query, "query"}, {c.Gallery, "gallery"}} {
			for range part.n {
				k++
				f(c, k, part.status)
			}
		}
	}
}

// CUB writes CUB-200-2011. Image ids go backwards through each class, and the closed-set
// split takes every other image for training.
func (t Tree) CUB() {
	var list, labels, names, split, boxes strings.Builder
	var rows []string
	t.each(func(c Class, k int, _ string) {
		path := fmt.Sprintf("%03d.Bird_%d/Bird_%d_%04d.jpg", c.ID, c.ID, c.ID, k)
		rows = append(rows, fmt.Sprintf("%d %s", c.ID, path))
		t.image("images/"+path, c.ID, k)
	})
	for id := 1; id <= len(rows); id++ {
		class, path, _ := strings.Cut(rows[len(rows)-id], " ")
		fmt.Fprintf(&list, "%d %s\n", id, path)
		fmt.Fprintf(&labels, "%d %s\n", id, class)
		fmt.Fprintf(&split, "%d %d\n", id, id%2)
		fmt.Fprintf(&boxes, "%d 2.0 3.0 20.0 10.0\n", id)
	}
	for _, c := range t.Classes {
		fmt.Fprintf(&names, "%d %03d.Bird_%d\n", c.ID, c.ID, c.ID)
	}
	t.write("images.txt", []byte(list.String()))
	t.write("image_class_labels.txt", []byte(labels.String()))
	t.write("classes.txt", []byte(names.String()))
	t.write("train_test_split.txt", []byte(split.String()))
	t.write("bounding_boxes.txt", []byte(boxes.String()))
}

// SOP writes Stanford Online Products, in the tree with Info_Files and images where info
// is set.
func (t Tree) SOP(info bool) {
	files := map[string]*strings.Builder{"train": {}, "query": {}}
	for _, b := range files {
		b.WriteString("image_id class_id super_class_id path\n")
	}
	lists, images := "", ""
	if info {
		lists, images = "Info_Files/", "images/"
	}
	id := 0
	t.each(func(c Class, k int, status string) {
		id++
		kind := 1 + c.ID%2
		path := fmt.Sprintf("%s_final/%d_%d.JPG", []string{"", "bicycle", "cabinet"}[kind], 1000+c.ID, k-1)
		fmt.Fprintf(files[status], "%d %d %d %s\n", id, c.ID, kind, path)
		t.image(images+path, c.ID, k)
	})
	t.write(lists+"Ebay_train.txt", []byte(files["train"].String()))
	t.write(lists+"Ebay_test.txt", []byte(files["query"].String()))
}

// InShop writes In-Shop Clothes Retrieval. Images of one item lie in two folders.
func (t Tree) InShop() {
	var list, boxes strings.Builder
	n := 0
	t.each(func(c Class, k int, status string) {
		n++
		path := fmt.Sprintf("img/WOMEN/%s/id_%08d/%02d_1_front.jpg", []string{"Blouses_Shirts", "Dresses"}[k%2], c.ID, k)
		fmt.Fprintf(&list, "%-70s %-12s %s\r\n", path, fmt.Sprintf("id_%08d", c.ID), status)
		fmt.Fprintf(&boxes, "%-70s 1 2 003 004 020 030\n", path)
		t.image("Img/"+path, c.ID, k)
	})
	t.write("Eval/list_eval_partition.txt", []byte(fmt.Sprintf("%d\nimage_name item_id evaluation_status\n%s", n, list.String())))
	t.write("Anno/list_bbox_inshop.txt", []byte(fmt.Sprintf("%d\nimage_name clothes_type pose_type x_1 y_1 x_2 y_2\n%s", n, boxes.String())))
}

// Cars writes Cars-196 in layout A (car_ims), B (devkit) or C (car_data). The part that an
// image comes in goes by its number.
func (t Tree) Cars(layout string) {
	var pooled []Car
	parts := map[string][]Car{}
	names := make([]string, 196)
	for i := range names {
		names[i] = fmt.Sprintf("Model %d C/V Sedan 2012", (i*143)%196)
	}
	t.each(func(c Class, k int, _ string) {
		part := []string{"train", "test"}[k%2]
		car := Car{Class: c.ID, Test: part == "test", Box: [4]int{3, 4, 20, 30}, Path: fmt.Sprintf("car_ims/%06d.jpg", len(pooled)+1)}
		pooled = append(pooled, car)
		file := car.Path
		if layout != "A" {
			car.Path = fmt.Sprintf("%05d.jpg", len(parts[part])+1)
			file = "cars_" + part + "/" + car.Path
		}
		if layout == "C" {
			file = "car_data/car_data/" + part + "/" + strings.ReplaceAll(names[c.ID-1], "/", "-") + "/" + car.Path
		}
		parts[part] = append(parts[part], car)
		t.image(file, c.ID, k)
	})
	switch layout {
	case "A":
		t.write("cars_annos.mat", CarsMat(pooled, names, true))
	case "B":
		t.write("devkit/cars_train_annos.mat", CarsMat(parts["train"], nil, false))
		t.write("devkit/cars_test_annos_withlabels.mat", CarsMat(parts["test"], nil, false))
		t.write("devkit/cars_meta.mat", CarsMat(nil, names, false))
	case "C":
		t.write("names.csv", []byte(strings.Join(names, "\n")+"\n"))
		for part, list := range parts {
			var b strings.Builder
			for _, c := range list {
				fmt.Fprintf(&b, "%s,%d,%d,%d,%d,%d\n", c.Path, c.Box[0], c.Box[1], c.Box[2], c.Box[3], c.Class)
			}
			t.write("anno_"+part+".csv", []byte(b.String()))
		}
	default:
		t.T.Fatalf("no layout %q", layout)
	}
}

// drawn are characters that images are made of.
var drawn = sync.OnceValues(func() (data.Dataset, error) {
	train, _, err := data.Open(context.Background(), data.Options{Source: sources.GlyphsOptions{Glyphs: sources.Glyphs{Classes: 8, TestClasses: 1, PerClass: 6, Difficulty: 0.3}}, Size: 32})
	return train, err
})

// JPEG is image k of a class: a character that the class has, on a ground of its color.
func JPEG(t testing.TB, class, k int) []byte {
	t.Helper()
	glyphs, err := drawn()
	if err != nil {
		t.Fatal(err)
	}
	size, _, _ := glyphs.Shape()
	x := make([]float32, size*size)
	if err := glyphs.Read(class%8*6+k%6, x); err != nil {
		t.Fatal(err)
	}
	h, w := 40+class%3*8, 44+k%3*10
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for p := range h * w {
		v := x[p/w*size/h*size+p%w*size/w]
		ink := func(ground int) uint8 { return uint8(float32(ground%256) * (1 - v/2)) }
		img.SetRGBA(p%w, p/w, color.RGBA{ink(class*67 + 90), ink(class*29 + p/w), ink(class*131 + p%w), 255})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
