package annotated_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data/annotated"
	"tercet/internal/data/datatest"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

// Mistakes in annotations are named with file and line.
func TestBadAnnotations(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ layout, file, old, new, want string }{
		{"cub", "images.txt", "\n2 ", "\n1 ", "images.txt, line 2: there are two images 1"},
		{"cub", "images.txt", "1 200", "1 x 200", "images.txt, line 1: 3 words"},
		{"cub", "images.txt", "1 200.", "1 101.", "of class 101 by its folder and of class 200"},
		{"cub", "images.txt", "1 200.", "99 200.", "images.txt, line 1: image 99 has no class"},
		{"cub", "images.txt", "1 200.Bird_200/Bird", "1 200.Bird_200/../../../Bird", "leaves the folder"},
		{"cub", "image_class_labels.txt", "1 200", "1 201", "line 1: the class is \"201\"; it must be a number from 1 to 200"},
		{"cub", "image_class_labels.txt", "2 200", "1 200", "line 2: image 1 has a class already"},
		{"cub", "classes.txt", "", "", "classes.txt"},
		{"sop", "Ebay_test.txt", "11319", "2", "training and test share 1 of"},
		{"sop", "Ebay_train.txt", "1 1 2 ", "1 1 13 ", "super_class_id is \"13\""},
		{"inshop", "Eval/list_eval_partition.txt", "11\n", "12\n", "line 1 says 12 rows, and there are 11"},
		{"inshop", "Eval/list_eval_partition.txt", "11\n", "img\n", "it must be the number of rows"},
		{"inshop", "Eval/list_eval_partition.txt", "query", "quary", "evaluation_status is \"quary\""},
		{"cars C", "anno_train.csv", ",98\n", ",197\n", "class 197, of which names.csv has no name"},
		{"cars C", "anno_train.csv", ",98\n", "\n", "anno_train.csv"},
	} {
		for _, d := range datasets() {
			if d.name != tc.layout {
				continue
			}
			dir := t.TempDir()
			d.write(datatest.Tree{T: t, Dir: dir, Classes: d.small})
			file := filepath.Join(dir, filepath.FromSlash(tc.file))
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changed := bytes.Replace(b, []byte(tc.old), []byte(tc.new), 1)
			if tc.old == "" {
				err = os.Remove(file)
			} else if err = os.WriteFile(file, changed, 0o644); bytes.Equal(b, changed) {
				t.Fatalf("%s has no %q", tc.file, tc.old)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err = d.source(dir, true).Annotation(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s in %s:\ngot  %v\nwant %s", tc.new, tc.file, err, tc.want)
			}
		}
	}
}

// Splits of the images of all classes, which CUB and Cars come with, change nothing.
func TestClosedSetFlagsAreIgnored(t *testing.T) {
	t.Parallel()
	counts := map[string]bool{}
	for _, layout := range []string{"A", "B", "C"} {
		dir := t.TempDir()
		tree := datatest.Tree{T: t, Dir: dir, Classes: append(datatest.Spread(95, 98, 13, 0, 0), datatest.Spread(99, 103, 0, 14, 0)...)}
		tree.Cars(layout)
		got, err := cars(dir, true).Annotation()
		if err != nil {
			t.Fatal(err)
		}
		ids := map[table.Role]string{}
		for i := range got.Items {
			it := &got.Items[i]
			if !strings.Contains(ids[it.Role]+" ", " "+it.ClassID+" ") {
				ids[it.Role] += " " + it.ClassID
			}
		}
		for _, r := range []string{" 95 96 97 98", " 99 100 101 102 103"} {
			role := table.Train
			if r[1:3] == "99" {
				role = table.Test
			}
			for id := range strings.FieldsSeq(r) {
				if !strings.Contains(ids[role]+" ", " "+id+" ") {
					t.Errorf("layout %s: class %s is not %s", layout, id, role)
				}
			}
		}
		if c := got.Count(table.Train); c != (table.Count{Images: 13, Classes: 4}) {
			t.Errorf("layout %s: %+v", layout, c)
		}
		counts[strings.Join(got.Classes[:1], "")+"/"+got.Classes[3]] = layout != "B" // which has no names here
	}
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 4}, {ID: 101, Query: 4}}}
	tree.CUB()
	before, err := (annotated.CUBOptions{Root: dir, Partial: true}).Annotation()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "train_test_split.txt"), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	after, err := (annotated.CUBOptions{Root: dir, Partial: true}).Annotation()
	if err != nil || before.Fingerprint() != after.Fingerprint() {
		t.Errorf("train_test_split.txt is read: %v", err)
	}
}

