package data

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tercet/internal/engine/array"
)

// Options say which dataset to open and how.
type Options struct {
	Name string // see Sources
	Root string // folder that file names are relative to

	// idx: IDX files of images and labels. npy: an npy file of vectors, and npy
	// or csv labels. The test files may be absent.
	Images, Labels, TestImages, TestLabels string
	// folder, with split "" or "file": names of the two folders below Root; see
	// there for what happens without them.
	TrainFolder, TestFolder string

	// How images are brought to one shape: see ImageOptions.
	Size, Crop         int
	Fit, Filter, Color string

	Split             Split
	SkipPerClass      int    // training items of a class that are left out first, by the same Seed
	LimitPerClass     int    // training items of a class, chosen by Seed; 0: all
	TestLimitPerClass int    // test items of a class; 0: all
	Seed              uint64 // of the limits

	Params any // for registered sources, passed as it is
}

func (o Options) image() ImageOptions {
	return ImageOptions{Size: o.Size, Fit: o.Fit, Filter: o.Filter, Crop: o.Crop, Color: o.Color}
}

// path joins a file name to Root.
func (o Options) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Root, name)
}

// Opener reads a source. It leaves Split and the limits of o to Open, and
// returns a nil test (not a nil pointer in it) where the source has none.
type Opener func(o Options) (train, test Dataset, err error)

// Source is a kind of data that Open knows.
type Source struct {
	Name  string
	About string // one line for people
	Needs string // what must be there
	Open  Opener
}

var (
	mu      sync.Mutex
	sources = []Source{
		{"mnist", "MNIST and sets in its layout (Fashion-MNIST, KMNIST): grey images of 28x28", "root: a folder with the four IDX files, plain or .gz", openImages(rooted(openMNIST))},
		{"idx", "IDX files of bytes: images (N, H, W) or (N, H, W, C) and labels (N)", "the files of images and labels, plain or .gz", openImages(openIDXOptions)},
		{"cifar10", "CIFAR-10, binary version: RGB images of 32x32", "root: a folder with data_batch_*.bin and test_batch.bin", openImages(rooted(openCIFAR10))},
		{"folder", "PNG and JPEG images, one folder a class", "root: the class folders, or train and test holding them", openFolderOptions},
		{"npy", "vectors of other tools: npy of float32 or float64 (N, D), labels as npy or csv", "the files of vectors and labels", openNPY},
	}
)

// Register adds a source, such as one that makes its data. It panics when the
// name is taken.
func Register(s Source) {
	mu.Lock()
	defer mu.Unlock()
	for _, t := range sources {
		if t.Name == s.Name {
			panic("data: source " + s.Name + " registered twice")
		}
	}
	sources = append(sources, s)
}

