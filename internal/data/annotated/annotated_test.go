package annotated_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/annotated"
	"tercet/internal/data/datatest"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/imaging/transform"
)

// dataset is one layout of a dataset in its true and in a small size.
type dataset struct {
	name        string
	write       func(t datatest.Tree)
	source      func(root string, partial bool) annotated.Source
	full, small []datatest.Class
	counts      map[table.Role]table.Count // of the true one
	drop        string                     // an annotation file
}

func cars(root string, partial bool) annotated.Source {
	return annotated.CarsOptions{Root: root, Partial: partial}
}

// The counts are those that the papers print.
func datasets() []dataset {
	same := func(train, classes, test, tested int) map[table.Role]table.Count {
		t := table.Count{Images: test, Classes: tested}
		return map[table.Role]table.Count{table.Train: {Images: train, Classes: classes}, table.Query: t, table.Gallery: t}
	}
	carsFull := append(datatest.Spread(1, 98, 8054, 0, 0), datatest.Spread(99, 196, 0, 8131, 0)...)
	carsSmall := []datatest.Class{{ID: 1, Train: 3}, {ID: 98, Train: 3}, {ID: 99, Query: 3}, {ID: 196, Query: 3}}
	sopFull := append(datatest.Spread(1, 11318, 59551, 0, 0), datatest.Spread(11319, 22634, 0, 60502, 0)...)
	sopSmall := []datatest.Class{{ID: 1, Train: 2}, {ID: 2, Train: 3}, {ID: 11319, Query: 2}, {ID: 11320, Query: 2}}
	sop := func(root string, partial bool) annotated.Source {
		return annotated.SOPOptions{Root: root, Partial: partial}
	}
	return []dataset{
		{
			"cub", datatest.Tree.CUB, func(root string, partial bool) annotated.Source {
				return annotated.CUBOptions{Root: root, Partial: partial}
			},
			append(datatest.Spread(1, 100, 5864, 0, 0), datatest.Spread(101, 200, 0, 5924, 0)...),
			[]datatest.Class{{ID: 1, Train: 3}, {ID: 100, Train: 3}, {ID: 101, Query: 3}, {ID: 200, Query: 3}},
			same(5864, 100, 5924, 100), "images.txt",
		},
		{"cars A", func(t datatest.Tree) { t.Cars("A") }, cars, carsFull, carsSmall, same(8054, 98, 8131, 98), "cars_annos.mat"},
		{"cars B", func(t datatest.Tree) { t.Cars("B") }, cars, carsFull, carsSmall, same(8054, 98, 8131, 98), "devkit/cars_test_annos_withlabels.mat"},
		{"cars C", func(t datatest.Tree) { t.Cars("C") }, cars, carsFull, carsSmall, same(8054, 98, 8131, 98), "anno_test.csv"},
		{"sop", func(t datatest.Tree) { t.SOP(false) }, sop, sopFull, sopSmall, same(59551, 11318, 60502, 11316), "Ebay_test.txt"},
		{"sop info", func(t datatest.Tree) { t.SOP(true) }, sop, sopFull, sopSmall, same(59551, 11318, 60502, 11316), "Info_Files/Ebay_test.txt"},
		{
			"inshop", datatest.Tree.InShop, func(root string, partial bool) annotated.Source {
				return annotated.InShopOptions{Root: root, Partial: partial, Images: "img"}
			},
			append(datatest.Spread(1, 3997, 25882, 0, 0), datatest.Spread(3998, 7982, 0, 14218, 12612)...),
			[]datatest.Class{{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 2, Gallery: 1}, {ID: 7982, Query: 1, Gallery: 2}},
			map[table.Role]table.Count{table.Train: {Images: 25882, Classes: 3997}, table.Query: {Images: 14218, Classes: 3985}, table.Gallery: {Images: 12612, Classes: 3985}},
			"Eval/list_eval_partition.txt",
		},
	}
}

// Annotations of true size are read without an image.
func TestPublishedCounts(t *testing.T) {
	t.Parallel()
	for _, d := range datasets() {
		if d.name == "sop info" {
			continue // the same files
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d.write(datatest.Tree{T: t, Dir: dir, Classes: d.full})
			got, err := d.source(dir, false).Annotation()
			if err != nil {
				t.Fatal(err)
			}
			for role, want := range d.counts {
				if c := got.Count(role); c != want {
					t.Errorf("%s: %+v, want %+v", role, c, want)
				}
			}
			if got.Overlap() != nil || got.Lost() != 0 {
				t.Errorf("overlap %v, %d lost", got.Overlap(), got.Lost())
			}
		})
	}
}

// One image less than published is refused by its counts, unless a part will do.
func TestOneImageLess(t *testing.T) {
	t.Parallel()
	for _, d := range datasets() {
		if d.name == "sop" || d.name == "cars A" || d.name == "cars B" {
			continue // the same check
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			short := t.TempDir()
			d.full[len(d.full)-1].Query--
			d.write(datatest.Tree{T: t, Dir: short, Classes: d.full})
			_, err := d.source(short, false).Annotation()
			n := d.counts[table.Query].Images
			want := fmt.Sprintf("%d images of %d classes for ", n, d.counts[table.Query].Classes)
			if !errors.Is(err, fault.ErrFormat) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprint(n-1)) {
				t.Errorf("got %v, want %s", err, want)
			}
			if got, err := d.source(short, true).Annotation(); err != nil || got.Count(table.Query).Images != n-1 {
				t.Errorf("a part: %v", err)
			}
		})
	}
}

