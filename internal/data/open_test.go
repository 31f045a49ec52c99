package data

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/testutil"
)

func TestOpen(t *testing.T) {
	mnist := mnistDir(t)
	train, test, err := Open(Options{Source: MNISTOptions{mnist}, Size: 4, Color: "rgb", LimitPerClass: 1})
	if err != nil {
		t.Fatal(err)
	}
	if h, w, c := train.Shape(); h != 4 || w != 4 || c != 3 || train.Len() != 2 || test.Len() != 2 {
		t.Errorf("mnist: %d %d %d, %d and %d items", h, w, c, train.Len(), test.Len())
	}
	_, test, err = Open(Options{Source: MNISTOptions{mnist}, TestLimitPerClass: 1, Split: Split{Kind: "class", First: true}})
	if err != nil || !slices.Equal(test.Classes(), []string{"9"}) || test.Len() != 1 {
		t.Errorf("mnist by class: %v", err)
	}

	idx := IDXOptions{Root: mnist, Train: ImageFiles{"train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz"}}
	train, test, err = Open(Options{Source: idx})
	if err != nil || train.Len() != 4 || test != nil || len(train.Classes()) != 2 {
		t.Errorf("idx: %v", err)
	}
	idx.Test = ImageFiles{filepath.Join(mnist, "t10k-images.idx3-ubyte"), "t10k-labels-idx1-ubyte"}
	train, test, err = Open(Options{Source: idx})
	if err != nil || len(train.Classes()) != 3 || len(test.Classes()) != 3 {
		t.Errorf("idx with test files: %v", err)
	}

	px := encodePNG(t, flat(2, 2, 9))
	root := tree(t, map[string][]byte{"a/1.png": px, "a/2.png": px, "b/1.png": px, "b/2.png": px})
	train, test, err = Open(Options{Source: FolderOptions{root, "train", "test"}, Split: Split{Kind: "fraction", Train: 0.5}})
	if err != nil || train.Len() != 2 || test.Len() != 2 {
		t.Errorf("folder: %v", err)
	}
	train, test, err = Open(Options{Source: FolderOptions{Root: root}})
	if err != nil || train.Len() != 4 || test != nil {
		t.Errorf("folder without split: %v", err)
	}

	train, test, err = Open(Options{Source: NPYOptions{"npy/testdata", VectorFiles{"c_f4.npy", "y_i8.npy"}, VectorFiles{"f_f8.npy", "y_u2.npy"}}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Classes(), []string{"-1", "1", "3", "7"}) || !slices.Equal(test.Labels(), []int32{2, 1, 2, 3, 1}) {
		t.Errorf("npy: %v %v", train.Classes(), test.Labels())
	}
}

func TestOpenErrors(t *testing.T) {
	px := encodePNG(t, flat(2, 2, 9))
	plain := tree(t, map[string][]byte{"a/1.png": px, "b/1.png": px})
	var twoNumbers bytes.Buffer
	if err := npy.Write(&twoNumbers, array.New(1, 2)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		kind error
		say  []string
	}{
		"no source":        {Options{}, nil, []string{"no source of data"}},
		"no root":          {Options{Source: MNISTOptions{}}, nil, []string{"data.root"}},
		"no root, folder":  {Options{Source: FolderOptions{}}, nil, []string{"data.root"}},
		"missing":          {Options{Source: CIFAR10Options{filepath.Join(plain, "x")}}, ErrMissing, []string{"x", "data.root"}},
		"no test folder":   {Options{Source: FolderOptions{plain, "train", "test"}, Split: Split{Kind: "file"}}, ErrMissing, []string{"train"}},
		"no test set":      {Options{Source: FolderOptions{Root: plain}, Split: Split{Kind: "file"}}, ErrUnfit, []string{"data folder", "no test set"}},
		"no labels":        {Options{Source: IDXOptions{Root: plain, Train: ImageFiles{Images: "x"}}}, nil, []string{"file of labels", `"x"`}},
		"no labels file":   {Options{Source: NPYOptions{Root: "npy/testdata", Train: VectorFiles{"c_f4.npy", "gone.csv"}}}, ErrMissing, []string{"gone.csv"}},
		"one test file":    {Options{Source: NPYOptions{Train: VectorFiles{"x", "y"}, Test: VectorFiles{Labels: "z"}}}, nil, []string{"both test files"}},
		"size of vectors":  {Options{Source: NPYOptions{Root: "npy/testdata", Train: VectorFiles{"c_f4.npy", "y_i8.npy"}}, Size: 8}, nil, []string{"do not apply"}},
		"bad option":       {Options{Source: MNISTOptions{plain}, Color: "blue"}, nil, []string{`"blue"`}},
		"labels disagree":  {Options{Source: NPYOptions{Train: VectorFiles{"npy/testdata/c_f4.npy", testutil.File(t, "y.csv", []byte("1\n2\n"))}}}, ErrFormat, []string{"5 rows", "2 labels"}},
		"shapes of vector": {Options{Source: NPYOptions{Train: VectorFiles{"npy/testdata/c_f4.npy", "npy/testdata/y_i8.npy"}, Test: VectorFiles{testutil.File(t, "x.npy", twoNumbers.Bytes()), testutil.File(t, "y.csv", []byte("1\n"))}}}, ErrFormat, []string{"1x1x3", "1x1x2"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Open(c.o)
			testutil.WantError(t, err, c.kind, c.say...)
		})
	}
	if os.Getuid() != 0 { // root reads everything
		dir := mnistDir(t)
		if err := os.Chmod(filepath.Join(dir, "train-images-idx3-ubyte"), 0); err != nil {
			t.Fatal(err)
		}
		_, _, err := Open(Options{Source: MNISTOptions{dir}})
		testutil.WantError(t, err, ErrMissing, "cannot read", "permission denied")
	}
}

// Every source says what it is; two do not share a type of options, by which they are
// named.
func TestSources(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Sources() {
		if d := s.Defaults.Traits(); d.About == "" || d.Needs == "" || s.Doc == "" {
			t.Errorf("source %s: %+v", s.Name, d)
		}
		names[nameOf(s.Defaults)] = true
	}
	if len(names) != len(Sources()) {
		t.Errorf("%d sources have the names %v", len(Sources()), names)
	}
}

func TestSummary(t *testing.T) {
	px := []uint8{
		0, 51, 102, 255, // item 0, 1x2 of 2 channels
		255, 255, 255, 255, // constant
		0, 51, 102, 255, // 0 again, under another label
		0, 51, 102, 255, // and once more under its own
		10, 10, 10, 11,
	}
	m, err := NewMemory(px, 1, 2, 2, []int32{0, 0, 2, 0, 3}, []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summary(m)
	if err != nil {
		t.Fatal(err)
	}
	if s.Items != 5 || s.Height != 1 || s.Width != 2 || s.Channels != 2 || s.Classes != 3 || s.EmptyClasses != 1 || s.Singles != 2 ||
		s.PerClassMin != 1 || s.PerClassMed != 1 || s.PerClassMax != 3 || s.Duplicates != 2 || s.Conflicts != 1 || s.Constant != 1 ||
		s.Min != 0 || s.Max != 1 || s.Fingerprint != m.Fingerprint() {
		t.Errorf("%+v", s)
	}
	mean, std := moment(px, func(int) bool { return true })
	m0, s0 := moment(px, func(i int) bool { return i%2 == 0 })
	m1, s1 := moment(px, func(i int) bool { return i%2 == 1 })
	for _, c := range [][2]float64{{s.Mean, mean}, {s.Std, std}, {s.ChannelMean[0], m0}, {s.ChannelStd[0], s0}, {s.ChannelMean[1], m1}, {s.ChannelStd[1], s1}} {
		if d := c[0] - c[1]; d > 1e-7 || d < -1e-7 {
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
	if s.PerClassMin != 1 || s.PerClassMed != 1 || s.PerClassMax != 3 || s.Singles != 2 || s.EmptyClasses != 1 || s.Duplicates != 2 || s.Conflicts != 1 {
		t.Errorf("%+v", s)
	}
	_, err = Summary(broken{toy(t, 1, 1, 1, 3), 2})
	testutil.WantError(t, err, errDisk, "x/2.png")
	if s, err := Summary(toy(t, 1, 1, 1)); err != nil || s.Items != 0 || s.Mean != 0 {
		t.Errorf("empty: %+v %v", s, err)
	}
	if n, err := Overlap(m, m); n != 5 || err != nil {
		t.Errorf("overlap with itself %d %v", n, err)
	}
	part, err := Subset(m, []int{1, 4})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Overlap(part, m); n != 2 || err != nil {
		t.Errorf("overlap %d %v", n, err)
	}
}

// moment returns mean and deviation of the chosen bytes over 255, in two passes.
func moment(px []uint8, use func(i int) bool) (mean, std float64) {
	n := 0.0
	for i, p := range px {
		if use(i) {
			mean += float64(p) / 255
			n++
		}
	}
	mean /= n
	for i, p := range px {
		if use(i) {
			std += (float64(p)/255 - mean) * (float64(p)/255 - mean)
		}
	}
	return mean, math.Sqrt(std / n)
}

// The published mean and deviation of MNIST's training pixels.
func TestRealMNISTSummary(t *testing.T) {
	train, test, err := Open(Options{Source: MNISTOptions{realData(t, "mnist")}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summary(train)
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Mean - 0.1307; d > 5e-5 || d < -5e-5 {
		t.Errorf("mean %.5f", s.Mean)
	}
	if d := s.Std - 0.3081; d > 5e-5 || d < -5e-5 {
		t.Errorf("deviation %.5f", s.Std)
	}
	if n, err := Overlap(train, test); err != nil || n != 0 {
		t.Errorf("%d test images are training images (%v)", n, err)
	}
}

// Few items in a pass give the numbers of one pass.
func TestDuplicatesInPasses(t *testing.T) {
	const n = 500
	x, labels := array.New(n, 1), make([]int32, n)
	for i := range n {
		x.Data[i], labels[i] = float32(i*i%97), int32(i%3)
	}
	ds, err := NewVectors(x, labels, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	kinds, conflicts := map[float32]int32{}, 0
	for i, v := range x.Data {
		if first, ok := kinds[v]; !ok {
			kinds[v] = labels[i]
		} else if first != labels[i] {
			conflicts++
		}
	}
	part, err := Subset(ds, []int{1, 5, 7, 499})
	if err != nil {
		t.Fatal(err)
	}
	defer func(few int) { fewLooks = few }(fewLooks)
	for _, few := range []int{fewLooks, n, n / 2, 40, 1} {
		fewLooks = few
		s, err := Summary(ds)
		if err != nil {
			t.Fatal(err)
		}
		if s.Duplicates != n-len(kinds) || s.Conflicts != conflicts {
			t.Errorf("%d in a pass: %d duplicates, %d conflicts; want %d and %d", few, s.Duplicates, s.Conflicts, n-len(kinds), conflicts)
		}
		if k, err := Overlap(part, ds); err != nil || k < 4 || k >= n {
			t.Errorf("%d in a pass: %d shared (%v)", few, k, err)
		}
	}
}
