package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/config"
	"tercet/internal/record/printed"
)

func TestListKnowsWhatConfigsKnow(t *testing.T) {
	var doc printed.Datasets
	clitest.RunJSON(t, "data list --json", &doc)
	var names []string
	for _, d := range doc.Datasets {
		names = append(names, d.Name)
		if d.About == "" || d.Needs == "" || len(d.Keys) == 0 {
			t.Errorf("%+v", d)
		}
		for _, k := range d.Keys {
			if !strings.HasPrefix(k, "data.") {
				t.Errorf("%s has key %s", d.Name, k)
			}
		}
	}
	for _, k := range config.Keys() {
		if k.Key != "data.name" {
			continue
		}
		valid := strings.Split(k.Valid, "|")
		slices.Sort(valid)
		if doc.Schema != "tercet.datasets/1" || !slices.Equal(names, valid) {
			t.Errorf("%s: listed are %v, valid %v", doc.Schema, names, valid)
		}
	}
	_, out, _ := clitest.Run("data", "list")
	for _, n := range names {
		if !strings.Contains("\n"+out, "\n"+n+" ") {
			t.Errorf("no %s in\n%s", n, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if len(line) > 100 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

func TestInspect(t *testing.T) {
	var doc printed.Inspected
	clitest.RunJSON(t, "data inspect --json"+clitest.FewGlyphs, &doc)
	if doc.Schema != "tercet.inspection/1" || doc.Name != "glyphs" || doc.Train.Items != 24 || doc.Test.Items != 12 || doc.Sampler.Coverage.Items != 24 {
		t.Errorf("%+v", doc)
	}
	code, out, _ := clitest.Run(strings.Fields("data inspect" + clitest.FewGlyphs)...)
	for _, want := range []string{"run: glyphs\n", "│ images ", "│ 24 ", "│ 12 ", " 4, 4, 4 ", "overlap: 0 items of test also in train; 0 classes in both\n",
		"sampler: class-pairs, epoch 0: ", fmt.Sprintf(" %.10s", strings.TrimPrefix(doc.Train.Fingerprint, "sha256:"))} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, out, _ = clitest.Run(strings.Fields("data inspect --format csv" + clitest.FewGlyphs)...); !strings.HasPrefix(out, "what,train,test\nimages,24,12\n") {
		t.Errorf("csv:\n%s", out)
	}
}

func TestOfASweepIsThatOfItsFirstRun(t *testing.T) {
	line := "data inspect --json --set data.glyphs.classes=6 --set data.glyphs.test_classes=3 --set batch.pairs=4 --set sweep.seed=[0,1] --set sweep.data.glyphs.per_class="
	var doc printed.Inspected
	clitest.RunJSON(t, line+"[5,4]", &doc)
	if doc.Train.Items != 30 {
		t.Errorf("%d items, want those of the first run", doc.Train.Items)
	}
	_, _, stderr := clitest.Run(strings.Fields(line + "[5,4]")...)
	if want := "note: the sweep changes data.glyphs.per_class; shown is data.glyphs.per_class=5, --set sweep.data.glyphs.per_class=[VALUE] shows another\n"; stderr != want {
		t.Errorf("got  %swant %s", stderr, want)
	}
	if _, _, stderr = clitest.Run(strings.Fields(line + "[4]")...); stderr != "" {
		t.Errorf("one value, yet %q", stderr)
	}
}

func TestInspectOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "y.csv", "a\nb\nb\n")
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	npy := "\x93NUMPY\x01\x00v\x00" + header + "\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\xbf" // 1, 1, -1
	clitest.WriteFile(t, "x.npy", npy)
	clitest.WriteFile(t, "short.npy", npy[:len(npy)-1])
	var doc printed.Inspected
	clitest.RunJSON(t, "data inspect --embeddings x.npy --labels y.csv --json", &doc)
	if v := doc.Vectors; v == nil || v.Items != 3 || v.Classes != 2 || v.Duplicates != 1 || v.Conflicts != 1 || v.Lengths.Min != 1 || v.Lengths.Max != 1 || doc.Embeddings != "x.npy" {
		t.Errorf("%+v", doc)
	}
	code, out, stderr := clitest.Run("data", "inspect", "--embeddings", "x.npy", "--labels", "y.csv")
	if code != 0 || !strings.Contains(out, "│ length: min, mean, max ") || !strings.Contains(out, "│ dimension ") || !strings.Contains(stderr, "warning: vectors: items that occur earlier under another label: 1\n") {
		t.Errorf("%d\n%s\n%s", code, out, stderr)
	}
	for line, want := range map[string]int{
		"--embeddings x.npy":                             2,
		"--embeddings x.npy --labels y.csv --config c":   2,
		"--embeddings x.npy --labels y.csv --set seed=1": 2,
		"--embeddings x.npy --labels none.csv":           3,
		"--embeddings short.npy --labels y.csv":          3,
	} {
		if code, out, stderr := clitest.Run(append([]string{"data", "inspect"}, strings.Fields(line)...)...); code != want || out != "" || stderr == "" {
			t.Errorf("%s: %d, want %d: %s%s", line, code, want, out, stderr)
		}
	}
}

func TestInspectPrintsWhatTheSamplerRefuses(t *testing.T) {
	code, out, stderr := clitest.Run(strings.Fields("data inspect --json" + clitest.FewGlyphs + " --set batch.pairs=1000")...)
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 3 || doc["train"] == nil || doc["sampler"] != nil || !strings.Contains(stderr, "1000 pairs") {
		t.Errorf("%d %v\n%s\n%s", code, err, out, stderr)
	}
}

func TestPreview(t *testing.T) {
	t.Chdir(t.TempDir())
	var doc printed.Preview
	clitest.RunJSON(t, "data preview --json --out a.png --classes 2 --per-class 3 --split test"+clitest.FewGlyphs, &doc)
	if doc.Schema != "tercet.preview/1" || doc.Path != "a.png" || len(doc.Rows) != 2 || len(doc.Rows[1].Shown) != 3 || doc.Set != "test" {
		t.Errorf("%+v", doc)
	}
	f, err := os.Open("a.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if m, err := png.Decode(f); err != nil || m.Bounds().Dy() != 60+2*(64+8+20)-8+20 {
		t.Errorf("%v %v", m.Bounds(), err)
	}
	if code, out, stderr := clitest.Run(strings.Fields("data preview" + clitest.FewGlyphs)...); code != 0 || out != "preview.png\n" {
		t.Errorf("%d %q %q", code, out, stderr)
	}
}

func TestPreviewKeepsImages(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.ClassFolders(t, "photos", 4, 4)
	before := clitest.Snapshot(t, ".")
	for _, class := range []string{"0", "3"} { // of training, and of test
		image := "photos/class-" + class + "/0.png"
		clitest.Refuse(t, 2, "data preview --set data.name=folder --set data.root=photos --set data.size=8 --set data.split.kind=class --out "+image, image+" is an image of the data")
	}
	clitest.Unchanged(t, ".", before, nil)
}

func TestMistakesOfData(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "keep.yaml", "name: x\n")
	clitest.WriteFile(t, "keep.png", "old")
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"data", 2, "data needs one of: inspect, list, pack, preview"},
		{"data lst", 2, "did you mean list?"},
		{"data list extra", 2, "usage: tercet data list"},
		{"data inspect --format tex", 2, `unknown table format "tex"`},
		{"data inspect --config none.yaml", 2, "none.yaml: no such config file"},
		{"data inspect --set data=mnist", 2, `data.root: must be set for data "mnist"`},
		{"data inspect --set data=mnist --set data.root=empty", 3, "empty lacks train-images-idx3-ubyte"},
		{"data inspect --set data=folder --set data.root=none", 3, "none"},
		{"data inspect --set data.glyphs.classes=100000", 2, "data: glyphs: 100000 training"},
		{"data preview --out keep.yaml", 2, "give a name that ends in .png"},
		{"data preview --classes 0", 2, "--classes is 0, --per-class 8; both must be 1 or more"},
		{"data preview --classes 1000000000 --per-class 1000000000", 2, "too much for one sheet"},
		{"data preview --split all", 2, "give train, validation or test"},
		{"data preview --split test --augment", 2, "only training images are augmented"},
		{"data preview --out keep.png --augment" + clitest.FewGlyphs, 2, "data.augment: is off; set data.augment.flip"},
		{"data preview --out keep.png --split validation" + clitest.FewGlyphs, 3, "no validation set"},
		{"data preview --out keep.png --set data=cifar10 --set data.root=empty", 3, "empty"},
		{"data preview --out none/x.png" + clitest.FewGlyphs, 1, "none/x.png"},
	} {
		code, out, stderr := clitest.Run(strings.Fields(tc.line)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || out != "" {
			t.Errorf("tercet %s\ngot  %d %s%s\nwant %d %s", tc.line, code, out, stderr, tc.code, tc.want)
		}
	}
	for name, want := range map[string]string{"keep.yaml": "name: x\n", "keep.png": "old"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
}

// The numbers are those that everybody normalizes MNIST with, and its documented
// class counts.
func TestInspectOfMNIST(t *testing.T) {
	root, err := filepath.Abs("../../../../shared/data/mnist")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("needs ../shared/data/mnist")
	}
	var doc printed.Inspected
	clitest.RunJSON(t, "data inspect --json --set data=mnist --set data.root="+root, &doc)
	tr, te := doc.Train, doc.Test
	if tr.Items != 60000 || te.Items != 10000 || tr.PerClassMin != 5421 || tr.PerClassMax != 6742 || te.PerClassMin != 892 || te.PerClassMax != 1135 {
		t.Errorf("%+v %+v", tr, te)
	}
	if fmt.Sprintf("%.4f %.4f", tr.Mean, tr.Std) != "0.1307 0.3081" || doc.Overlaps[0].Classes != 10 {
		t.Errorf("mean %v, deviation %v, %+v", tr.Mean, tr.Std, doc.Overlaps)
	}
}

