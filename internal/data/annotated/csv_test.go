package annotated_test

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/annotated"
	"tercet/internal/data/datatest"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

// omlTable has the flags in every way that pandas writes them, a box, a category, a
// sequence, and columns that are not read.
const omlTable = "label,path,split,is_query,is_gallery,x_1,x_2,y_1,y_2,category,sequence,text\n" +
	"10,a/1.jpg,train,,,,,,,shoe,,\"one, two\"\n" +
	"9,b/1.jpg,train,False,0,2.0,20.0,3.0,30.0,shoe,,\n" +
	"9,b/1.jpg,train,,,0,5,0,6,shoe,,\n" +
	"-3,c/1.jpg,validation,True,False,,,,,hat,s1,\n" +
	"-3,c/2.jpg,validation,0,1.0,,,,,hat,,\n" +
	"-3,c/3.jpg,validation,1,true,,,,,hat,s2,\n"

func writeTable(t *testing.T, content string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "df.csv")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOMLTable(t *testing.T) {
	t.Parallel()
	file := writeTable(t, "\ufeff"+strings.ReplaceAll(omlTable, "\n", "\r\n"))
	got, err := annotated.TableOptions{Table: file, Boxes: true}.Annotation()
	if err != nil {
		t.Fatal(err)
	}
	want := []table.Item{
		{Path: "a/1.jpg", Label: 2, Role: table.Train, ClassID: "10", Category: "shoe"},
		{Path: "b/1.jpg", Label: 1, Role: table.Train, ClassID: "9", Category: "shoe", Box: image.Rect(2, 3, 20, 30)},
		{Path: "b/1.jpg", Label: 1, Role: table.Train, ClassID: "9", Category: "shoe", Box: image.Rect(0, 0, 5, 6)},
		{Path: "c/1.jpg", Label: 0, Role: table.Query, ClassID: "-3", Category: "hat", Sequence: "s1"},
		{Path: "c/2.jpg", Label: 0, Role: table.Gallery, ClassID: "-3", Category: "hat"},
		{Path: "c/3.jpg", Label: 0, Role: table.Test, ClassID: "-3", Category: "hat", Sequence: "s2"},
	}
	for i := range want {
		if got.Items[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", got.Items[i], want[i])
		}
	}
	if got.Root != filepath.Dir(file) || fmt.Sprint(got.Classes) != "[-3 9 10]" {
		t.Errorf("root %s, classes %v", got.Root, got.Classes)
	}
	if _, err := (annotated.TableOptions{Table: "df.csv", Root: filepath.Dir(file)}).Annotation(); err == nil || !strings.Contains(err.Error(), "items 2 and 3 are the same image: b/1.jpg") {
		t.Errorf("below a root, without boxes: %v", err)
	}
}

