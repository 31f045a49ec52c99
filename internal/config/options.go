package config

// GlyphsData is the built-in dataset: characters of fonts, each a class, drawn
// with seeded distortion. Its own split is class-disjoint.
type GlyphsData struct {
	Glyphs Glyphs `yaml:"glyphs" doc:"how characters are chosen and drawn"`
}

// Glyphs chooses and draws characters. A knob that is not set follows the
// difficulty.
type Glyphs struct {
	Classes     int      `yaml:"classes" check:">=2,<=1000000" doc:"characters to train on"`
	PerClass    int      `yaml:"per_class" check:">=2,<=1000000" doc:"images of each character"`
	TestClasses int      `yaml:"test_classes" check:">=2,<=1000000" doc:"characters to test on, none of them trained on"`
	Difficulty  float64  `yaml:"difficulty" check:">=0,<=1" doc:"0 draws plain characters, 1 hardly legible ones"`
	Seed        uint64   `yaml:"seed" doc:"seed of the drawing, apart from the run's"`
	Affine      *float64 `yaml:"affine" check:">=0,<=1" doc:"rotation, shear, scale and shift; null follows difficulty"`
	Elastic     *float64 `yaml:"elastic" check:">=0,<=1" doc:"elastic distortion; null follows difficulty"`
	Stroke      *float64 `yaml:"stroke" check:">=0,<=1" doc:"change of stroke weight; null follows difficulty"`
	Blur        *float64 `yaml:"blur" check:">=0,<=1" doc:"blur; null follows difficulty"`
	Clutter     *float64 `yaml:"clutter" check:">=0,<=1" doc:"foreign strokes; null follows difficulty"`
	Noise       *float64 `yaml:"noise" check:">=0,<=1" doc:"pixel noise; null follows difficulty"`
}

// MNISTData is a folder with the four IDX files of MNIST, plain or gzip.
type MNISTData struct {
	Root string `yaml:"root" doc:"folder with train-images-idx3-ubyte and its three companions, plain or .gz"`
}

// CIFAR10Data is a folder with the binary version of CIFAR-10.
type CIFAR10Data struct {
	Root string `yaml:"root" doc:"folder with data_batch_*.bin and test_batch.bin"`
}

// FolderData is one folder a class, images inside.
type FolderData struct {
	Root  string `yaml:"root" doc:"folder of class folders, or of the two below"`
	Train string `yaml:"train" doc:"with split file: the folder of training classes, under root"`
	Test  string `yaml:"test" doc:"with split file: the folder of test classes, under root"`
}

// IDXData is IDX files by name.
type IDXData struct {
	Root  string     `yaml:"root" doc:"folder that the files are in"`
	Train ImageFiles `yaml:"train" doc:"training files"`
	Test  ImageFiles `yaml:"test" doc:"test files, for split file"`
}

// ImageFiles are images and their labels.
type ImageFiles struct {
	Images string `yaml:"images" doc:"IDX file of images, plain or .gz"`
	Labels string `yaml:"labels" doc:"IDX file of labels, plain or .gz"`
}

// NPYData is vectors made by other tools.
type NPYData struct {
	Root  string      `yaml:"root" doc:"folder that the files are in"`
	Train VectorFiles `yaml:"train" doc:"training files"`
	Test  VectorFiles `yaml:"test" doc:"test files, for split file"`
}

// VectorFiles are vectors (N, d) and their labels (N).
type VectorFiles struct {
	Vectors string `yaml:"vectors" doc:"npy file of vectors (N, d)"`
	Labels  string `yaml:"labels" doc:"npy or csv file of N labels"`
}

// FileSplit keeps the split that the source comes with.
type FileSplit struct{}

// ClassSplit trains on some classes and tests on the others.
type ClassSplit struct {
	Train float64 `yaml:"train" check:">0" doc:"classes to train on: a count, or a fraction below 1"`
}

// FractionSplit trains on some images of each class and tests on the others.
type FractionSplit struct {
	Train float64 `yaml:"train" check:">0,<1" doc:"fraction of each class's images to train on"`
}

// ClassPairs draws pairs of images of one class. The sampler class-pairs lets
// classes repeat within a batch, as published; class-pairs-distinct does not.
type ClassPairs struct {
	Pairs int `yaml:"pairs" check:">=1,<=1000000" doc:"pairs in a batch: 2 x PAIRS images"`
}

// MPerClass draws classes, then images of each.
type MPerClass struct {
	Classes  int `yaml:"classes" check:">=2,<=1000000" doc:"classes in a batch"`
	PerClass int `yaml:"per_class" check:">=2,<=1000000" doc:"images of each class in a batch"`
}

// PairGraph gives a fixed list of pairs: the edges of a balanced pair graph (DIBS,
// section 3). No miner is asked.
type PairGraph struct {
	Scenario  string `yaml:"scenario" enum:"s2|s1|full" doc:"s2: all pairs of PAIRS/2 images, dense; s1: PAIRS of the pairs of all images, sparse; full: all pairs of all images, two for each"`
	Pairs     int    `yaml:"pairs" check:">=0,<=100000000" doc:"pairs in all, half of them similar by the labels that are trained on; not asked for by scenario full, which has two for each image"`
	Negatives string `yaml:"negatives" enum:"same-index|random" doc:"an image's different partner: of the same index in another class (text, Theorem 1), or any of it (Algorithm 1)"`
	Order     string `yaml:"order" enum:"shuffled|paper" doc:"chains join images in random order, or as they come, sorted by true class, which undoes most of the noise"`
	Redraw    bool   `yaml:"redraw" doc:"draw another graph for each epoch"`
	Size      int    `yaml:"size" check:">=1,<=1000000" doc:"pairs in a batch: 2 x SIZE images"`
}

// TripletList gives a fixed list of triplets drawn by the labels that are trained
// on. No miner is asked.
type TripletList struct {
	Triplets int  `yaml:"triplets" check:">=1,<=100000000" doc:"triplets in all"`
	Redraw   bool `yaml:"redraw" doc:"draw others for each epoch"`
	Size     int  `yaml:"size" check:">=1,<=1000000" doc:"triplets in a batch: 3 x SIZE images"`
}