// Packed images of a config train and evaluate like the originals, and mistakes are named.
func TestPack(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a/1.png", "a/2.png", "b/1.png", "b/2.png"} {
		img := image.NewGray(image.Rect(0, 0, 9, 12))
		copy(img.Pix, "some pixels of "+name)
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join("tree", filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, filepath.Join("tree", name), b.String())
	}
	clitest.WriteFile(t, "t.yaml", "data: {name: folder, root: tree, split: {kind: fraction}, transform: {test: [CenterCrop(6)]}}\n")
	var doc printed.PackedImages
	clitest.RunJSON(t, "data pack t.yaml --json --out p.tshard --size 8 --fit squash", &doc)
	if doc.Schema != "tercet.pack/1" || doc.Images != 4 || doc.Pixels != "packed squash 8" || doc.Bytes < 4*3*64 || len(doc.SHA256) != 64 {
		t.Errorf("%+v", doc)
	}
	clitest.WriteFile(t, "a.yaml", "data: {name: folder, root: tree, split: {kind: fraction}, transform: {train: [RandomResizedCrop(6)], test: [CenterCrop(6)]}}\n")
	if code, _, stderr := clitest.Run(strings.Fields("data preview a.yaml --augment --out a.png")...); code != 0 {
		t.Errorf("exit %d, %s", code, stderr)
	}
	for line, want := range map[string]string{
		"data preview t.yaml --augment":                          "data.transform.train",
		"data pack t.yaml --out p.tshard":                        "--force replaces it",
		"data pack t.yaml":                                       "--out FILE",
		"data pack t.yaml --out q --size 0":                      "--size is 0",
		"data pack t.yaml --out q --fit long":                    `--fit is "long"`,
		"data pack t.yaml --out q --interpolation x":             `--interpolation is "x"`,
		"data pack --out q --set data.glyphs.classes=20":         "nothing to pack",
		"data inspect t.yaml --set data.transform.packed=t.yaml": "no sound packed file",
	} {
		if code, _, stderr := clitest.Run(strings.Fields(line)...); code != 2 && code != 3 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, want %q", line, code, stderr, want)
		}
	}
	clitest.WriteFile(t, "tree/b/3.png", "no image")
	clitest.Refuse(t, base.ExitData, "data pack t.yaml --out q", "tree/b/3.png: unreadable image")
	clitest.RunJSON(t, "data pack t.yaml --json --out q.tshard --size 8 --fit squash --skip-broken", &doc)
	if doc.Images != 4 || len(doc.Broken) != 1 || !strings.HasSuffix(doc.Broken[0].Path, "b/3.png") {
		t.Errorf("with a broken image: %+v", doc)
	}
	clitest.Refuse(t, base.ExitData, "data preview t.yaml --out b.png", "tree/b/3.png: unreadable image")
	clitest.Must(t, 0, "data preview t.yaml --out b.png --skip-broken")
	if code, out, stderr := clitest.Run("data", "inspect", "t.yaml", "--skip-broken"); !strings.Contains(stderr, "1 of the images cannot be read and were left out: tree/b/3.png") {
		t.Errorf("%d %s %s", code, out, stderr)
	}
}