// Small trees are opened as datasets: the classes of training and test are disjoint,
// images are those that were written, and items know their role.
func TestSmallTrees(t *testing.T) {
	t.Parallel()
	for _, d := range datasets() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d.write(datatest.Tree{T: t, Dir: dir, Classes: d.small, Images: true})
			src := d.source(dir, true)
			train, test, err := data.Open(t.Context(), data.Options{Source: src, Size: 16})
			if err != nil {
				t.Fatal(err)
			}
			var want [2]int
			for _, c := range d.small {
				want[0] += c.Train
				want[1] += c.Query + c.Gallery
			}
			if train.Len() != want[0] || test.Len() != want[1] || len(train.Classes()) != 2 || len(test.Classes()) != 2 {
				t.Errorf("%d and %d images of %v and %v", train.Len(), test.Len(), train.Classes(), test.Classes())
			}
			if roles := data.RolesOf(test); (roles != nil) != (d.name == "inshop") || roles != nil && (len(roles.Query) != 3 || len(roles.Gallery) != 3) || data.RolesOf(train) != nil {
				t.Errorf("roles of the test set %+v, of training %+v", roles, data.RolesOf(train))
			}
			checkImages(t, train, table.Train)
			checkImages(t, test, table.Test)
			steps, err := transform.Parse([]string{"Resize((16, 16))"})
			if err != nil {
				t.Fatal(err)
			}
			if train, test, err = data.Open(t.Context(), data.Options{Source: src, Transform: &data.Steps{Test: steps}}); err != nil {
				t.Fatal(err)
			}
			checkImages(t, train, table.Train)
			checkImages(t, test, table.Test)
			if _, _, err := data.Open(t.Context(), data.Options{Source: src, Size: 16, Split: data.Split{Kind: "class"}}); err == nil || !strings.Contains(err.Error(), "comes with its split") {
				t.Errorf("another split: %v", err)
			}
			checkDamage(t, d, dir)
		})
	}
}

// checkImages compares the mean color of each item with those of the images that were
// written for its class.
func checkImages(t *testing.T, ds data.Dataset, roles table.Role) {
	t.Helper()
	h, w, c := ds.Shape()
	x := make([]float32, h*w*c)
	for i := range ds.Len() {
		it := data.TableItem(ds, i)
		if it == nil || !it.Is(roles) || it.Size == 0 {
			t.Fatalf("item %d: %+v", i, it)
		}
		if err := ds.Read(i, x); err != nil {
			t.Fatal(err)
		}
		var got [3]float64
		for p, v := range x {
			got[p%3] += float64(v) / float64(h*w)
		}
		class, err := strconv.Atoi(strings.TrimLeft(strings.TrimPrefix(it.ClassID, "id_"), "0"))
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for k := range 6 {
			best = min(best, distance(got, meanColor(t, class, k)))
		}
		if best > 0.02 {
			t.Errorf("item %d, %s of class %s: mean color %.3f, off by %.3f", i, it.Path, it.ClassID, got, best)
		}
	}
}

func distance(a, b [3]float64) (most float64) {
	for k := range a {
		most = max(most, math.Abs(a[k]-b[k]))
	}
	return most
}

func meanColor(t *testing.T, class, k int) (mean [3]float64) {
	img, err := jpeg.Decode(bytes.NewReader(datatest.JPEG(t, class, k)))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			r, g, bl, _ := img.At(x, y).RGBA()
			for k, v := range []uint32{r, g, bl} {
				mean[k] += float64(v) / 0xffff / float64(b.Dx()*b.Dy())
			}
		}
	}
	return mean
}

// checkDamage takes files away.
func checkDamage(t *testing.T, d dataset, dir string) {
	t.Helper()
	tab, err := annotated.Files(d.source(dir, true))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(tab.File(0)); err != nil {
		t.Fatal(err)
	}
	less, err := annotated.Files(d.source(dir, true))
	if err != nil || len(less.Items) != len(tab.Items)-1 || len(less.Notes) == 0 || !strings.Contains(less.Notes[0], tab.Items[0].Path) {
		t.Errorf("without %s: %v, %+v", tab.Items[0].Path, err, less)
	}
	file := filepath.Join(dir, filepath.FromSlash(d.drop))
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := annotated.Files(d.source(dir, false)); !errors.Is(err, fault.ErrFormat) && !errors.Is(err, fault.ErrMissing) {
		t.Errorf("half of %s: %v", d.drop, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := annotated.Files(d.source(dir, true)); !errors.Is(err, fault.ErrMissing) || !strings.Contains(err.Error(), filepath.Base(d.drop)) {
		t.Errorf("without %s: %v", d.drop, err)
	}
}
