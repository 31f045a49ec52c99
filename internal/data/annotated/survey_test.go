package annotated_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/annotated"
	"tercet/internal/data/table"
)

// testdata is what Pillow wrote (modes_golden.py).
func TestSurvey(t *testing.T) {
	t.Parallel()
	want := []struct {
		name, mode  string
		orientation int
	}{
		{"rgb", "RGB", 1}, {"progressive", "RGB", 1}, {"gray", "gray", 1}, {"cmyk", "CMYK", 1}, {"palette", "palette", 1},
		{"alpha", "RGB with alpha", 1}, {"turned", "RGB", 6}, {"upright", "RGB", 1},
	}
	dir := t.TempDir()
	tab := &table.Table{Root: dir, Classes: []string{"a", "b"}}
	for _, w := range want {
		b, err := os.ReadFile("testdata/" + w.name + ".jpg")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, w.name), b, 0o644); err != nil {
			t.Fatal(err)
		}
		tab.Items = append(tab.Items, table.Item{Path: w.name, Role: table.Train})
		if w.name == "rgb" { // the same once more for training, once for test, and cut
			for name, content := range map[string][]byte{"again": b, "test": b, "cut": b[:len(b)/2], "empty": nil} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, name := range []string{"again", "test", "cut", "empty", "gone"} {
		tab.Items = append(tab.Items, table.Item{Path: name, Role: table.Train})
	}
	tab.Items[len(want)+1].Role, tab.Items[len(want)+1].Label = table.Test, 1
	last := -1
	files, err := annotated.Survey(context.Background(), tab, func(n int) { last = n })
	if err != nil || last != len(tab.Items) {
		t.Fatal(err, last)
	}
	for i, w := range want {
		if f := files[i]; f.Err != nil || f.Mode != w.mode || f.Orientation != w.orientation || f.H != 16 || f.W != 24 {
			t.Errorf("%s: %+v", w.name, f)
		}
	}
	for k, want := range []string{"", "", "unreadable image", "unreadable image", "cannot read image"} {
		if f := files[len(files)-5+k]; (f.Err == nil) != (want == "") || f.Err != nil && !strings.Contains(f.Err.Error(), want) {
			t.Errorf("file %d from the end: %v, want %s", 5-k, f.Err, want)
		}
	}
	same, elsewhere := annotated.Copies(tab, files)
	if !slices.Equal(same, []int{len(want), len(want) + 1}) || elsewhere != 1 {
		t.Errorf("copies %v, of them %d elsewhere", same, elsewhere)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := annotated.Survey(ctx, tab, func(int) {}); err == nil {
		t.Error("goes on after the end of its context")
	}
}