// Sources returns all sources, by name.
func Sources() []Source {
	mu.Lock()
	defer mu.Unlock()
	out := slices.Clone(sources)
	slices.SortFunc(out, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Open opens a dataset by name: it reads the source, splits it and applies the
// limits. test is nil where there is none (split "none", or "" on a source
// without a test set). Errors about files wrap ErrMissing or ErrFormat, those
// about sound data that do not allow the split ErrUnfit.
func Open(o Options) (train, test Dataset, err error) {
	var names []string
	for _, s := range Sources() {
		if s.Name != o.Name {
			names = append(names, s.Name)
			continue
		}
		if train, test, err = s.Open(o); err != nil {
			return nil, nil, err
		}
		if train, test, err = o.Split.Divide(train, test); err != nil {
			return nil, nil, fmt.Errorf("data %s: %w", o.Name, err)
		}
		if train, err = TakePerClass(train, o.SkipPerClass, o.LimitPerClass, o.Seed); err != nil {
			return nil, nil, fmt.Errorf("data %s: %w", o.Name, err)
		}
		if test != nil {
			test = LimitPerClass(test, o.TestLimitPerClass, o.Seed)
		}
		return train, test, nil
	}
	return nil, nil, fmt.Errorf("unknown data %q; want one of %s", o.Name, strings.Join(names, ", "))
}

// openImages makes an opener of a function that reads images of one shape.
func openImages(open func(Options) (*Memory, *Memory, error)) Opener {
	return func(o Options) (Dataset, Dataset, error) {
		if err := o.image().check(); err != nil {
			return nil, nil, err
		}
		a, b, err := open(o)
		if err != nil {
			return nil, nil, err
		}
		if a, err = Convert(a, o.image()); err != nil {
			return nil, nil, err
		}
		if b == nil {
			return a, nil, nil
		}
		if b, err = Convert(b, o.image()); err != nil {
			return nil, nil, err
		}
		return a, b, nil
	}
}

// rooted asks for a folder.
func rooted(open func(root string) (*Memory, *Memory, error)) func(Options) (*Memory, *Memory, error) {
	return func(o Options) (*Memory, *Memory, error) {
		if err := o.checkRoot(); err != nil {
			return nil, nil, err
		}
		return open(o.Root)
	}
}

func (o Options) checkRoot() error {
	if o.Root == "" {
		return fmt.Errorf("data %s needs a folder: set data.root", o.Name)
	}
	return nil
}

func openIDXOptions(o Options) (train, test *Memory, err error) {
	if err := o.checkFiles(); err != nil {
		return nil, nil, err
	}
	return openIDX(o.path(o.Images), o.path(o.Labels), o.path(o.TestImages), o.path(o.TestLabels))
}

// checkFiles returns an error unless files of images and of labels come in twos.
func (o Options) checkFiles() error {
	if o.Images == "" || o.Labels == "" {
		return fmt.Errorf("data %s needs a file of data and a file of labels; got %q and %q", o.Name, o.Images, o.Labels)
	}
	if (o.TestImages == "") != (o.TestLabels == "") {
		return fmt.Errorf("data %s needs both test files or none; got %q and %q", o.Name, o.TestImages, o.TestLabels)
	}
	return nil
}

// namedFolders are the names of the folders of train and test, which a split of another
// kind does not look at.
func (o Options) namedFolders() (train, test string) {
	if o.Split.Kind != "" && o.Split.Kind != "file" {
		return "", ""
	}
	return o.TrainFolder, o.TestFolder
}

func openFolderOptions(o Options) (Dataset, Dataset, error) {
	if err := o.checkRoot(); err != nil {
		return nil, nil, err
	}
	a, b := o.namedFolders()
	train, test, err := openFolder(o.Root, a, b, o.image())
	if err != nil {
		return nil, nil, err
	}
	if test == nil {
		return train, nil, nil
	}
	return train, test, nil
}

func openNPY(o Options) (Dataset, Dataset, error) {
	if err := o.checkFiles(); err != nil {
		return nil, nil, err
	}
	if o.Size != 0 || o.Crop != 0 || !o.image().native() {
		return nil, nil, fmt.Errorf("data npy holds vectors: size, crop and color do not apply")
	}
	files := [][2]string{{o.Images, o.Labels}}
	if o.TestImages != "" {
		files = append(files, [2]string{o.TestImages, o.TestLabels})
	}
	sets := make([]Dataset, 2)
	var spelt []*values
	var vectors []*array.Array
	for _, f := range files {
		x, v, err := readPart(o.path(f[0]), LabelFile{Path: o.path(f[1])})
		if err != nil {
			return nil, nil, err
		}
		spelt, vectors = append(spelt, v), append(vectors, x)
	}
	labels, classes := indexValues(spelt...)
	for k, x := range vectors {
		var err error
		if sets[k], err = NewVectors(x, labels[k], classes); err != nil {
			return nil, nil, err
		}
	}
	if sets[1] != nil {
		if err := sameShape(sets[0], sets[1]); err != nil {
			return nil, nil, badCause(err, "%s and %s", o.path(o.Images), o.path(o.TestImages))
		}
	}
	return sets[0], sets[1], nil
}
