package mat_test

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/datatest"
	"tercet/internal/data/mat"
)

// testdata holds what scipy wrote (mat_golden.py).
func TestFilesOfScipy(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.mat", "compressed.mat"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		vars, err := mat.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]*mat.Array{}
		for i := range vars {
			by[vars[i].Name] = &vars[i]
		}
		a := by["annotations"]
		if a.Len() != 3 || !slices.Equal(a.Fields, []string{"bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname"}) {
			t.Fatalf("%s: %+v", name, a)
		}
		for i, want := range []struct {
			right, class int
			file         string
		}{{569, 14, "00001.jpg"}, {868, 3, "b/00002.jpg"}, {601, 196, "ä.jpg"}} {
			right, ok := a.Field(i, "bbox_x2").Int()
			class, ok2 := a.Field(i, "class").Int()
			if !ok || !ok2 || right != want.right || class != want.class || a.Field(i, "fname").Text != want.file {
				t.Errorf("%s, row %d: %d %d %q", name, i, right, class, a.Field(i, "fname").Text)
			}
		}
		if a.Field(3, "class") != nil || a.Field(0, "color") != nil || a.Field(-1, "class") != nil {
			t.Error("fields that there are not")
		}
		if c := by["class_names"]; c.Len() != 2 || c.Elements[1].Text != "Ram C/V Cargo Van Minivan 2012" {
			t.Errorf("%s: %+v", name, c)
		}
		for v, want := range map[string][]float64{
			"m": {1.5, 4, -2, 5, 3, 1e300}, "i16": {-5, 300}, "u64": {7}, "f32": {0.25}, "empty": {},
		} {
			if got := by[v]; !slices.Equal(got.Numbers, want) {
				t.Errorf("%s, %s: %v, want %v", name, v, got.Numbers, want)
			}
		}
		if d := by["m"].Dims; !reflect.DeepEqual(d, []int{2, 3}) {
			t.Errorf("dimensions %v", d)
		}
		if _, ok := by["m"].Int(); ok {
			t.Error("six numbers are one")
		}
	}
}

// The devkit's files store numbers of class double in one or two bytes and texts as UTF-8.
func TestFilesAsTheDevkitHasThem(t *testing.T) {
	t.Parallel()
	vars, err := mat.Read(datatest.CarsMat([]datatest.Car{{Box: [4]int{1, 2, 300, 4}, Class: 196, Path: "a.jpg"}, {Class: 1, Path: "00000002.jpg"}}, []string{"x", "yy"}, false))
	if err != nil || len(vars) != 2 {
		t.Fatalf("%v, %+v", err, vars)
	}
	right, _ := vars[0].Field(0, "bbox_x2").Int()
	class, _ := vars[0].Field(0, "class").Int()
	if right != 300 || class != 196 || vars[0].Field(1, "fname").Text != "00000002.jpg" || vars[1].Elements[1].Text != "yy" {
		t.Errorf("%+v", vars)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile("testdata/plain.mat")
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, to string) []byte {
		b := bytes.Clone(good)
		copy(b[at:], to)
		return b
	}
	for want, b := range map[string][]byte{
		"too short":                           good[:100],
		"big-endian":                          change(124, "\x01\x00MI"),
		"version 7.3":                         change(0, "MATLAB 7.3 MAT-file"),
		"no MAT-file of version 5":            change(124, "\x00\x02"),
		"ends in the middle":                  good[:len(good)-9],
		"array flags: type 0":                 change(136, "\x00"),
		"class 17, which is not":              change(144, "\x11"),
		"complex numbers":                     change(145, "\x08"),
		"dimension 2147483647 of an array":    change(160, "\xff\xff\xff\x7f"),
		"byte 1024: compressed variable":      append(good[:128:128], append([]byte("\x0f\x00\x00\x00\x78\x03\x00\x00"), make([]byte, 0x378)...)...),
		"element 1: element: ends in the mid": change(260, "\xff\xff\xff\x00"),
	} {
		if vars, err := mat.Read(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v (%d variables), want %s", err, len(vars), want)
		}
	}
}

// Files that are cut anywhere, or have a changed byte, are read or refused.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"plain.mat", "compressed.mat"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(datatest.CarsMat([]datatest.Car{{Class: 1, Path: "a"}}, []string{"x"}, true))
	f.Fuzz(func(t *testing.T, b []byte) {
		vars, err := mat.Read(b)
		if err != nil && vars != nil {
			t.Error("variables and an error")
		}
		for i := range vars {
			if n := vars[i].Len(); n < 0 || len(vars[i].Elements) > len(b)*1100 {
				t.Errorf("%d elements of %d bytes", n, len(b))
			}
		}
	})
}

func TestEveryCut(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/plain.mat")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := mat.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if vars, err := mat.Read(b[:n]); err == nil && len(vars) >= len(whole) {
			t.Errorf("%d of %d bytes hold all variables", n, len(b))
		}
		for _, flip := range []byte{1, 0x80, 0xff} {
			c := bytes.Clone(b)
			c[n] ^= flip
			mat.Read(c) // any answer but a panic
		}
	}
}
