package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/data/datatest"
	"tercet/internal/data/table"
	"tercet/internal/record/printed"
)

func TestInspectOfAnAnnotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Classes: []datatest.Class{{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 2, Gallery: 1}}, Images: true}
	tree.InShop()
	line := "data inspect --source inshop " + dir
	var doc printed.Inspected
	clitest.RunJSON(t, line+" --partial --no-images --json", &doc)
	a := doc.Annotation
	if doc.Name != "inshop" || a == nil || len(a.Roles) != 3 || a.Copies != nil || a.Shared != 0 || a.Categories != 2 {
		t.Fatalf("%+v %+v", doc, a)
	}
	for k, want := range []printed.RoleStats{
		{Role: "train", PerClassMin: 2, PerClassMed: 2.5, PerClassMax: 3}, {Role: "query", PerClassMin: 2, PerClassMed: 2, PerClassMax: 2}, {Role: "gallery", PerClassMin: 1, PerClassMed: 1, PerClassMax: 1, Singles: 1},
	} {
		n := []table.Count{{Images: 5, Classes: 2}, {Images: 2, Classes: 1}, {Images: 1, Classes: 1}}[k]
		want.Images, want.Classes = n.Images, n.Classes
		if got := a.Roles[k]; got.Role != want.Role || got.Images != want.Images || got.Classes != want.Classes || got.PerClassMin != want.PerClassMin || got.PerClassMed != want.PerClassMed || got.PerClassMax != want.PerClassMax || got.Singles != want.Singles {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	clitest.RunJSON(t, line+" --partial --json", &doc)
	if r := doc.Annotation.Roles[0]; r.Modes["RGB"] != 5 || r.Shortest < 40 || r.Longest > 64 || r.Bytes == 0 || *doc.Annotation.Copies != 0 {
		t.Errorf("%+v", r)
	}
	code, out, _ := clitest.Run(strings.Fields(line + " --partial")...)
	if code != 0 || !strings.Contains(out, "│ images per class: min, median, max │ 2, 2.5, 3 │ 2, 2, 2 │ 1, 1, 1 │") || !strings.Contains(out, "0 classes in both training and test\n") {
		t.Errorf("%d\n%s", code, out)
	}
	cut := filepath.Join(dir, "Img/img/WOMEN/Dresses/id_00000002/01_1_front.jpg")
	if err := os.Truncate(cut, 500); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{line, 3, "In-Shop Clothes Retrieval has 25882 images of 3997 classes for train, and 5 images of 2 classes were read"},
		{line, 3, "use a part of the dataset with --partial"},
		{line + " --partial", 3, "1 of 8 images cannot be decoded: img/WOMEN/Dresses/id_00000002/01_1_front.jpg"},
		{line + " --partial --skip-broken", 0, "warning: images that cannot be decoded and are left out: 1: img/WOMEN/Dresses/id_00000002/01_1_front.jpg"},
		{line + " --partial --skip-broken --no-images", 2, "--skip-broken"},
		{"data inspect --source sop " + dir, 3, "the files there look like data inshop"},
		{"data inspect --source sup " + dir, 2, "did you mean sop?"},
		{"data inspect --source sop", 2, "takes the folder of the data"},
		{"data inspect --partial", 2, "--partial needs --source"},
		{"data inspect --no-images" + clitest.FewGlyphs, 2, "glyphs, which has no annotation"},
		{"data inspect --source table " + filepath.Join(dir, "no.csv"), 3, "no.csv"},
	} {
		if code, _, stderr := clitest.Run(strings.Fields(tc.args)...); code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: %d %s\nwant %d %s", tc.args, code, stderr, tc.code, tc.want)
		}
	}
}