// A box is what is read of an image.
func TestBoxesAreCropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 2}, {ID: 2, Query: 2}}, Images: true}
	tree.CUB()
	rows := "label,path,split,is_query,is_gallery,x_1,y_1,x_2,y_2\n"
	for i, box := range []string{"0,0,8,8", "30,20,38,28"} {
		rows += fmt.Sprintf("1,images/001.Bird_1/Bird_1_000%d.jpg,train,,,%s\n2,images/002.Bird_2/Bird_2_000%d.jpg,validation,1,1,%s\n", i+1, box, i+1, box)
	}
	file := filepath.Join(dir, "df.csv")
	if err := os.WriteFile(file, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	train, test, err := data.Open(t.Context(), data.Options{Source: annotated.TableOptions{Table: file, Boxes: true}})
	if err != nil {
		t.Fatal(err)
	}
	if h, w, c := train.Shape(); h != 8 || w != 8 || c != 3 || test.Len() != 2 {
		t.Errorf("%dx%dx%d, %d test images", h, w, c, test.Len())
	}
	if _, _, err := data.Open(t.Context(), data.Options{Source: annotated.TableOptions{Table: file}}); err == nil {
		t.Error("images of two sizes are one without boxes and size")
	}
	outside := strings.Replace(rows, "30,20,38,28", "300,20,308,28", 1)
	if err := os.WriteFile(file, []byte(outside), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := data.Open(t.Context(), data.Options{Source: annotated.TableOptions{Table: file, Boxes: true}}); !errors.Is(err, fault.ErrFormat) || !strings.Contains(err.Error(), "lies outside") {
		t.Errorf("a box beside the image: %v", err)
	}
}

func TestBadTables(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ old, new, want string }{
		{"label,path", "lable,path", "has no column label"},
		{"category", "label", "two columns label"},
		{"x_1,", "q,", "not all"},
		{"10,a", "ten,a", "line 2: label: \"ten\" is not a whole number"},
		{"train,False", "train,True", "line 3: a row of split train"},
		{",validation,1,true", ",val,1,true", "line 7: split is \"val\""},
		{"validation,1,true", "validation,0,0", "line 7: a row of split validation must be"},
		{"2.0,20.0", "2.5,20.0", "x_1: \"2.5\""},
		{"2.0,20.0", ",20.0", "give all or none"},
		{"2.0,20.0", "20,20.0", "is empty or begins outside"},
		{",true,", ",maybe,", "neither True nor False"},
		{"\"one, two\"", "\"one", "df.csv"},
		{"hat,s2,\n", "hat\n", "line 7"},
		{"a/1.jpg", "../1.jpg", "leaves the folder"},
		{"a/1.jpg", "", "no path"},
		{"10,a/1.jpg", "-3,a/1.jpg", "share 1 of 2 classes, the first is -3"},
		{"-3,c/2.jpg,validation,0,1.0,,,,,hat,,\n-3,c/3.jpg,validation,1,true", "-4,c/2.jpg,validation,0,1.0,,,,,hat,,\n-4,c/3.jpg,validation,0,true", "1 of 1 queries have no image of their class in the gallery"},
		{omlTable, "", "no header"},
	} {
		text := strings.Replace(omlTable, tc.old, tc.new, 1)
		_, err := annotated.TableOptions{Table: writeTable(t, text), Boxes: true}.Annotation()
		if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, fault.ErrFormat) && !errors.Is(err, fault.ErrUnfit) {
			t.Errorf("%s for %s:\ngot  %v\nwant %s", tc.new, tc.old, err, tc.want)
		}
	}
	if _, err := (annotated.TableOptions{Table: "none.csv"}).Annotation(); !errors.Is(err, fault.ErrMissing) {
		t.Errorf("no file: %v", err)
	}
}

// The tables that open-metric-learning's converters write of CUB and Cars split images,
// not classes: they are known by their counts, and read only if that is asked for.
func TestClosedSetTables(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                 string
		train, test, classes int
	}{{"CUB-200-2011", 5994, 5794, 200}, {"Cars-196", 8144, 8041, 196}} {
		var b strings.Builder
		b.WriteString("label,path,split,is_query,is_gallery\n")
		for i := range tc.train {
			fmt.Fprintf(&b, "%d,a/%d.jpg,train,,\n", i%tc.classes, i)
		}
		for i := range tc.test {
			fmt.Fprintf(&b, "%d,b/%d.jpg,validation,True,True\n", i%tc.classes, i)
		}
		file := writeTable(t, b.String())
		want := fmt.Sprintf("training and test share %d of %d classes, the first is 0: this is the closed-set split of %s", tc.classes, tc.classes, tc.name)
		if _, err := (annotated.TableOptions{Table: file}).Annotation(); !errors.Is(err, fault.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		got, err := annotated.TableOptions{Table: file, Overlap: true}.Annotation()
		if err != nil || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], want) {
			t.Errorf("%v: %+v", err, got)
		}
	}
}

// Any table is read or refused, and what is read is sound.
func FuzzTable(f *testing.F) {
	f.Add([]byte(omlTable))
	f.Add([]byte("label,path,split,is_query,is_gallery\n1,a,train,,\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := annotated.TableOptions{Table: writeTable(t, string(b)), Boxes: true, Overlap: true}.Annotation()
		sound(t, got, err)
	})
}

// sound checks what a reader returned.
func sound(t *testing.T, got *table.Table, err error) {
	t.Helper()
	switch {
	case err == nil:
		if e := got.Check(); e != nil {
			t.Errorf("an unsound table: %v", e)
		}
	case !errors.Is(err, fault.ErrMissing) && !errors.Is(err, fault.ErrFormat) && !errors.Is(err, fault.ErrUnfit):
		t.Errorf("%v is no error about files", err)
	}
}
