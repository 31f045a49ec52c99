package sources

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/testutil"
)

func TestOpen(t *testing.T) {
	mnist := mnistDir(t)
	train, test, err := data.Open(t.Context(), data.Options{Source: MNISTOptions{mnist}, Size: 4, Color: "rgb", LimitPerClass: 1})
	if err != nil {
		t.Fatal(err)
	}
	if h, w, c := train.Shape(); h != 4 || w != 4 || c != 3 || train.Len() != 2 || test.Len() != 2 {
		t.Errorf("mnist: %d %d %d, %d and %d items", h, w, c, train.Len(), test.Len())
	}
	_, test, err = data.Open(t.Context(), data.Options{Source: MNISTOptions{mnist}, TestLimitPerClass: 1, Split: data.Split{Kind: "class", First: true}})
	if err != nil || !slices.Equal(test.Classes(), []string{"9"}) || test.Len() != 1 {
		t.Errorf("mnist by class: %v", err)
	}

	idx := IDXOptions{Root: mnist, Train: ImageFiles{"train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz"}}
	train, test, err = data.Open(t.Context(), data.Options{Source: idx})
	if err != nil || train.Len() != 4 || test != nil || len(train.Classes()) != 2 {
		t.Errorf("idx: %v", err)
	}
	idx.Test = ImageFiles{filepath.Join(mnist, "t10k-images.idx3-ubyte"), "t10k-labels-idx1-ubyte"}
	train, test, err = data.Open(t.Context(), data.Options{Source: idx})
	if err != nil || len(train.Classes()) != 3 || len(test.Classes()) != 3 {
		t.Errorf("idx with test files: %v", err)
	}

	px := blackPNG(t)
	root := testutil.Tree(t, map[string][]byte{"a/1.png": px, "a/2.png": px, "b/1.png": px, "b/2.png": px})
	train, test, err = data.Open(t.Context(), data.Options{Source: data.FolderOptions{Root: root, Train: "train", Test: "test"}, Split: data.Split{Kind: "fraction", Train: 0.5}})
	if err != nil || train.Len() != 2 || test.Len() != 2 {
		t.Errorf("folder: %v", err)
	}
	train, test, err = data.Open(t.Context(), data.Options{Source: data.FolderOptions{Root: root}})
	if err != nil || train.Len() != 4 || test != nil {
		t.Errorf("folder without split: %v", err)
	}

	train, test, err = data.Open(t.Context(), data.Options{Source: NPYOptions{"../npy/testdata", VectorFiles{"c_f4.npy", "y_i8.npy"}, VectorFiles{"f_f8.npy", "y_u2.npy"}}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Classes(), []string{"-1", "1", "3", "7"}) || !slices.Equal(test.Labels(), []int32{2, 1, 2, 3, 1}) {
		t.Errorf("npy: %v %v", train.Classes(), test.Labels())
	}
}

func TestOpenErrors(t *testing.T) {
	px := blackPNG(t)
	plain := testutil.Tree(t, map[string][]byte{"a/1.png": px, "b/1.png": px})
	var twoNumbers bytes.Buffer
	if err := npy.Write(&twoNumbers, array.New(1, 2)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    data.Options
		kind error
		say  []string
	}{
		"no source":        {data.Options{}, nil, []string{"no source of data"}},
		"no root":          {data.Options{Source: MNISTOptions{}}, nil, []string{"data.root"}},
		"no root, folder":  {data.Options{Source: data.FolderOptions{}}, nil, []string{"data.root"}},
		"missing":          {data.Options{Source: CIFAR10Options{filepath.Join(plain, "x")}}, data.ErrMissing, []string{"x", "data.root"}},
		"no test folder":   {data.Options{Source: data.FolderOptions{Root: plain, Train: "train", Test: "test"}, Split: data.Split{Kind: "file"}}, data.ErrMissing, []string{"train"}},
		"no test set":      {data.Options{Source: data.FolderOptions{Root: plain}, Split: data.Split{Kind: "file"}}, data.ErrUnfit, []string{"data folder", "no test set"}},
		"no labels":        {data.Options{Source: IDXOptions{Root: plain, Train: ImageFiles{Images: "x"}}}, nil, []string{"file of labels", `"x"`}},
		"no labels file":   {data.Options{Source: NPYOptions{Root: "../npy/testdata", Train: VectorFiles{"c_f4.npy", "gone.csv"}}}, data.ErrMissing, []string{"gone.csv"}},
		"one test file":    {data.Options{Source: NPYOptions{Train: VectorFiles{"x", "y"}, Test: VectorFiles{Labels: "z"}}}, nil, []string{"both test files"}},
		"size of vectors":  {data.Options{Source: NPYOptions{Root: "../npy/testdata", Train: VectorFiles{"c_f4.npy", "y_i8.npy"}}, Size: 8}, nil, []string{"do not apply"}},
		"bad option":       {data.Options{Source: MNISTOptions{plain}, Color: "blue"}, nil, []string{`"blue"`}},
		"labels disagree":  {data.Options{Source: NPYOptions{Train: VectorFiles{"../npy/testdata/c_f4.npy", testutil.File(t, "y.csv", []byte("1\n2\n"))}}}, data.ErrFormat, []string{"5 rows", "2 labels"}},
		"shapes of vector": {data.Options{Source: NPYOptions{Train: VectorFiles{"../npy/testdata/c_f4.npy", "../npy/testdata/y_i8.npy"}, Test: VectorFiles{testutil.File(t, "x.npy", twoNumbers.Bytes()), testutil.File(t, "y.csv", []byte("1\n"))}}}, data.ErrFormat, []string{"1x1x3", "1x1x2"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := data.Open(t.Context(), c.o)
			testutil.WantError(t, err, c.kind, c.say...)
		})
	}
	if os.Getuid() != 0 { // root reads everything
		dir := mnistDir(t)
		if err := os.Chmod(filepath.Join(dir, "train-images-idx3-ubyte"), 0); err != nil {
			t.Fatal(err)
		}
		_, _, err := data.Open(t.Context(), data.Options{Source: MNISTOptions{dir}})
		testutil.WantError(t, err, data.ErrMissing, "cannot read", "permission denied")
	}
}

// Every source says what it is; two do not share a type of options, by which they are
// named.
func TestSources(t *testing.T) {
	types := map[reflect.Type]bool{}
	for _, s := range data.Sources() {
		if d := s.Defaults.Traits(); d.About == "" || d.Needs == "" || s.Doc == "" {
			t.Errorf("source %s: %+v", s.Name, d)
		}
		types[reflect.TypeOf(s.Defaults)] = true
	}
	if len(types) != len(data.Sources()) {
		t.Errorf("%d sources have the types %v", len(data.Sources()), types)
	}
}

// The published mean and deviation of MNIST's training pixels.
func TestRealMNISTSummary(t *testing.T) {
	train, test, err := data.Open(t.Context(), data.Options{Source: MNISTOptions{testutil.RealData(t, "mnist")}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := data.Summary(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Mean - 0.1307; d > 5e-5 || d < -5e-5 {
		t.Errorf("mean %.5f", s.Mean)
	}
	if d := s.Std - 0.3081; d > 5e-5 || d < -5e-5 {
		t.Errorf("deviation %.5f", s.Std)
	}
	if n, err := data.Overlap(t.Context(), train, test); err != nil || n != 0 {
		t.Errorf("%d test images are training images (%v)", n, err)
	}
}

func blackPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
