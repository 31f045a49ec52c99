package table_test

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

// sample has two classes to train on, and one whose two images are searched for each
// other.
func sample() *table.Table {
	return &table.Table{Root: "root", Classes: []string{"a", "b", "c"}, Items: []table.Item{
		{Path: "a/1.jpg", Label: 0, Role: table.Train},
		{Path: "b/1.jpg", Label: 1, Role: table.Train},
		{Path: "c/1.jpg", Label: 2, Role: table.Query},
		{Path: "c/2.jpg", Label: 2, Role: table.Gallery},
	}}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	s := sample()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for role, want := range map[table.Role]table.Count{
		table.Train: {Images: 2, Classes: 2}, table.Query: {Images: 1, Classes: 1}, table.Test: {Images: 2, Classes: 1},
	} {
		if got := s.Count(role); got != want {
			t.Errorf("%s: %+v, want %+v", role, got, want)
		}
	}
	if got := s.Pick(table.Gallery); !reflect.DeepEqual(got, []int{3}) {
		t.Errorf("gallery: %v", got)
	}
	if got := s.Overlap(); got != nil {
		t.Errorf("overlap: %v", got)
	}
	s.Items[1].Role = table.Test
	s.Items = append(s.Items, table.Item{Path: "b/2.jpg", Label: 1, Role: table.Train})
	if got := s.Overlap(); !reflect.DeepEqual(got, []int32{1}) {
		t.Errorf("overlap: %v", got)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(s *table.Table){
		"no items":                          func(s *table.Table) { s.Items = nil },
		"item 1: no path":                   func(s *table.Table) { s.Items[0].Path = "" },
		"item 2: path ../x.jpg leaves":      func(s *table.Table) { s.Items[1].Path = "../x.jpg" },
		"item 2: a/._1.jpg is not an image": func(s *table.Table) { s.Items[1].Path = "a/._1.jpg" },
		"line break":                        func(s *table.Table) { s.Items[1].Path = "a\n.jpg" },
		"label 3 of 3 classes":              func(s *table.Table) { s.Items[2].Label = 3 },
		"neither train nor":                 func(s *table.Table) { s.Items[0].Role = table.Train | table.Query },
		"items 1 and 2 are the same image":  func(s *table.Table) { s.Items[1].Path = "a/1.jpg" },
		"class b has no items":              func(s *table.Table) { s.Items[1].Label = 0 },
		"box from 5,0 to 5,9":               func(s *table.Table) { s.Items[0].Box = image.Rectangle{Min: image.Pt(5, 0), Max: image.Pt(5, 9)} },
		"1 of 1 queries have no image of their class in the gallery; the first is item 3": func(s *table.Table) { s.Items[3].Role = table.Train },
		"none of the 1 queries can find anything":                                         func(s *table.Table) { s.Items[2].Sequence, s.Items[3].Sequence = "s", "s" },
		"two classes are called a":                                                        func(s *table.Table) { s.Classes[1] = "a" },
	} {
		s := sample()
		change(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault.ErrFormat) && !errors.Is(err, fault.ErrUnfit) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// Two boxes of one image are two items.
	s := sample()
	s.Items[1].Path, s.Items[1].Box = "a/1.jpg", image.Rect(0, 0, 3, 3)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestLostQueries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(s *table.Table)
		want   int
	}{
		{func(*table.Table) {}, 0},
		{func(s *table.Table) { s.Items[2].Sequence = "s" }, 0},
		{func(s *table.Table) { s.Items[2].Sequence, s.Items[3].Sequence = "s", "s" }, 1},
		{func(s *table.Table) { s.Items[2].Role, s.Items[3].Role = table.Test, table.Test }, 0},
		{func(s *table.Table) { s.Items[2].Role, s.Items[3].Role = table.Test, table.Train }, 1},
	} {
		s := sample()
		c.change(s)
		if got := s.Lost(); got != c.want {
			t.Errorf("%+v: %d lost, want %d", s.Items, got, c.want)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	s := sample().Without(func(i int) bool { return i == 1 })
	if len(s.Items) != 3 || !reflect.DeepEqual(s.Classes, []string{"a", "c"}) || s.Items[1].Label != 1 || s.Check() != nil {
		t.Errorf("%+v", s)
	}
}

func TestStatAndFingerprint(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Root = t.TempDir()
	err := s.Stat()
	if want := fmt.Sprintf("4 of 4 images were not found in %s: a/1.jpg, b/1.jpg, c/1.jpg, c/2.jpg", s.Root); !errors.Is(err, fault.ErrMissing) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	before := s.Fingerprint()
	for i := range s.Items {
		if err := os.MkdirAll(filepath.Dir(s.File(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.File(i), make([]byte, i+1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stat(); err != nil || s.Items[3].Size != 4 {
		t.Errorf("%v, size %d", err, s.Items[3].Size)
	}
	prints := map[string]string{before: "no sizes"}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"sizes", func() {}},
		{"label", func() { s.Items[0].Label = 1 }},
		{"role", func() { s.Items[2].Role = table.Test }},
		{"path", func() { s.Items[0].Path = "a/2.jpg" }},
		{"box", func() { s.Items[0].Box = image.Rect(1, 2, 3, 4) }},
	} {
		c.change()
		p := s.Fingerprint()
		if other, ok := prints[p]; ok {
			t.Errorf("%s and %s have one fingerprint", c.name, other)
		}
		prints[p] = c.name
	}
}