// A folder of another dataset, or of none, is named as what it is.
func TestWrongLayout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	datatest.Tree{T: t, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 1}}}.SOP(false)
	for _, d := range datasets() {
		if strings.HasPrefix(d.name, "sop") {
			continue
		}
		if _, err := d.source(dir, true).Annotation(); !errors.Is(err, fault.ErrMissing) || !strings.HasSuffix(err.Error(), "; the files there look like data sop") {
			t.Errorf("%s: %v", d.name, err)
		}
		if _, err := d.source(t.TempDir(), true).Annotation(); !errors.Is(err, fault.ErrMissing) || strings.Contains(err.Error(), "look like") {
			t.Errorf("%s, empty: %v", d.name, err)
		}
	}
}

// Files that archivers leave in the annotation are no images.
func TestJunkIsPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 2}, {ID: 11319, Query: 2}}}
	tree.SOP(false)
	f, err := os.OpenFile(filepath.Join(dir, "Ebay_train.txt"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("5 1 1 bicycle_final/._1001_0.JPG\n6 1 1 bicycle_final/Thumbs.db\n")
	f.Close()
	got, err := (annotated.SOPOptions{Root: dir, Partial: true}).Annotation()
	if err != nil || len(got.Items) != 4 || len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "2 rows name files") {
		t.Errorf("%v: %+v", err, got)
	}
}

// Boxes and large images of In-Shop, boxes of CUB and Cars are read where they are asked
// for.
func TestBoxesAreRead(t *testing.T) {
	t.Parallel()
	for _, d := range datasets() {
		dir := t.TempDir()
		d.write(datatest.Tree{T: t, Dir: dir, Classes: d.small})
		var s annotated.Source
		want := "(2,3)-(20,30)"
		switch {
		case d.name == "cub":
			s, want = annotated.CUBOptions{Root: dir, Partial: true, Boxes: true}, "(2,3)-(22,13)"
		case strings.HasPrefix(d.name, "cars"):
			s = annotated.CarsOptions{Root: dir, Partial: true, Boxes: true}
		case d.name == "inshop":
			s, want = annotated.InShopOptions{Root: dir, Partial: true, Boxes: true, Images: "img"}, "(3,4)-(20,30)"
		default:
			continue
		}
		got, err := s.Annotation()
		if err != nil || got.Items[1].Box.String() != want {
			t.Errorf("%s: %v, box %v, want %s", d.name, err, got, want)
		}
	}
	dir := t.TempDir()
	datatest.Tree{T: t, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 1}, {ID: 2, Query: 1, Gallery: 1}}}.InShop()
	large := annotated.InShopOptions{Root: dir, Partial: true, Images: "img_highres"}
	if got, err := large.Annotation(); err != nil || got.Items[0].Path != "img_highres/WOMEN/Dresses/id_00000001/01_1_front.jpg" || got.Items[0].Category != "WOMEN/Dresses" {
		t.Errorf("%v %+v", err, got)
	}
	large.Boxes = true
	if len(large.Check()) != 1 {
		t.Error("boxes of small images on large ones")
	}
}

// Any annotation is read or refused, and what is read is sound.
func FuzzAnnotations(f *testing.F) {
	dir := f.TempDir()
	datatest.Tree{T: f, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 2}, {ID: 101, Query: 2}}}.CUB()
	datatest.Tree{T: f, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 2}, {ID: 3, Query: 1, Gallery: 1}}}.InShop()
	datatest.Tree{T: f, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 2}, {ID: 3, Query: 2}}}.SOP(false)
	datatest.Tree{T: f, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 2}, {ID: 99, Query: 2}}}.Cars("C")
	names := []string{"images.txt", "image_class_labels.txt", "classes.txt", "Eval/list_eval_partition.txt", "Ebay_train.txt", "anno_train.csv", "names.csv"}
	good := map[string][]byte{}
	for k, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		good[name] = b
		f.Add(k, b)
	}
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		name := names[uint(which)%uint(len(names))]
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, s := range []annotated.Source{
			annotated.CUBOptions{Root: dir, Partial: true, Boxes: true}, annotated.InShopOptions{Root: dir, Partial: true, Images: "img", Boxes: true},
			annotated.SOPOptions{Root: dir, Partial: true}, annotated.CarsOptions{Root: dir, Partial: true},
		} {
			got, err := s.Annotation()
			sound(t, got, err)
		}
		if err := os.WriteFile(file, good[name], 0o644); err != nil {
			t.Fatal(err)
		}
	})
}
